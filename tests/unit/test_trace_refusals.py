"""What no trace is made of."""

import pytest

from subword import trace
from subword.bpe_models import bpe_from_tokens
from subword.errors import (
    ArgumentError,
    CountsError,
    EmptyCorpusError,
    SpecialTokenError,
    TextError,
    VocabSizeError,
)
from subword.models import Bpe
from subword.tokenizer import Tokenizer
from subword.trace.sources import MAX_SOURCE_BYTES
from trace_samples import HUGS


@pytest.mark.parametrize(
    ("call", "error", "said"),
    [
        (lambda: trace.bpe("ab"), ArgumentError, "either vocab_size or n_merges"),
        (lambda: trace.bpe("ab", 300, n_merges=3), ArgumentError, "either vocab_size or n_merges"),
        (lambda: trace.bpe("ab", n_merges=-1), ArgumentError, "negative"),
        (lambda: trace.bpe("ab", n_merges=1, top=0), ArgumentError, "top is 0"),
        (lambda: trace.bpe("ab", n_merges=1, ties="last"), ArgumentError, "'last'"),
        (lambda: trace.bpe("ab", n_merges=1, alphabet="words"), ArgumentError, "'words'"),
        (lambda: trace.bpe("ab", n_merges=1, end_of_word_suffix="_"), ArgumentError, "alphabet="),
        (
            lambda: trace.bpe("ab", n_merges=1, alphabet="characters", max_token_length=3),
            ArgumentError,
            "alphabet='bytes'",
        ),
        (lambda: trace.bpe("ab", 255), VocabSizeError, "255"),
        (lambda: trace.bpe("ab", 256, special_tokens=["<s>"]), VocabSizeError, "257"),
        (lambda: trace.bpe("ab", 1, alphabet="characters"), VocabSizeError, "vocab_size is 1"),
        (lambda: trace.bpe("ab", 300, special_tokens=["a"]), SpecialTokenError, "single byte"),
        (lambda: trace.bpe("ab", 300, special_tokens=["", "b"]), SpecialTokenError, "empty"),
        (lambda: trace.bpe("", n_merges=1), EmptyCorpusError, "no word"),
        (lambda: trace.bpe([], n_merges=1), EmptyCorpusError, "no word"),
        (lambda: trace.wordpiece(" \n", 1), EmptyCorpusError, "no word"),
        (lambda: trace.bpe({"a": -1}, n_merges=1), CountsError, "-1"),
        (lambda: trace.bpe({"a": 1.5}, n_merges=1), CountsError, "1.5"),
        (lambda: trace.bpe({"": 1}, n_merges=1), CountsError, "empty"),
        (lambda: trace.bpe({"a": 1, b"a": 2}, n_merges=1), CountsError, "twice"),
        (lambda: trace.bpe(7, n_merges=1), ArgumentError, "int"),
        (lambda: trace.bpe([7], n_merges=1), ArgumentError, "int"),
        (lambda: trace.bpe("a\ud800", n_merges=1), TextError, "character 1"),
        (lambda: trace.wordpiece("ab", 1, score="best"), ArgumentError, "'best'"[:5]),
        (lambda: trace.unigram(HUGS, 3), VocabSizeError, "7 required"),
        (lambda: trace.unigram(HUGS, 8, shrinking_factor=1.0), ArgumentError, "1.0"),
        (lambda: trace.unigram([b"\xff"], 8), TextError, "UTF-8"),
        (lambda: trace.unigram("a" * 2000, 8), ArgumentError, "2000000 substrings"),
    ],
)
def test_refused(call, error, said):
    with pytest.raises(error, match=said.replace("(", r"\(")):
        call()


@pytest.mark.parametrize("learn", [trace.bpe, trace.wordpiece])
def test_large_sources_are_refused(learn):
    text = "a " * (MAX_SOURCE_BYTES // 2 + 1)
    for source in (text, [text[:-2], "b", "c", "d"], {text: 1}):
        with pytest.raises(ArgumentError, match="excerpt"):
            learn(source, n_merges=1)


def test_traces_too_long_to_keep_are_refused():
    with pytest.raises(ArgumentError, match="at most 200 steps"):
        trace.bpe("ab" * 25_000, n_merges=1000, pattern="none")
    assert len(trace.bpe("ab" * 25, n_merges=10**12, pattern="none").steps) == 7
    tok = Tokenizer(bpe_from_tokens({0: b"a", 1: b"aa"}, [(b"a", b"a")]))
    with pytest.raises(ArgumentError, match="less text"):
        trace.encode(tok, "a" * 10_000)
    with pytest.raises(ArgumentError, match="excerpt"):
        trace.encode(tok, "a" * (MAX_SOURCE_BYTES + 1))


def test_tokenizers_that_do_more_are_refused():
    class Shouting(Tokenizer):
        def encode(self, text, pair=None, **options):
            return super().encode(bytes(text).upper(), pair, **options)

    vocab = {byte: bytes([byte]) for byte in range(256)}
    with pytest.raises(ArgumentError, match="more than a trace knows"):
        trace.encode(Shouting(Bpe(vocab, ())), "a")

"""Characters and words: the tokenizers, their training, and what they are compared by."""

import math
from collections import Counter

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

import subword
from subword.errors import (
    ArgumentError,
    CountsError,
    EmptyCorpusError,
    SpecialTokenError,
    StoppedEarlyWarning,
    TextLeftOutWarning,
    UnencodableTextError,
    VocabSizeError,
    VocabularyError,
)
from subword.reference.pretokens import split
from subword.training.baselines import WORD_PATTERN

ALL_OF_UNICODE = subword.CharacterTokenizer(special_tokens=["<|end|>"])
HELLO = "Hello, 🌍! 你好!"


# The worked examples.


def test_a_sentence_by_words() -> None:
    text = "I'll say supercalifragilisticexpialidocious!"
    words = ["I", "'", "ll", " ", "say", "supercalifragilisticexpialidocious", "!"]
    tok = subword.WordTokenizer(["[UNK]", *words])
    assert [tok.token_bytes(i).decode() for i in tok.encode(text)] == [
        *("I", "'", "ll", " ", "say", " ", "supercalifragilisticexpialidocious", "!")
    ]
    assert tok.decode(tok.encode(text)) == text
    assert 0 not in tok.encode(text)
    assert tok.encode("I'll sing!") == [1, 2, 3, 4, 0, 7]


def test_hello_by_characters_bytes_and_words() -> None:
    tokenizers = {
        "characters": ALL_OF_UNICODE,
        "bytes": subword.ByteTokenizer(),
        "words": subword.WordTokenizer(["[UNK]"]),
    }
    measured = {name: tok.compression([HELLO]) for name, tok in tokenizers.items()}
    assert {m.n_bytes for m in measured.values()} == {20}
    assert {m.n_characters for m in measured.values()} == {13}
    assert [measured[name].n_tokens for name in tokenizers] == [13, 20, 8]
    ratios = [round(measured[name].bytes_per_token, 2) for name in tokenizers]
    assert ratios == [1.54, 1.0, 2.5]
    assert [measured[name].vocab_size for name in tokenizers] == [0x110001, 256, 1]
    assert [measured[name].n_unknown for name in tokenizers] == [0, 0, 8]


def test_hello_by_gpt2(shared, tmp_path) -> None:
    packed = (shared / "vocab" / "r50k_base" / "r50k_base.tiktoken.zst").read_bytes()
    path = tmp_path / "r50k_base.tiktoken"
    path.write_bytes(zstandard.ZstdDecompressor().decompressobj().decompress(packed))
    measured = subword.load(path, pattern="gpt2").compression([HELLO])
    assert (measured.n_tokens, round(measured.bytes_per_token, 2)) == (12, 1.67)
    assert measured.signature.startswith("model=Bpe vocab_size=50257 pattern=gpt2 subword=")


# Compression.


def test_compression_adds_up_and_says_what_is_unknown() -> None:
    tok = subword.WordTokenizer(["[UNK]", "the", " "], special_tokens=["<s>"])
    measured = tok.compression(text for text in ["the cat", "", b"\xff<s>"])
    assert (measured.n_documents, measured.n_bytes, measured.n_characters) == (3, 11, 11)
    assert (measured.n_tokens, measured.n_unknown) == (5, 2)
    assert measured.bytes_per_token == 11 / 5
    assert measured.characters_per_token == 11 / 5
    assert tok.compression(["<s>"], special="as_text").n_tokens == 3


def test_compression_of_nothing_is_no_number() -> None:
    measured = subword.ByteTokenizer().compression([])
    assert math.isnan(measured.bytes_per_token)
    assert math.isnan(measured.characters_per_token)
    with pytest.raises(ArgumentError, match="single text"):
        subword.ByteTokenizer().compression("text")


# Characters.


@given(st.text(max_size=30))
def test_all_of_unicode_is_code_points(text: str) -> None:
    tok = ALL_OF_UNICODE
    assert tok.encode(text) == list(map(ord, text))
    assert tok.decode(tok.encode(text)) == text
    assert tok.encode("a<|end|>") == [97, 0x110000]


def test_an_alphabet_has_ids_in_its_order() -> None:
    tok = subword.CharacterTokenizer("ba你", unk_token="?", special_tokens=["<s>"])
    assert tok.vocab == {0: b"b", 1: b"a", 2: "你".encode(), 3: b"?", 4: b"<s>"}
    assert tok.encode("a你?c<s>") == [1, 2, 3, 3, 4]
    assert subword.CharacterTokenizer({"a": 7, "b": 3}).encode("ab") == [7, 3]
    assert subword.CharacterTokenizer(["?", "a"], unk_token="?").encode("ab?") == [1, 0, 0]
    with pytest.raises(UnencodableTextError, match="'c'"):
        subword.CharacterTokenizer("ab").encode("abc")
    with pytest.raises(UnencodableTextError, match="0xff"):
        subword.CharacterTokenizer().encode(b"a\xff")


@pytest.mark.parametrize(
    ("alphabet", "options", "error", "message"),
    [
        ("aa", {}, VocabularyError, "'a' has two ids"),
        (["ab"], {}, VocabularyError, "single characters"),
        ([""], {}, VocabularyError, "single characters"),
        (["\ud800"], {}, VocabularyError, "lone surrogate"),
        ({"a": 1, "b": 1}, {}, VocabularyError, "another token's id"),
        ({"a": 2**32}, {}, VocabularyError, "2\\^32"),
        (None, {"unk_token": "?"}, ArgumentError, "no character is unknown"),
        ("ab", {"special_tokens": ["x", "x"]}, SpecialTokenError, "twice"),
    ],
)
def test_refused_alphabets(alphabet, options, error, message) -> None:
    with pytest.raises(error, match=message):
        subword.CharacterTokenizer(alphabet, **options)


documents = st.lists(st.text("aab c你\n", max_size=20), min_size=1, max_size=4).filter(any)


@given(documents, st.integers(3, 9))
def test_trained_characters_are_the_most_frequent_by_code_point(texts, vocab_size) -> None:
    counts = Counter("".join(texts))
    kept = sorted(counts, key=lambda c: (-counts[c], c))[: vocab_size - 2]
    tok = train_quietly(subword.train_characters, texts, vocab_size, ["<s>"])
    assert list(tok.vocab.values()) == [b"[UNK]", b"<s>", *(c.encode() for c in sorted(kept))]
    ids = tok.encode(texts[0])
    assert len(ids) == len(texts[0])
    assert [i == 0 for i in ids] == [c not in kept for c in texts[0]]


def train_quietly(train, *arguments, **options):
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", StoppedEarlyWarning)
        warnings.simplefilter("ignore", TextLeftOutWarning)
        return train(*arguments, **options)


def test_characters_left_out_are_counted_and_reported() -> None:
    with pytest.warns(TextLeftOutWarning, match=r"1 characters .* 2 occurrences \('b'\)"):
        tok = subword.train_characters(["aaaaaabb"], character_coverage=0.7)
    assert tok.encode("ab") == [1, 0]
    with pytest.warns(TextLeftOutWarning, match="refused"):
        strict = subword.train_characters(["aaab"], 1, unk_token=None)
    with pytest.raises(UnencodableTextError):
        strict.encode("b")
    with pytest.warns(TextLeftOutWarning, match="1 bytes that are no UTF-8"):
        subword.train_characters([b"a\xff"])
    with pytest.warns(StoppedEarlyWarning, match="3 tokens of 9"):
        subword.train_characters(["ab"], 9)
    tok = train_quietly(subword.train_characters, ["aab"], 3, extra_alphabet="z")
    assert tok.vocab == {0: b"[UNK]", 1: b"a", 2: b"z"}


def test_text_that_spells_the_unknown_token_is_text() -> None:
    tok = subword.train_characters(["[UNK]"])
    assert tok.decode(tok.encode("[UNK]")) == "[UNK]"
    assert 0 not in tok.encode("[UNK]")
    words = subword.train_words(["[UNK] [UNK]"], 5)
    assert 0 not in words.encode("[UNK]")


# Words.


@given(documents, st.integers(2, 8), st.sampled_from([None, "gpt2"]))
def test_trained_words_are_the_most_frequent_ones(texts, vocab_size, pattern) -> None:
    tok = train_quietly(subword.train_words, texts, vocab_size, pattern=pattern)
    expressions = (WORD_PATTERN,) if pattern is None else subword.patterns.resolve_pattern(pattern)
    words = Counter(word for text in texts for word in split(text, expressions))
    kept = sorted(words, key=lambda word: (-words[word], word))[: vocab_size - 1]
    assert list(tok.vocab.values()) == [b"[UNK]", *kept]
    ids = tok.encode(texts[0])
    cut = split(texts[0], expressions)
    assert [tok.token_bytes(i) if i else None for i in ids] == [
        word if word in kept else None for word in cut
    ]


def test_words_of_counts_keep_their_pattern_and_special_tokens() -> None:
    counts = subword.count(["a b<s> b"], pattern="gpt2", special_tokens=["<s>"])
    tok = subword.train_words(counts, 4)
    assert tok.vocab == {0: b"[UNK]", 1: b"<s>", 2: b" b", 3: b"a"}
    assert tok.pattern == counts.pattern
    with pytest.raises(CountsError, match="leave pattern out"):
        subword.train_words(counts, 4, pattern="whitespace")
    assert subword.train_words({"the": 3, "<s>": 9, "of": 1}, 3, ["<s>"]).encode("the") == [2]


def test_rare_words_are_unknown() -> None:
    with pytest.warns(StoppedEarlyWarning, match="2 times or more"):
        tok = subword.train_words({"a": 3, "b": 1}, 10, min_frequency=2)
    assert tok.encode("b") == [0]
    strict = subword.train_words({"a": 3, "b": 1}, 1, unk_token=None)
    with pytest.raises(UnencodableTextError, match='word "b"'):
        strict.encode("b")


@pytest.mark.parametrize("train", [subword.train_words, subword.train_characters])
def test_bad_training_of_baselines(train) -> None:
    for vocab_size in (-1, 0, 2):
        with pytest.raises(VocabSizeError, match=f"vocab_size is {vocab_size}"):
            train(["ab"], vocab_size, ["<s>"])
    with pytest.raises(EmptyCorpusError):
        train([], 9)
    with pytest.raises(EmptyCorpusError):
        train({}, 9)
    with pytest.raises(ArgumentError, match="n_threads"):
        train({"a": 1}, 9, n_threads=0)
    with pytest.raises(SpecialTokenError):
        train(["ab"], 9, ["<s>", "<s>"])


def test_bad_options_of_baselines() -> None:
    with pytest.raises(ArgumentError, match="min_frequency"):
        subword.train_words(["ab"], 9, min_frequency=0)
    for coverage in (-0.1, 1.1, math.nan):
        with pytest.raises(ArgumentError, match="character_coverage"):
            subword.train_characters(["ab"], character_coverage=coverage)
    with pytest.raises(VocabSizeError, match="extra_alphabet"):
        subword.train_characters(["ab"], 3, extra_alphabet="xyz")
    with pytest.raises(SpecialTokenError, match="character of the alphabet"):
        subword.train_characters({"ab": 1}, special_tokens=["a"])


def test_word_vocabularies_without_their_unknown_token() -> None:
    with pytest.raises(VocabularyError, match=r"\[UNK\]"):
        subword.WordTokenizer(["a"])
    tok = subword.WordTokenizer(["a", "b"], unk_token=None, special_tokens=["<s>"])
    assert tok.encode("a<s>") == [0, 2]
    with pytest.raises(VocabularyError, match="two ids"):
        subword.WordTokenizer(["[UNK]", "[UNK]"])
    assert subword.WordTokenizer(["[UNK]", " a"], pattern="gpt2").encode(" a b") == [1, 0]


def test_pickled_and_compared() -> None:
    import pickle

    for tok in (subword.CharacterTokenizer("ab"), subword.WordTokenizer(["[UNK]", "a"])):
        assert pickle.loads(pickle.dumps(tok)) == tok  # noqa: S301

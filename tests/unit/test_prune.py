"""Smaller vocabularies: leaves alone go, and what has none of them stays as it was."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

import subword
from subword import errors
from subword.models import Bpe
from subword.padding import Padding
from subword.templates import Template
from subword.tokenizer import Tokenizer

from .adaptable import trained

pretokens = st.text(alphabet="abcé", min_size=1, max_size=8)
tables = st.dictionaries(pretokens, st.integers(1, 2**40), min_size=1, max_size=12)
COUNTS = {"low": 5, "lower": 2, "widest": 3, "newest": 6}


@given(counts=tables, use=tables, n_merges=st.integers(0, 16), share=st.floats(0, 1))
def test_what_stays_is_reached_and_what_had_no_removed_token_is_the_same(
    counts, use, n_merges, share
):
    tok = trained(counts, n_merges)
    size = 257 + int(share * len(tok.merges))
    change = subword.prune(tok, size, use)
    after, moved = change.tokenizer, change.id_map.old_to_new
    assert after.vocab_size == size
    assert sorted(after.vocab) == list(range(size))
    alone = Tokenizer(after.model)
    reached = Tokenizer(tok.model)
    for old_id, new_id in moved.items():
        token = tok.token_bytes(old_id)
        if new_id is not None and reached.encode(token) == [old_id]:
            assert after.token_bytes(new_id) == token
            assert token == b"<|end|>" or alone.encode(token) == [new_id]
    for text in [*counts, *use]:
        expected = [moved[token_id] for token_id in tok.encode(text)]
        assert None in expected or after.encode(text) == expected
        assert after.decode(after.encode(text)) == text


@given(counts=tables, n_merges=st.integers(0, 16))
def test_tokens_that_the_counts_use_stay_when_the_unused_go(counts, n_merges):
    tok = trained(counts, n_merges)
    change = subword.prune(tok, counts=counts, min_count=1)
    for text in counts:
        expected = [change.id_map.old_to_new[token_id] for token_id in tok.encode(text)]
        assert change.tokenizer.encode(text) == expected


def test_use_is_passed_to_the_parts():
    tok = trained(COUNTS, 3)
    assert tok.merges == [(b"s", b"t"), (b"e", b"st"), (b"o", b"w")]
    # "ow" comes up 3 times. "est" comes up twice, but "st" is used with it and not by itself.
    use = {"ow": 3, "est": 2, "st": 2}
    assert subword.prune(tok, 259, use).tokenizer.merges == [(b"s", b"t"), (b"o", b"w")]
    assert subword.prune(tok, 258, use).tokenizer.merges == [(b"s", b"t")]


def test_ids_templates_and_padding_follow():
    tok = trained(COUNTS, 3)
    tok = tok.with_special_tokens(["<pad>"]).replace(
        template=Template.parse("<|end|> A"), padding=Padding("<pad>", 260)
    )
    change = subword.prune(tok, 259, {"newest": 1})
    after = change.tokenizer
    assert after.special_tokens == {"<|end|>": 256, "<pad>": 259 - 1}
    assert after.padding == Padding("<pad>", 258)
    assert after.encode("a", template=True) == [256, 97]
    # The merges made 257, 258 and 259: 258 goes with 259, and the padding token moves down.
    assert change.id_map.counts() == {"kept": 258, "moved": 1, "added": 0, "removed": 2}


def test_gaps_of_the_old_ids_stay():
    vocab = {**{byte: bytes([byte]) for byte in range(256)}, 300: b"ab", 301: b"cd"}
    tok = Tokenizer(Bpe(vocab, ((97, 98), (99, 100))))
    after = subword.prune(tok, tokens=["ab"]).tokenizer
    assert after.token_id("cd") == 300


def test_whole_tokens_are_counted_by_what_merging_gives():
    vocab = {**{byte: bytes([byte]) for byte in range(256)}, 256: b"ab", 257: b"xyz"}
    tok = Tokenizer(Bpe(vocab, ((97, 98),), whole_first=True))
    assert tok.encode("xyz") == [257]
    after = subword.prune(tok, 257, {"xyz": 5, "ab": 3}).tokenizer
    assert after.find_id("xyz") is None
    assert after.decode(after.encode("xyz")) == "xyz"


@pytest.mark.parametrize(
    ("tokens", "message"),
    [
        (["st"], "is a part of b'est'"),
        (["a"], "byte or a special token"),
        (["<|end|>"], "byte or a special token"),
        (["zzz"], "is no token"),
    ],
)
def test_tokens_that_have_to_stay_are_refused(tokens, message):
    with pytest.raises(errors.VocabularyError, match=message):
        subword.prune(trained(COUNTS, 3), tokens=tokens)


@pytest.mark.parametrize("size", [-1, 256, 261])
def test_sizes_that_do_not_fit_are_refused(size):
    with pytest.raises(errors.VocabSizeError, match="give 257 to 260"):
        subword.prune(trained(COUNTS, 3), size, COUNTS)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"vocab_size": 258},
        {"min_count": 1},
        {"vocab_size": 258, "min_count": 1, "counts": COUNTS},
        {"tokens": "st"},
    ],
)
def test_arguments_that_say_nothing_are_refused(options):
    with pytest.raises(errors.ArgumentError):
        subword.prune(trained(COUNTS, 3), **options)


def test_counts_of_another_pattern_are_refused():
    counts = subword.PretokenCounts.from_mapping(COUNTS, pattern="cl100k")
    with pytest.raises(errors.CountsError):
        subword.prune(trained(COUNTS, 3), 258, counts)

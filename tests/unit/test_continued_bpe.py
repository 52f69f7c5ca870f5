"""Merges that go on from encoded words: the kernel does what counting anew does."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from subword import _core, errors
from subword.reference import bpe
from subword.types import Ragged
from subword.vocabulary.continued_bpe import NewMerge, continue_merges, pairs_of

# Two symbols are spelt alike, and one is what two others spell.
TOKENS = [b"a", b"b", b"ab", b"c", b"b", "é".encode()]
words = st.dictionaries(
    st.lists(st.integers(0, 5), min_size=1, max_size=9).map(tuple),
    st.integers(0, 50),
    max_size=10,
)


def ragged(sequences: list[tuple[int, ...]]) -> Ragged:
    ids = np.array([at for word in sequences for at in word], np.uint32)
    return Ragged(ids, np.cumsum([0, *map(len, sequences)]))


def kernel(counted: dict[tuple[int, ...], int], n: int, **options: object):
    encoded = ragged(list(counted))
    options.setdefault("taken", [])
    options["forbidden"] = np.array([a << 32 | b for a, b in options.get("forbidden", ())], "u8")
    counts = np.array(list(counted.values()), np.uint64)
    learnt = _core.continue_merges(encoded.ids, encoded.bounds, counts, TOKENS, n, **options)
    return [((left, right), count) for left, right, count in learnt]


@given(
    counted=words,
    n=st.integers(0, 12),
    min_frequency=st.integers(0, 40),
    max_token_length=st.none() | st.integers(1, 6),
    taken=st.lists(st.sampled_from([b"ac", b"aa", b"abc"]), max_size=2),
    forbidden=st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=3),
)
def test_the_kernel_learns_what_its_twin_learns(
    counted, n, min_frequency, max_token_length, taken, forbidden
):
    options = {
        "min_frequency": min_frequency,
        "max_token_length": max_token_length,
        "taken": taken,
        "forbidden": forbidden,
    }
    expected = bpe.continue_merges(counted.items(), TOKENS, n, **options)
    assert kernel(counted, n, **options) == expected


@given(counted=words, n=st.integers(0, 12), random=st.randoms())
def test_the_order_of_the_words_does_not_matter(counted, n, random):
    rows = list(counted.items())
    random.shuffle(rows)
    assert kernel(dict(rows), n) == kernel(counted, n)


@given(
    counts=st.dictionaries(st.binary(min_size=1, max_size=8), st.integers(1, 99), max_size=9),
    n=st.integers(0, 9),
)
def test_from_bytes_it_learns_what_training_learns(counts, n):
    tokens = [bytes([byte]) for byte in range(256)]
    encoded = ragged([tuple(word) for word in counts])
    numbers = np.array(list(counts.values()), np.uint64)
    learnt = _core.continue_merges(
        encoded.ids, encoded.bounds, numbers, tokens, n, taken=[], forbidden=np.zeros(0, "u8")
    )
    table = {word: (count, at) for at, (word, count) in enumerate(counts.items())}
    expected = bpe.learn_merges(table, n)
    made = list(tokens)
    for (left, right), _ in expected:
        made.append(made[left] + made[right])
    # Training may make one token in two ways; going on never does.
    if len(set(made)) == len(made):
        assert [((left, right), count) for left, right, count in learnt] == expected


def test_ids_and_bytes_are_those_of_the_vocabulary():
    tokens = {7: b"x", 9: b"y", 300: b"z"}
    encoded = ragged([(7, 9, 300), (7, 9)])
    made = continue_merges(
        encoded, np.array([3, 4], np.uint64), tokens, 2, first_id=512, forbidden={(9, 300)}
    )
    assert made == [NewMerge((7, 9), b"xy", 7), NewMerge((512, 300), b"xyz", 3)]
    assert pairs_of(encoded) == {(7, 9), (9, 300)}


def test_many_symbols_are_told_apart():
    tokens = {at: f"{at:05}".encode() for at in range(70_000)}
    encoded = ragged([(0, 69_999), (1, 69_998), (1, 69_998)])
    made = continue_merges(encoded, np.ones(3, np.uint64), tokens, 9, first_id=70_000)
    assert [merge.pair for merge in made] == [(1, 69_998), (0, 69_999)]


def test_counts_past_64_bits_are_refused():
    with pytest.raises(errors.CountOverflowError, match=r"more than 2\^64 times"):
        kernel({(0, 1, 0, 1, 0, 1): 2**63}, 1)


def test_a_long_run_is_not_quadratic():
    assert kernel({(0,) * 1_000_000: 1}, 3) == [
        ((0, 0), 999_999),
        ((6, 6), 499_999),
        ((7, 7), 249_999),
    ]


@pytest.mark.parametrize(
    ("symbols", "bounds", "counts"),
    [([0, 9], [0, 2], [1]), ([0, 1], [0, 2], [1, 1]), ([0, 1], [], [1])],
)
def test_arrays_that_do_not_fit_are_refused(symbols, bounds, counts):
    arrays = (np.array(symbols, "u4"), np.array(bounds, "i8"), np.array(counts, "u8"))
    with pytest.raises(errors.ArgumentError):
        _core.continue_merges(*arrays, TOKENS, 1, taken=[], forbidden=np.zeros(0, "u8"))

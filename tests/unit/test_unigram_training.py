import random
import signal
import threading
from collections.abc import Mapping
from itertools import accumulate

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from subword import _core
from subword.errors import ArgumentError, CountOverflowError, TextError, VocabSizeError
from subword.reference import unigram as reference


def table(counts: Mapping[bytes, int]) -> _core.PretokenTable:
    ends = np.array(list(accumulate(map(len, counts))), dtype=np.uint64)
    values = np.array(list(counts.values()), dtype=np.uint64)
    return _core.PretokenTable(b"".join(counts), ends, values, np.zeros(len(counts), np.uint64))


def learn(
    counts: Mapping[bytes, int], vocab_size: int, **options: object
) -> list[tuple[str, float]]:
    return _core.learn_pieces(table(counts), vocab_size, **options)[0]  # type: ignore[arg-type]


def corpus(seed: int, n: int) -> dict[bytes, int]:
    """Words of a made-up language: stems and endings, Zipf-like counts."""
    chooser = random.Random(seed)
    letters = "etaoinshrdluéß界"
    stems = ["".join(chooser.choices(letters, k=chooser.randint(1, 5))) for _ in range(n // 4)]
    endings = ["", "s", "ing", "ed", "heit", "er"]
    counts: dict[bytes, int] = {}
    for rank in range(1, n):
        word = f"▁{chooser.choice(stems)}{chooser.choice(stems[:40])}{chooser.choice(endings)}"
        counts[word.encode()] = 1 + 5000 // rank
    return counts


def test_pieces_of_a_small_text() -> None:
    counts = {b"hug": 10, b"pug": 5, b"pun": 12, b"bun": 4, b"hugs": 5}
    pieces = learn(counts, 10)
    assert pieces == reference.learn_pieces(counts, 10)
    assert [piece for piece, _ in pieces] == ["hug", "pun", "s", "pug", *"bghnpu"]


def test_every_word_is_there_where_the_vocabulary_is_large() -> None:
    counts = {"▁the".encode(): 100, "▁cat".encode(): 10}
    pieces = learn(counts, 100)
    assert {piece for piece, _ in pieces} >= {"▁the", "▁cat", *"▁thecat"}
    assert sum(np.exp(score) for _, score in pieces) == pytest.approx(1, abs=0.05)


characters = st.sampled_from("aabbcé界𝄞\0")
pretokens = st.text(characters, min_size=1, max_size=12).map(str.encode)
counts_ = st.dictionaries(pretokens, st.integers(1, 60) | st.just(2**40), max_size=15)
options_ = st.fixed_dictionaries(
    {},
    optional={
        "character_coverage": st.sampled_from([0.5, 0.9, 1.0]),
        "extra_alphabet": st.sampled_from(["", "xa", "zy"]),
        "max_piece_length": st.integers(1, 6),
        "seed_size": st.integers(0, 30),
        "shrinking_factor": st.sampled_from([0.1, 0.5, 0.9]),
        "n_sub_iterations": st.integers(1, 3),
    },
)


@given(counts_, st.integers(10, 40), options_)
def test_pieces_are_the_reference_s(counts: dict[bytes, int], size: int, options: dict) -> None:
    expected = reference.learn_pieces(counts, size, **options)
    pieces = learn(counts, size, **options)
    assert [piece for piece, _ in pieces] == [piece for piece, _ in expected]
    assert [score for _, score in pieces] == pytest.approx(
        [score for _, score in expected], abs=1e-9, rel=1e-9
    )


@given(counts_, st.integers(10, 40), st.randoms())
def test_order_of_the_counts_does_not_matter(
    counts: dict[bytes, int], size: int, chooser: random.Random
) -> None:
    shuffled = list(counts.items())
    chooser.shuffle(shuffled)
    assert learn(dict(shuffled), size) == learn(counts, size)


def test_threads_and_runs_agree() -> None:
    counts = corpus(3, 40_000)
    first = learn(counts, 900, n_threads=1)
    assert len(first) == 900
    assert sum(map(len, counts)) > 4 * 2**16  # several chunks to add up
    for n_threads in (1, 2, 3, 8, None):
        assert learn(counts, 900, n_threads=n_threads) == first


def test_pieces_are_the_reference_s_on_more_text() -> None:
    counts = corpus(5, 700)
    expected = reference.learn_pieces(counts, 150)
    pieces = learn(counts, 150)
    assert [piece for piece, _ in pieces] == [piece for piece, _ in expected]
    assert [s for _, s in pieces] == pytest.approx([s for _, s in expected], abs=1e-9)


def test_sizes() -> None:
    counts = corpus(1, 3000)
    for size in (20, 21, 100, 999):
        pieces = learn(counts, size)
        assert len(pieces) == size
        assert [score for _, score in pieces] == sorted((s for _, s in pieces), reverse=True)
        assert len({piece for piece, _ in pieces}) == size
    assert len(learn({b"ab": 1}, 100)) == 2
    assert learn({}, 5) == []
    assert [piece for piece, _ in learn({}, 5, extra_alphabet="ba")] == ["a", "b"]
    assert max(len(piece) for piece, _ in learn(counts, 999, max_piece_length=3)) == 3


def test_counts_past_32_bits() -> None:
    pieces = dict(learn({b"ab": 2**31 + 10, b"cd": 2**31 - 10}, 6))
    assert sorted(pieces, key=pieces.__getitem__, reverse=True)[:2] == ["ab", "cd"]


def test_rare_characters_are_left_out_and_extra_ones_kept() -> None:
    counts = {b"abab": 1000, "aéb".encode(): 1}
    pieces = {piece for piece, _ in learn(counts, 50, character_coverage=0.99)}
    assert pieces == {"a", "b", "ab", "bab", "abab"}
    assert "é" in dict(learn(counts, 50, character_coverage=1.0))
    assert {"é", "x"} <= dict(
        learn(counts, 50, character_coverage=0.99, extra_alphabet="éx")
    ).keys()


def test_hostile_pretokens() -> None:
    n = 300_000
    for pretoken in (b"a" * n, b"\0" * n, "界".encode() * (n // 3), b"ab" * (n // 2)):
        pieces = learn({pretoken: 3}, 30)
        assert 1 <= len(pieces) <= 30
        assert all(np.isfinite(score) for _, score in pieces)
    noise = "".join(map(chr, random.Random(7).choices(range(0x4E00, 0x5200), k=n // 3)))
    assert len(learn({noise.encode(): 1}, 1200)) == 1200


@pytest.mark.parametrize(
    ("size", "options", "error", "message"),
    [
        (3, {}, VocabSizeError, "vocab_size leaves 3 pieces, but the text has 4 required"),
        (0, {}, ArgumentError, "vocab_size is 0"),
        (9, {"character_coverage": 0.0}, ArgumentError, "character_coverage is 0"),
        (9, {"character_coverage": 1.5}, ArgumentError, "character_coverage is 1.5"),
        (9, {"character_coverage": float("nan")}, ArgumentError, "character_coverage is NaN"),
        (9, {"shrinking_factor": 1.0}, ArgumentError, "shrinking_factor is 1"),
        (9, {"max_piece_length": 0}, ArgumentError, "max_piece_length is 0"),
        (9, {"n_sub_iterations": 0}, ArgumentError, "n_sub_iterations is 0"),
        (9, {"n_threads": 0}, ArgumentError, "n_threads is 0"),
    ],
)
def test_refused_options(size: int, options: dict, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        learn({b"ab": 1, b"cd": 2}, size, **options)


def test_refused_counts() -> None:
    with pytest.raises(TextError, match="pre-token 1 is not UTF-8 at byte 2"):
        learn({b"a": 1, b"bc\xff": 1}, 10)
    with pytest.raises(CountOverflowError, match="pass 64 bits"):
        learn({b"aa": 2**63, b"ab": 2**63}, 10)


def test_an_interrupt_stops_training() -> None:
    def interrupt() -> None:
        signal.raise_signal(signal.SIGINT)

    counts = corpus(2, 150_000)
    timer = threading.Timer(0.05, interrupt)
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        learn(counts, 500, n_threads=2)
    timer.join()

import json
import math
import pickle
import random
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from subword import _core
from subword.errors import ArgumentError, VocabularyError
from subword.reference import unigram as reference
from subword.reference.unigram import Model, Piece

GOLDEN = Path(__file__).parents[1] / "golden" / "unigram_encoding.jsonl"
CASES = [json.loads(line) for line in GOLDEN.read_text(encoding="utf-8").splitlines()]
BYTES = [Piece(b"<0x%02X>" % byte, 0.0, "byte") for byte in range(256)]


def kernel(model: Model) -> _core.Unigram:
    pieces = [tuple(piece) for piece in model.pieces]
    return _core.Unigram(pieces, **{name: getattr(model, name) for name in Model._fields[1:]})


def read_pieces(case: dict[str, Any]) -> list[Piece]:
    return [Piece(text.encode(), score, kind) for text, score, kind in case["pieces"]]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
@pytest.mark.parametrize("single_precision", [True, False])
def test_golden(case: dict[str, Any], single_precision: bool) -> None:
    model = Model(read_pieces(case), single_precision=single_precision)
    text = case["text"].encode()
    assert [id_ for id_, _, _ in reference.encode(model, text)] == case["ids"]
    assert kernel(model).encode(text) == case["ids"]
    if "score" in case:
        (ids, score), *_ = kernel(model).n_best(text, 1)
        assert (ids, score) == (case["ids"], pytest.approx(case["score"]))


scores = st.floats(-20, 0) | st.sampled_from([-1.0, -2.0, -3.0, -4.0])
characters = st.sampled_from("ab▁é界𝄞\0")
kinds = st.sampled_from(["normal"] * 6 + ["user_defined", "unused", "control"])


@st.composite
def models(draw: st.DrawFn) -> Model:
    texts = draw(st.lists(st.text(characters, min_size=1, max_size=4), max_size=12, unique=True))
    pieces = [Piece(text.encode(), draw(scores), draw(kinds)) for text in texts]
    at = draw(st.integers(0, len(pieces)))
    pieces.insert(at, Piece(b"<unk>", 0.0, "unknown"))
    byte_fallback = draw(st.booleans())
    return Model(
        pieces + BYTES * byte_fallback, at, byte_fallback, draw(st.booleans()), draw(st.booleans())
    )


texts = st.text(characters, max_size=8).map(str.encode) | st.binary(max_size=6)


@given(models(), texts)
def test_spans_and_ids_are_the_reference_s(model: Model, text: bytes) -> None:
    expected = reference.encode(model, text)
    unigram = kernel(model)
    assert unigram.encode_spans(text) == expected
    assert unigram.encode(text) == [id_ for id_, _, _ in expected]
    assert [start for _, start, _ in expected] + [len(text)] == [
        0,
        *(end for _, _, end in expected),
    ]


@given(models(), texts, st.integers(1, 12))
def test_n_best_is_the_reference_s(model: Model, text: bytes, n: int) -> None:
    assert kernel(model).n_best(text, n) == reference.n_best(model, text, n)


@given(models(), texts, st.sampled_from([0.0, 0.1, 1.0, 5.0]), st.integers(0, 2**64 - 1))
def test_samples_are_the_reference_s(model: Model, text: bytes, alpha: float, seed: int) -> None:
    unigram = kernel(model)
    assert unigram.sample(text, alpha=alpha, seed=seed) == reference.sample(
        model, text, alpha, seed
    )
    best = [ids for ids, _ in unigram.n_best(text, 3)]
    assert unigram.sample(text, alpha=alpha, seed=seed, n_best=3) in best


def test_samples_follow_the_model() -> None:
    model = Model([Piece(b"<unk>", 0.0, "unknown"), Piece(b"a", -1.0), Piece(b"aa", -1.5)])
    unigram = kernel(model)
    for alpha in (0.0, 0.5, 1.0):
        weights = {tuple(ids): math.exp(alpha * score) for ids, score in unigram.n_best(b"aaa", 99)}
        for n_best in (None, 99):
            drawn = Counter(
                tuple(unigram.sample(b"aaa", alpha=alpha, seed=seed, n_best=n_best))
                for seed in range(6000)
            )
            assert drawn.keys() == weights.keys()
            for ids, weight in weights.items():
                assert abs(drawn[ids] / 6000 - weight / sum(weights.values())) < 0.03


def test_scores_start_again_on_long_texts() -> None:
    """Where 32 bits alone would lose the difference, and as the reference model does."""
    chooser = random.Random(1)
    texts = ["a", "b", "ab", "ba", "aab", "bb", "abb"]
    pieces = [Piece(text.encode(), -40 - chooser.random()) for text in texts]
    model = Model([Piece(b"<unk>", 0.0, "unknown"), *pieces])
    text = "".join(chooser.choice("ab") for _ in range(8000)).encode()
    spans = kernel(model).encode_spans(text)
    assert spans == reference.encode(model, text)
    assert sum(model.pieces[id_].score for id_, _, _ in spans) < -100_000


def hostile() -> Iterator[bytes]:
    n = 1_000_000
    yield from (unit * (n // len(unit)) for unit in (b"a", b" ", b"\0", b"x", b"\xff", b"\xf0"))
    yield from (unit.encode() * (n // len(unit.encode())) for unit in ("界", "🙂", "▁", "é"))
    yield b"a" + b" " * n + b"b"
    yield bytes(random.Random(0).randbytes(n))


@pytest.mark.parametrize("text", [*hostile()], ids=lambda text: repr(text[:4]))
def test_long_monotone_texts(text: bytes) -> None:
    pieces = [Piece(b"a" * n, -1.0 - n) for n in (1, 2, 3, 15, 16)]
    pieces += [Piece(b" ", -3.0), Piece("界界".encode(), -4.0), Piece("🙂".encode(), -4.0)]
    unigram = kernel(Model([Piece(b"<unk>", 0.0, "unknown"), *pieces]))
    spans = unigram.encode_spans(text)
    assert (spans[0][1], spans[-1][2]) == (0, len(text))
    assert all(left[2] == right[1] for left, right in pairwise(spans))
    assert unigram.encode(text) == [id_ for id_, _, _ in spans]


def test_many_best_of_a_long_text() -> None:
    pieces = [Piece(b"a" * n, -1.0 - n) for n in (1, 2, 3)]
    unigram = kernel(Model([Piece(b"<unk>", 0.0, "unknown"), *pieces]))
    results = unigram.n_best(b"a" * 50_000, 50)
    assert len({tuple(ids) for ids, _ in results}) == 50
    assert [score for _, score in results] == sorted((s for _, s in results), reverse=True)
    assert results[0][0] == unigram.encode(b"a" * 50_000)
    assert sum(len(unigram.sample(b"a" * 50_000, alpha=0.0, seed=s)) for s in range(2)) > 50_000


UNK = Piece(b"<unk>", 0.0, "unknown")


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (Model([UNK, Piece(b"a", -1), Piece(b"b", -1), Piece(b"a", -2)]), "pieces 1 and 3"),
        (Model([UNK, Piece(b"a", math.nan)]), 'piece 1, "a", has the score NaN'),
        (Model([UNK, Piece(b"a", -math.inf)]), "has the score -inf"),
        (Model([UNK, Piece(b"a", math.inf)]), "has the score inf"),
        (Model([UNK, Piece(b"a", -1e300)]), "has the score -1000"),
        (Model([UNK, Piece(b"", -1)]), "piece 1 is empty"),
        (Model([UNK, Piece(b"\xff", -1)]), "piece 1, .* is not UTF-8"),
        (Model([]), "unk_id is 0, but the 0 pieces"),
        (Model([UNK, Piece(b"a", -1)], unk_id=2), "unk_id is 2, but the 2 pieces"),
        (Model([UNK, *BYTES[:7], *BYTES[8:]], byte_fallback=True), '"<0x07>" is missing'),
        (Model([UNK, *BYTES, Piece(b"<0xZZ>", 0, "byte")], byte_fallback=True), "byte piece 257"),
        (Model([UNK, *BYTES, Piece(b"<0x+1>", 0, "byte")], byte_fallback=True), "byte piece 257"),
    ],
)
def test_refused_vocabularies(model: Model, message: str) -> None:
    with pytest.raises(VocabularyError, match=message):
        kernel(model)


def test_refused_arguments() -> None:
    unigram = kernel(Model([UNK, Piece(b"a", -1)]))
    for alpha in (-0.1, math.nan, math.inf):
        with pytest.raises(ArgumentError, match="alpha is"):
            unigram.sample(b"a", alpha=alpha, seed=0)
        with pytest.raises(ArgumentError, match="alpha is"):
            unigram.sample(b"a", alpha=alpha, seed=0, n_best=2)
        with pytest.raises(ArgumentError, match="alpha is"):
            reference.sample(Model([UNK]), b"a", alpha, 0)
    for give in (unigram.n_best, lambda text, n: reference.n_best(Model([UNK]), text, n)):
        with pytest.raises(ArgumentError, match="n is 0"):
            give(b"a", 0)
    with pytest.raises(ArgumentError, match="a piece's kind is"):
        _core.Unigram([(b"a", 0.0, "x")], unk_id=0)
    with pytest.raises(TypeError):
        pickle.dumps(unigram)

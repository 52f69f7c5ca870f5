import io
import json
import random
import tarfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from subword.byte_characters import from_characters
from subword.errors import ArgumentError, CountOverflowError
from subword.patterns import resolve_pattern
from subword.reference.bpe import Ties, encode, encode_by_ranks, learn_merges
from subword.reference.counts import count

GOLDEN = Path(__file__).parents[1] / "golden"
TIES: list[Ties] = ["greatest", "first", "hf", "smallest_id"]


def read_cases(name: str) -> list[Any]:
    lines = (GOLDEN / name).read_text(encoding="utf-8").splitlines()
    return [pytest.param(case, id=case["name"]) for case in map(json.loads, lines)]


def read(case: dict[str, Any], text: str) -> bytes:
    return bytes.fromhex(text) if case.get("hex") else text.encode()


def read_counts(case: dict[str, Any]) -> dict[bytes, tuple[int, int]]:
    """First-seen positions, where the case has none, are those of the counts laid end to end."""
    counts: dict[bytes, tuple[int, int]] = {}
    position = 0
    for text, occurrences in case["counts"].items():
        pretoken = read(case, text)
        counts[pretoken] = (occurrences, case.get("first_seen", {}).get(text, position))
        position += len(pretoken)
    return counts


def as_bytes(merges: list[tuple[tuple[int, int], int]]) -> list[tuple[bytes, bytes, int]]:
    tokens = [bytes([byte]) for byte in range(256)]
    spelled = []
    for (left, right), pair_count in merges:
        spelled.append((tokens[left], tokens[right], pair_count))
        tokens.append(tokens[left] + tokens[right])
    return spelled


@pytest.mark.parametrize("case", read_cases("bpe_training.jsonl"))
def test_golden_training(case: dict[str, Any]) -> None:
    options = {name: case[name] for name in ("min_frequency", "max_token_length") if name in case}
    merges = learn_merges(read_counts(case), case["n_merges"], ties=case["ties"], **options)
    expected = [(read(case, left), read(case, right), n) for left, right, n in case["merges"]]
    assert as_bytes(merges) == expected


@pytest.mark.parametrize("case", read_cases("bpe_encoding.jsonl"))
def test_golden_encoding(case: dict[str, Any]) -> None:
    pretoken = read(case, case["pretoken"])
    if case["rule"] == "merges":
        merges = [(read(case, left), read(case, right)) for left, right in case["merges"]]
        tokens = encode(pretoken, {merge: rank for rank, merge in enumerate(merges)})
    else:
        tokens = encode_by_ranks(
            pretoken, {read(case, token): rank for rank, token in enumerate(case["ranks"])}
        )
    assert tokens == [read(case, token) for token in case["tokens"]]


COUNTS = st.dictionaries(
    st.text("abc é", max_size=8).map(str.encode),
    st.tuples(st.integers(0, 5), st.integers(0, 50)),
    max_size=8,
)


@given(COUNTS, st.sampled_from(TIES), st.randoms(use_true_random=False))
def test_order_of_the_table_does_not_matter(
    counts: dict[bytes, tuple[int, int]], ties: Ties, shuffler: random.Random
) -> None:
    # Two pairs can be first at one position only if pre-tokens overlap, so lay them apart.
    apart = {
        pretoken: (occurrences, place * 10)
        for place, (pretoken, (occurrences, _)) in enumerate(counts.items())
    }
    shuffled = list(apart.items())
    shuffler.shuffle(shuffled)
    assert learn_merges(apart, 20, ties=ties) == learn_merges(dict(shuffled), 20, ties=ties)


@given(COUNTS, st.sampled_from(TIES))
def test_encoding_with_the_merges_gives_the_training_state(
    counts: dict[bytes, tuple[int, int]], ties: Ties
) -> None:
    merges = as_bytes(learn_merges(counts, 100, ties=ties))
    # Each pair is chosen at most once, and no count is greater than the one before it.
    assert len({merge[:2] for merge in merges}) == len(merges)
    assert [n for *_, n in merges] == sorted((n for *_, n in merges), reverse=True)
    ranks = {(left, right): rank for rank, (left, right, _) in enumerate(merges)}
    token_ranks = {left + right: rank for (left, right), rank in ranks.items()}
    for pretoken, (occurrences, _) in counts.items():
        tokens = encode(pretoken, ranks)
        assert b"".join(tokens) == pretoken
        if occurrences:
            # All counted pairs are merged in the end, so each pre-token is one token ...
            assert len(tokens) <= 1
            # ... which the rule without merges looks up whole.
            assert encode_by_ranks(pretoken, token_ranks) == tokens


@given(st.binary(max_size=12), st.lists(st.binary(min_size=2, max_size=3), max_size=8, unique=True))
def test_tokens_join_to_the_pretoken(pretoken: bytes, tokens: list[bytes]) -> None:
    ranks = {token: rank for rank, token in enumerate(tokens)}
    assert b"".join(encode_by_ranks(pretoken, ranks)) == pretoken
    merges = {(token[:1], token[1:]): rank for token, rank in ranks.items()}
    assert b"".join(encode(pretoken, merges)) == pretoken


def test_a_pair_count_past_64_bits_is_refused() -> None:
    counts = {b"ab": (2**64 - 1, 0), b"cab": (1, 2)}
    with pytest.raises(CountOverflowError):
        learn_merges(counts, 1)
    assert learn_merges({b"ab": (2**64 - 1, 0)}, 1) == [((97, 98), 2**64 - 1)]


def test_an_unknown_tie_rule_is_refused() -> None:
    with pytest.raises(ArgumentError, match="smallest"):
        learn_merges({}, 1, ties="smallest")  # type: ignore[arg-type]


def test_course_reference_merges(shared: Path) -> None:
    """The 243 merges of the course's reference, from its own corpus."""
    zstandard = pytest.importorskip("zstandard")
    archive = shared / "data" / "reference_fixtures" / "bpe_training.tar.zst"
    with archive.open("rb") as file, zstandard.ZstdDecompressor().stream_reader(file) as reader:
        content = io.BytesIO(reader.read())
    with tarfile.open(fileobj=content) as members:
        files = {
            Path(member.name).name: extracted.read()
            for member in members
            if (extracted := members.extractfile(member)) is not None
        }
    lines = files["train-bpe-reference-merges.txt"].decode().splitlines()
    expected = [tuple(map(from_characters, line.split(" "))) for line in lines]
    counts = count([files["corpus.en"]], resolve_pattern("gpt2"), ["<|endoftext|>"])
    merges = as_bytes(learn_merges(counts, len(expected)))
    assert [merge[:2] for merge in merges] == expected

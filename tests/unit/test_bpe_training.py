"""The kernel learns what the recorded cases and the twin say."""

import json
import os
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from subword import _core
from subword.models import Ties
from subword.patterns import resolve_pattern
from subword.reference import bpe as twin
from subword.training.bpe import train_bpe
from training_samples import ENGINES, TIES, Seen, by_kernel, seen_counts, table_of, words

GOLDEN = Path(__file__).parents[1] / "golden"


def read_cases() -> list[Any]:
    lines = (GOLDEN / "bpe_training.jsonl").read_text(encoding="utf-8").splitlines()
    return [pytest.param(case, id=case["name"]) for case in map(json.loads, lines)]


def read(case: dict[str, Any], text: str) -> bytes:
    return bytes.fromhex(text) if case.get("hex") else text.encode()


def read_counts(case: dict[str, Any]) -> Seen:
    counts: Seen = {}
    position = 0
    for text, occurrences in case["counts"].items():
        pretoken = read(case, text)
        counts[pretoken] = (occurrences, case.get("first_seen", {}).get(text, position))
        position += len(pretoken)
    return counts


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("case", read_cases())
def test_golden(case: dict[str, Any], engine: str) -> None:
    options = {name: case[name] for name in ("min_frequency", "max_token_length") if name in case}
    learnt = ENGINES[engine](read_counts(case), case["n_merges"], ties=case["ties"], **options)
    tokens = [bytes([byte]) for byte in range(256)]
    merges = []
    for (left, right), n in learnt:
        merges.append((tokens[left], tokens[right], n))
        tokens.append(tokens[left] + tokens[right])
    assert merges == [(read(case, left), read(case, right), n) for left, right, n in case["merges"]]


@pytest.mark.parametrize("ties", TIES)
@given(
    counts=seen_counts(),
    n_merges=st.sampled_from([0, 1, 5, 100]),
    min_frequency=st.sampled_from([1, 1, 2, 5]),
    max_token_length=st.sampled_from([None, None, 1, 2, 3, 5]),
)
def test_kernel_learns_the_merges_of_the_twin(
    ties: Ties, counts: Seen, n_merges: int, min_frequency: int, max_token_length: int | None
) -> None:
    options = {"min_frequency": min_frequency, "max_token_length": max_token_length}
    expected = twin.learn_merges(counts, n_merges, ties=ties, **options)
    assert by_kernel(counts, n_merges, ties=ties, **options) == expected


@given(seen_counts(), st.sampled_from(TIES), st.randoms(use_true_random=False))
def test_order_of_the_counts_does_not_matter(
    counts: Seen, ties: Ties, shuffler: random.Random
) -> None:
    order = list(counts)
    shuffler.shuffle(order)
    learnt = _core.learn_merges(table_of(counts), 50, ties=ties)
    assert _core.learn_merges(table_of(counts, order), 50, ties=ties) == learnt


@pytest.mark.parametrize("ties", TIES)
def test_a_thousand_words_give_the_merges_of_the_twin(ties: Ties) -> None:
    documents = [" ".join(words(60, seed)) for seed in range(40)]
    counts = twin_counts(documents)
    expected = twin.learn_merges(counts, 300, ties=ties)
    assert by_kernel(counts, 300, ties=ties) == expected
    assert len(expected) == 300


def twin_counts(documents: list[str]) -> Seen:
    from subword.reference.counts import count as count_by_twin

    return count_by_twin(documents, resolve_pattern("gpt2"))


@pytest.mark.parametrize("ties", TIES)
def test_training_does_not_depend_on_threads_or_document_order(ties: Ties) -> None:
    documents = [" ".join(words(50, seed)) for seed in range(30)]
    expected = train_bpe(documents, 400, ties=ties, n_threads=1)
    for n_threads in (2, 8):
        assert train_bpe(documents, 400, ties=ties, n_threads=n_threads) == expected
    if ties != "first":
        assert train_bpe(documents[::-1], 400, ties=ties).merges == expected.merges


@pytest.mark.parametrize("ties", TIES)
def test_training_does_not_depend_on_the_hash_seed(ties: Ties) -> None:
    code = (
        "import json\n"
        "from subword.training.bpe import train_bpe\n"
        "words = {f'{a}{b}{c}': 1 + (len(a) + len(b)) % 3 for a in ('ka', 'l', 'no') "
        "for b in ('mi', 're', 'x') for c in ('a', 'bb', 'ccc')}\n"
        f"tok = train_bpe(words, 290, ties={ties!r}, special_tokens=['<s>', '<e>'])\n"
        "print(json.dumps([[p.hex() for p in m] for m in tok.merges]), tok.special_tokens)\n"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("0", "1", "31337")
    }
    assert len(outputs) == 1
    assert outputs.pop().startswith(b"[[")

"""Words and counts to learn from."""

import random
from typing import Any, get_args

import numpy as np
from hypothesis import strategies as st

from subword import _core
from subword.models import Ties
from subword.reference import bpe as twin

TIES: tuple[Ties, ...] = get_args(Ties)


Seen = dict[bytes, tuple[int, int]]


Merges = list[tuple[tuple[int, int], int]]


def table_of(counts: Seen, order: list[bytes] | None = None) -> _core.PretokenTable:
    # The table holds no empty pre-token; it would have no pairs.
    rows = [(pretoken, *counts[pretoken]) for pretoken in order or counts if pretoken]
    ends = np.cumsum([len(row[0]) for row in rows], dtype=np.uint64)
    columns = [np.array([row[at] for row in rows], np.uint64) for at in (1, 2)]
    return _core.PretokenTable(b"".join(row[0] for row in rows), ends, *columns)


def by_kernel(counts: Seen, n_merges: int, **options: Any) -> Merges:
    learnt = _core.learn_merges(table_of(counts), n_merges, **options)
    return [((left, right), n) for left, right, n in learnt]


ENGINES = {"kernel": by_kernel, "twin": twin.learn_merges}


@st.composite
def seen_counts(draw: st.DrawFn) -> Seen:
    """Few letters and few counts, so that ties and runs that overlap are common."""
    alphabet = draw(st.sampled_from(["ab", "abc", "a", " !a\xe9", "aaab", "\x00\xff\u0100"]))
    pretoken = st.text(alphabet, min_size=1, max_size=14).map(str.encode)
    pretokens = draw(
        st.lists(pretoken | st.binary(min_size=1, max_size=5), max_size=14, unique=True)
    )
    occurrences = st.integers(1, draw(st.sampled_from([1, 2, 3, 50, 2**40])))
    counts: Seen = {}
    position = draw(st.sampled_from([0, 3, 2**40]))
    for item in pretokens:
        counts[item] = (draw(occurrences), position)
        # Pre-tokens never overlap in a corpus; more text may lie between them.
        position += len(item) + draw(st.sampled_from([0, 0, 7]))
    order = draw(st.permutations(list(counts)))
    return {item: counts[item] for item in order}


def words(n: int, seed: int = 3) -> list[str]:
    chooser = random.Random(seed)
    syllables = ["ka", "lo", "mi", "ne", "ru", "so", "ti", "ve", "aa", "bab"]
    return ["".join(chooser.choices(syllables, k=chooser.randint(1, 6))) for _ in range(n)]

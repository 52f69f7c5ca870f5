"""Sorted runs: a count table in parts on disk, and the table that they add up to."""

import heapq
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from subword import _core
from subword.counts_parquet import BATCH_ROWS, Batch, write_batches

__all__ = ["Rows", "compacted", "write_runs"]

_FAN_IN: Final = 64
"""Runs that are merged at once: each is an open file and two buffers of 64 KiB."""


@dataclass(slots=True)
class Rows:
    """What was written of the rows of a table."""

    n_rows: int = 0
    n_occurrences: int = 0
    n_dropped: int = 0
    n_dropped_occurrences: int = 0
    commonest: tuple[tuple[bytes, int], ...] = ()


def compacted(runs: list[Path], folder: Path) -> list[Path]:
    """Give so few runs that all can be open at once, merging some if need be.

    Runs that were merged stay; what is made lies in ``folder``, under names of its own.

    Raises:
        CountsError: A run is damaged.
        OSError: No space, or no reading.
    """
    n_made = 0
    while len(runs) > _FAN_IN:
        into = folder / f"merged-{n_made:06}.run"
        n_made += 1
        _core.merge_runs(runs[:_FAN_IN], into)
        runs = [*runs[_FAN_IN:], into]
    return runs


def write_runs(
    runs: list[Path], path: Path, about: dict[str, Any], min_count: int, n_commonest: int
) -> Rows:
    """Merge runs into a table on disk.

    Args:
        runs: The runs, few enough to be open at once.
        path: The table.
        about: What its metadata says.
        min_count: Pre-tokens that occur less often are left out.
        n_commonest: How many of the commonest pre-tokens to give.

    Raises:
        CountsError: A run is damaged.
        OSError: The table cannot be written.
    """
    merge = _core.RunMerge(runs, min_count=min_count)
    rows = Rows()
    write_batches(path, _watched(merge, rows, n_commonest), about)
    rows.n_dropped, rows.n_dropped_occurrences = merge.dropped
    return rows


def _watched(merge: _core.RunMerge, rows: Rows, n_commonest: int) -> Iterator[Batch]:
    while len((batch := merge.take(BATCH_ROWS))[1]):
        _, ends, counts, _ = batch
        rows.n_rows += len(ends)
        rows.n_occurrences += int(counts.sum(dtype=object))
        if n_commonest:
            rows.commonest = _commonest(rows.commonest, batch, n_commonest)
        yield batch


def _commonest(
    known: Iterable[tuple[bytes, int]], batch: Batch, n: int
) -> tuple[tuple[bytes, int], ...]:
    """Give the rows of the greatest counts; equal ones in the order of their bytes."""
    data, ends, counts, _ = batch
    # Of equal counts at the border the first in order win, and rows are in order.
    least = np.partition(counts, len(counts) - n)[len(counts) - n] if len(counts) > n else 0
    found = []
    for at in np.flatnonzero(counts >= least).tolist():
        start = int(ends[at - 1]) if at else 0
        found.append((bytes(data[start : int(ends[at])]), int(counts[at])))
    rows = [*known, *found]
    return tuple(heapq.nsmallest(n, rows, key=lambda row: (-row[1], row[0])))

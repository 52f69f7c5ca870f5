"""Sorted runs: a count table in parts on disk, and the table that they add up to."""

import heapq
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from uuid import uuid4

import numpy as np

from subword import _core
from subword.counts_parquet import BATCH_ROWS, Batch, write_batches
from subword.engines import local

__all__ = ["Rows", "Run", "compacted", "write_runs"]

Run = tuple[Path, int]
"""A run, and where the part of the corpus begins that its positions are of."""

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


def compacted(
    runs: Sequence[Run],
    folder: Path,
    do: Callable[..., Iterable[object]] = local.run,
    fan_in: int | None = None,
) -> list[Run]:
    """Give so few runs that all can be open at once, merging neighbours if need be.

    Runs that were merged stay; what is made lies in ``folder``, under names of its own.

    Args:
        runs: The runs.
        folder: Where merged ones go; tasks of the engine reach it too.
        do: ``run`` of an engine.
        fan_in: How many are merged at once, at least 2.

    Raises:
        CountsError: A run is damaged.
        OSError: No space, or no reading.
    """
    fan_in = fan_in or _FAN_IN
    level, runs = 0, list(runs)
    while len(runs) > fan_in:
        groups = [runs[at : at + fan_in] for at in range(0, len(runs), fan_in)]
        merged = [folder / f"merged-{level}-{number:06}.run" for number in range(len(groups))]
        for _ in do(_merge, None, list(zip(groups, merged, strict=True))):
            pass
        runs = [(path, 0) for path in merged]
        level += 1
    return runs


def _merge(_: None, task: tuple[list[Run], Path]) -> None:
    """Merge runs; a task that is begun again finds nothing of the first time in its way."""
    runs, into = task
    unfinished = into.with_name(f"{into.stem}-{uuid4().hex}.run")
    _core.merge_runs(runs, unfinished)
    unfinished.replace(into)


def write_runs(
    runs: Sequence[Run], path: Path, about: dict[str, Any], min_count: int, n_commonest: int
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
    merge = _core.RunMerge(list(runs), min_count=min_count)
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

"""Count tables put together: by shares of bytes, or as they are.

A mixture multiplies all counts of a table by one whole number. So nothing is rounded within a
table, and training from one table alone is as it was; only the shares are met in whole numbers:

1. The factors that meet the shares exactly are whole numbers with no common divisor. If none is
   above 2^20 they are taken as they are, and the mixture is the table of the corpora repeated that
   often: 100 bytes and 50 bytes at 0.5 each give factors 1 and 2.
2. Otherwise the least factor becomes 2^16, and the others are rounded to the nearest whole number,
   so each is within 1 part in 2^17 of its share. Counts are then in units of 1/65,536: multiply
   ``min_frequency`` by that, or prune tables before they are mixed.
"""

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import reduce
from math import gcd, isfinite
from operator import add
from os import PathLike
from pathlib import Path
from typing import Any, Final

from subword import _core
from subword.atomic_write import check_target
from subword.counting import checked_min_count
from subword.counts_parquet import open_counts
from subword.counts_runs import Rows, Run, compacted, write_runs
from subword.errors import ArgumentError, CountOverflowError, CountsError
from subword.pretoken_counts import PretokenCounts

__all__ = ["MergeSummary", "factors", "merge_tables", "mix"]

_LARGEST_EXACT: Final = 1 << 20
_SCALE: Final = 1 << 16
_U64_MAX: Final = 2**64 - 1


def mix(tables: Mapping[str, tuple[PretokenCounts, float]]) -> PretokenCounts:
    """Mix the counts of corpora, so that each has its share of the bytes.

    What ``subword.mixtures`` says of rounding holds: all counts of a table are multiplied by one
    whole number. Positions are those of the corpora laid end to end in the order given.

    Args:
        tables: For each name a table and its share, above 0; shares add up to 1.

    Returns:
        The table of a corpus whose bytes have these shares.

    Raises:
        ArgumentError: No table, a share that is no positive number, or shares that do not add up
            to 1.
        CountsError: A table without bytes, or tables that were not counted the same way.
        CountOverflowError: A count, or a sum of them, does not fit in 64 bits.

    Examples:
        >>> en = PretokenCounts.from_mapping({"low": 100})
        >>> zh = PretokenCounts.from_mapping({"你好": 25})
        >>> mixed = mix({"en": (en, 0.5), "zh": (zh, 0.5)})
        >>> mixed["low"], mixed["你好"], mixed.n_bytes
        (100, 50, 600)
    """
    whole = factors(
        {name: (counts.n_bytes, share) for name, (counts, share) in _checked(tables).items()}
    )
    parts = []
    for name, (counts, _) in tables.items():
        table = counts.table.scaled(whole[name])
        parts.append(replace(counts, table=table, n_bytes=counts.n_bytes * whole[name]))
    return reduce(add, parts)


def factors(shares: Mapping[str, tuple[int, float]]) -> dict[str, int]:
    """Give the whole number by which each table's counts are multiplied.

    Args:
        shares: For each name the bytes of its corpus, and its share of the mixture.

    Raises:
        ArgumentError: Shares that do not add up to 1, or are not above 0.
        CountsError: A corpus without bytes.

    Examples:
        >>> factors({"en": (100, 0.5), "zh": (50, 0.5)})
        {'en': 1, 'zh': 2}
        >>> factors({"en": (10**9 + 7, 0.7), "zh": (10**9 + 9, 0.3)})
        {'en': 152917, 'zh': 65536}
    """
    if not shares:
        raise ArgumentError("there is no table to mix")
    exact: dict[str, Fraction] = {}
    total = Fraction(0)
    for name, (n_bytes, share) in shares.items():
        if isinstance(share, bool) or not isinstance(share, (int, float)) or not isfinite(share):
            raise ArgumentError(f"the share of {name!r} is {share!r:.40}; expected a number")
        if share <= 0:
            raise ArgumentError(
                f"the share of {name!r} is {share}; leave the table out, or give it one"
            )
        if n_bytes <= 0:
            raise CountsError(f"the table {name!r} has no bytes, which no factor can give a share")
        # As it is written: 0.7 is seven tenths.
        exact[name] = Fraction(repr(float(share))) / n_bytes
        total += Fraction(repr(float(share)))
    if abs(total - 1) > Fraction(1, 10**6):
        raise ArgumentError(f"the shares add up to {float(total):.6g}; expected 1")
    least = min(exact.values())
    ratios = {name: value / least for name, value in exact.items()}
    common = reduce(lambda a, b: a * b // gcd(a, b), (r.denominator for r in ratios.values()), 1)
    whole = {name: int(ratio * common) for name, ratio in ratios.items()}
    if max(whole.values()) <= _LARGEST_EXACT:
        return whole
    return {name: round(ratio * _SCALE) for name, ratio in ratios.items()}


@dataclass(frozen=True, slots=True)
class MergeSummary:
    """What a merge of tables wrote.

    Attributes:
        path: The table.
        n_pretokens: Its rows.
        n_occurrences: The sum of its counts.
        n_bytes: Bytes of the corpora, as often as each counts.
        n_documents: Documents of the corpora.
        n_dropped: Pre-tokens that ``min_count`` left out.
        n_dropped_occurrences: The sum of their counts.
        factors: By what the counts of each table were multiplied.
        commonest: The pre-tokens of the greatest counts, as many as were asked for.
    """

    path: Path
    n_pretokens: int
    n_occurrences: int
    n_bytes: int
    n_documents: int
    n_dropped: int
    n_dropped_occurrences: int
    factors: tuple[int, ...]
    commonest: tuple[tuple[bytes, int], ...] = ()


def merge_tables(
    tables: Sequence[str | PathLike[str]],
    path: str | PathLike[str],
    *,
    shares: Sequence[float] | None = None,
    min_count: int = 1,
    n_commonest: int = 0,
    progress: Callable[[int], object] | None = None,
) -> MergeSummary:
    """Add tables on disk up, or mix them, without any in memory.

    Equals loading them, ``+`` or ``mix``, ``prune`` and ``save``.

    Args:
        tables: Files that ``save`` or ``count_to_parquet`` wrote.
        path: The sum; a file that is there is replaced.
        shares: The share of bytes of each table, as in ``mix``; None adds the tables as they are.
        min_count: Pre-tokens that occur less often in the sum are left out.
        n_commonest: How many of the commonest pre-tokens the summary has.
        progress: Called with the rows of the tables that are read.

    Raises:
        ArgumentError: As ``mix``; or no tables.
        CountsError: A file that is no count table, or tables not counted the same way.
        CountOverflowError: A count or a sum does not fit in 64 bits.
        OSError: The sum or what it is made from cannot be written.
    """
    if not tables:
        raise ArgumentError("there is no table to merge")
    if shares is not None and len(shares) != len(tables):
        raise ArgumentError(f"there are {len(tables)} tables and {len(shares)} shares")
    min_count = checked_min_count(min_count)
    target = check_target(path)
    with ExitStack() as stack:
        folder = Path(
            stack.enter_context(
                tempfile.TemporaryDirectory(prefix=f".{target.name}-", dir=target.parent)
            )
        )
        abouts = [_about(table) for table in tables]
        whole = [1] * len(tables)
        if shares is not None:
            sizes = {str(at): (it["n_bytes"], shares[at]) for at, it in enumerate(abouts)}
            whole = list(factors(sizes).values())
        runs: list[Run] = []
        position, n_rows = 0, 0
        for at, (table, about, factor) in enumerate(zip(tables, abouts, whole, strict=True)):
            _check_same_way(tables[0], abouts[0], table, about)
            runs.append((folder / f"table-{at:06}.run", position))
            for n_more in _written_rows(table, runs[-1][0], factor):
                n_rows += n_more
                if progress is not None:
                    progress(n_rows)
            position += about["n_bytes"] * factor
            if position > _U64_MAX:
                raise CountOverflowError(f"the corpora have {position} bytes, past 2^64-1")
        merged = {
            "pattern": abouts[0]["pattern"],
            "special_tokens": abouts[0]["special_tokens"],
            "n_bytes": position,
            "n_documents": sum(about["n_documents"] for about in abouts),
            "sources": [source for about in abouts for source in about["sources"]],
        }
        rows: Rows = write_runs(compacted(runs, folder), target, merged, min_count, n_commonest)
    return MergeSummary(
        path=target,
        n_pretokens=rows.n_rows,
        n_occurrences=rows.n_occurrences,
        n_bytes=position,
        n_documents=merged["n_documents"],
        n_dropped=rows.n_dropped,
        n_dropped_occurrences=rows.n_dropped_occurrences,
        factors=tuple(whole),
        commonest=rows.commonest,
    )


def _checked(
    tables: Mapping[str, tuple[PretokenCounts, float]],
) -> Mapping[str, tuple[PretokenCounts, float]]:
    for name, entry in tables.items():
        if (
            not isinstance(entry, tuple)
            or len(entry) != 2
            or not isinstance(entry[0], PretokenCounts)
        ):
            raise ArgumentError(f"{name!r} is {entry!r:.60}; expected (PretokenCounts, share)")
    return tables


def _about(table: str | PathLike[str]) -> dict[str, Any]:
    with open_counts(table) as (_, about):
        return about


def _written_rows(table: str | PathLike[str], into: Path, factor: int) -> Iterator[int]:
    """Write a table as a run; gives the rows that were written, some at a time."""
    run = _core.RunFile(into)
    with open_counts(table) as (batches, _):
        for data, ends, counts, first_seen in batches:
            try:
                run.append(data, ends, counts, first_seen, factor=factor)
            except CountsError as error:
                raise CountsError(f"{table}: {error}; load and save it to sort it") from error
            yield len(ends)
    run.finish()


def _check_same_way(
    first: object, known: Mapping[str, Any], other: object, about: Mapping[str, Any]
) -> None:
    for what in ("pattern", "special_tokens"):
        if known[what] != about[what]:
            raise CountsError(
                f"{first} and {other} were counted with different {what}: {known[what]!r:.80} and "
                f"{about[what]!r:.80}; count both corpora the same way"
            )

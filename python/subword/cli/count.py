"""``subword count``: documents to a table of pre-tokens, and tables put together."""

import heapq
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from subword.atomic_write import check_target
from subword.cli.options import (
    DocumentsOption,
    EngineOption,
    FieldOption,
    InputFormatOption,
    JsonOption,
    MaxMemoryOption,
    MinCountOption,
    NumShardsOption,
    OnBadOption,
    PatternOption,
    ShardIndexOption,
    SourcesArgument,
    SpecialTokenOption,
    ThreadsOption,
    files,
    one_or_many,
)
from subword.cli.refusals import say
from subword.cli.terminal import (
    print_json,
    print_rows,
    print_table,
    progress,
    shown,
    token_json,
)
from subword.corpus import InputFormat, OnBad, Url
from subword.counts import PretokenCounts, count
from subword.counts_on_disk import CountSummary, count_to_parquet
from subword.counts_parquet import row_count
from subword.engines import Engine
from subword.errors import ArgumentError, BadRecordsWarning
from subword.mixtures import MergeSummary, merge_tables
from subword.patterns import pattern_name
from subword.types import require_extra

__all__ = ["bad_records_said", "count_files", "pattern_json", "run", "total_bytes"]


def run(
    sources: SourcesArgument,
    pattern: PatternOption = None,
    special_token: SpecialTokenOption = None,
    documents: DocumentsOption = None,
    field: FieldOption = "text",
    input_format: InputFormatOption = None,
    on_bad: OnBadOption = None,
    threads: ThreadsOption = None,
    max_memory: MaxMemoryOption = None,
    engine: EngineOption = "local",
    num_shards: NumShardsOption = 1,
    shard_index: ShardIndexOption = 0,
    min_count: MinCountOption = 1,
    merge: Annotated[
        bool, typer.Option("--merge", help="The sources are tables: add them up.")
    ] = False,
    mix: Annotated[
        bool,
        typer.Option("--mix", help="The sources are TABLE=SHARE: mix them by shares of bytes."),
    ] = False,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="Write the table here, as Parquet; a run that was killed goes on.",
            show_default=False,
        ),
    ] = None,
    top: Annotated[int, typer.Option(min=0, help="How many of the commonest to print.")] = 10,
    as_json: JsonOption = False,
) -> None:
    """Count the pre-tokens of a corpus: all that training ever needs of it."""
    if output is not None:
        require_extra("pyarrow", "parquet")
        check_target(output)
    if merge or mix:
        options = (pattern, special_token, documents, input_format, on_bad, max_memory)
        if any(option is not None for option in options):
            raise ArgumentError(
                "how a corpus is counted was said when the tables were; leave it out"
            )
        merged = _merged(sources, output, merge, mix, min_count, top, as_json=as_json)
        _print(merged, as_json=as_json)
        return
    paths = _part(files(sources), num_shards, shard_index)
    if output is None:
        counts = count_files(
            paths,
            pattern=pattern,
            special_tokens=special_token or [],
            documents=documents,
            field=field,
            input_format=input_format,
            on_bad=on_bad,
            max_memory=max_memory,
            n_threads=threads,
            engine=engine,
            as_json=as_json,
        )
        _print(_numbers(counts, min_count, top), as_json=as_json)
        return
    with (
        bad_records_said(),
        progress("counting", "bytes", total_bytes(paths), as_json=as_json) as report,
    ):
        summary = count_to_parquet(
            paths,
            output,
            pattern=one_or_many(pattern) or "gpt2",
            special_tokens=special_token or [],
            documents=documents,
            field=field,
            format=input_format,
            on_bad=on_bad,
            min_count=min_count,
            max_memory=max_memory,
            n_threads=threads,
            engine=engine,
            n_commonest=top,
            progress=report,
        )
    _print(_summary(summary, output), as_json=as_json)


def _part(paths: list[Path | Url], num_shards: int, shard_index: int) -> list[Path | Url]:
    """Give consecutive files, so that tables merged in their order are the table of all.

    Raises:
        ArgumentError: The part has no files.
    """
    if shard_index >= num_shards:
        raise ArgumentError(f"--shard-index is {shard_index}; it is from 0 to {num_shards - 1}")
    first, end = (len(paths) * at // num_shards for at in (shard_index, shard_index + 1))
    if first == end:
        raise ArgumentError(
            f"part {shard_index} of {num_shards} is empty: there are {len(paths)} files; divide "
            "them into fewer parts"
        )
    return paths[first:end]


def count_files(
    paths: list[Path | Url],
    *,
    pattern: list[str] | None,
    special_tokens: list[str],
    documents: str | None,
    field: str = "text",
    input_format: InputFormat | None = None,
    on_bad: OnBad | None = None,
    max_memory: str | None = None,
    n_threads: int | None,
    engine: Engine = "local",
    as_json: bool = False,
) -> PretokenCounts:
    """Count files under a progress bar."""
    with (
        bad_records_said(),
        progress("counting", "bytes", total_bytes(paths), as_json=as_json) as report,
    ):
        return count(
            paths,
            pattern=one_or_many(pattern) or "gpt2",
            special_tokens=special_tokens,
            documents=documents,
            field=field,
            format=input_format,
            on_bad=on_bad,
            max_memory=max_memory,
            n_threads=n_threads,
            engine=engine,
            progress=report,
        )


@contextmanager
def bad_records_said() -> Iterator[None]:
    """Say on standard error how many records were skipped or replaced, and where they stand."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", BadRecordsWarning)
        yield
    for warning in caught:
        say(str(warning.message))
        for place in getattr(warning.message, "places", ())[1:]:
            say(f"  {place}")


def pattern_json(pattern: tuple[str, ...]) -> str | list[str]:
    """Give a pattern's name, or its expressions."""
    return pattern_name(pattern) or list(pattern)


def total_bytes(paths: list[Path | Url]) -> int | None:
    """Give the size of files as they are stored, or None where reading alone will tell it."""
    if not all(isinstance(path, Path) and path.is_file() for path in paths):
        return None
    return sum(path.stat().st_size for path in paths if isinstance(path, Path))


def _merged(
    sources: list[str],
    output: Path | None,
    merge: bool,
    mix: bool,
    min_count: int,
    top: int,
    *,
    as_json: bool,
) -> dict[str, Any]:
    if merge and mix:
        raise ArgumentError("both --merge and --mix are given; give one of them")
    if output is None:
        raise ArgumentError("--merge and --mix write a table; give --output")
    shares = None
    if mix:
        named = [source.rpartition("=") for source in sources]
        sources = [path for path, _, _ in named]
        shares = [_share(*parts) for parts in named]
    tables = [path for source in sources for path in files([source])]
    if shares is not None and len(tables) != len(shares):
        raise ArgumentError("a glob stands for several tables; with --mix give each its share")
    with progress("merging", "rows", sum(map(row_count, tables)), as_json=as_json) as report:
        summary = merge_tables(
            tables,
            output,
            shares=shares,
            min_count=min_count,
            n_commonest=top,
            progress=report,
        )
    return _summary(summary, output)


def _share(path: str, equals: str, share: str) -> float:
    try:
        return float(share if equals and path else "")
    except ValueError:
        raise ArgumentError(
            f"{path}{equals}{share} has no share; expected TABLE=SHARE, such as en.parquet=0.7"
        ) from None


def _numbers(counts: PretokenCounts, min_count: int, top: int) -> dict[str, Any]:
    kept = counts.prune(min_count) if min_count > 1 else counts
    numbers: dict[str, Any] = {
        "n_pretokens": len(kept),
        "n_occurrences": kept.total,
        "n_bytes": counts.n_bytes,
        "n_documents": counts.n_documents,
    }
    if min_count > 1:
        numbers["n_dropped"] = len(counts) - len(kept)
        numbers["n_dropped_occurrences"] = counts.total - kept.total
    return numbers | {
        "pattern": pattern_json(counts.pattern),
        "special_tokens": list(counts.special_tokens),
        "output": None,
        "top": _commonest(kept, top),
    }


def _summary(summary: CountSummary | MergeSummary, output: Path) -> dict[str, Any]:
    numbers: dict[str, Any] = {
        "n_pretokens": summary.n_pretokens,
        "n_occurrences": summary.n_occurrences,
        "n_bytes": summary.n_bytes,
        "n_documents": summary.n_documents,
    }
    if summary.n_dropped:
        numbers["n_dropped"] = summary.n_dropped
        numbers["n_dropped_occurrences"] = summary.n_dropped_occurrences
    if isinstance(summary, MergeSummary):
        numbers["factors"] = list(summary.factors)
    else:
        if summary.n_bad_records:
            numbers["n_bad_records"] = summary.n_bad_records
        if summary.n_resumed:
            numbers["n_resumed"] = summary.n_resumed
        numbers["pattern"] = pattern_json(summary.pattern)
        numbers["special_tokens"] = list(summary.special_tokens)
    return numbers | {"output": str(output), "top": list(summary.commonest)}


def _print(numbers: dict[str, Any], *, as_json: bool) -> None:
    commonest = numbers.pop("top")
    if as_json:
        top = [token_json(pretoken) | {"count": n} for pretoken, n in commonest]
        print_json({**numbers, "top": top})
        return
    print_rows(
        (name.removeprefix("n_").replace("_", " "), number)
        for name, number in numbers.items()
        if name.startswith("n_") or name == "factors"
    )
    if commonest:
        print_table("commonest", ("count", "pre-token"), [(n, shown(p)) for p, n in commonest])


def _commonest(counts: PretokenCounts, top: int) -> list[tuple[bytes, int]]:
    """Give the rows of the greatest counts; equal ones in the order of their bytes."""
    if not top:
        return []
    return heapq.nsmallest(
        top, zip(counts, counts.counts().tolist(), strict=True), key=lambda row: (-row[1], row[0])
    )

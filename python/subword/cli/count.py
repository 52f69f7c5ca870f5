"""``subword count``: documents to a table of pre-tokens."""

import heapq
from pathlib import Path
from typing import Annotated, Any

import typer

from subword.atomic_write import check_target
from subword.cli.options import (
    DocumentsOption,
    JsonOption,
    PatternOption,
    SourcesArgument,
    SpecialTokenOption,
    ThreadsOption,
    files,
    one_or_many,
)
from subword.cli.terminal import (
    print_json,
    print_rows,
    print_table,
    progress,
    shown,
    token_json,
)
from subword.counts import PretokenCounts, count
from subword.patterns import pattern_name
from subword.types import require_extra

__all__ = ["count_files", "pattern_json", "run"]


def run(
    sources: SourcesArgument,
    pattern: PatternOption = None,
    special_token: SpecialTokenOption = None,
    documents: DocumentsOption = None,
    threads: ThreadsOption = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help="Write the table here, as Parquet.", show_default=False
        ),
    ] = None,
    top: Annotated[int, typer.Option(min=0, help="How many of the commonest to print.")] = 10,
    as_json: JsonOption = False,
) -> None:
    """Count the pre-tokens of a corpus: all that training ever needs of it."""
    if output is not None:
        require_extra("pyarrow", "parquet")
        check_target(output)
    counts = count_files(
        files(sources),
        pattern=pattern,
        special_tokens=special_token or [],
        documents=documents,
        n_threads=threads,
    )
    if output is not None:
        counts.save(output)
    commonest = _commonest(counts, top)
    if as_json:
        print_json(
            {
                **_numbers(counts),
                "pattern": pattern_json(counts.pattern),
                "special_tokens": list(counts.special_tokens),
                "output": None if output is None else str(output),
                "top": [token_json(pretoken) | {"count": n} for pretoken, n in commonest],
            }
        )
        return
    print_rows(
        (name.removeprefix("n_").replace("_", " "), n) for name, n in _numbers(counts).items()
    )
    if commonest:
        print_table("commonest", ("count", "pre-token"), [(n, shown(p)) for p, n in commonest])


def count_files(
    paths: list[Path],
    *,
    pattern: list[str] | None,
    special_tokens: list[str],
    documents: str | None,
    n_threads: int | None,
) -> PretokenCounts:
    """Count files under a progress bar."""
    with progress("counting", "bytes", total_bytes(paths)) as report:
        return count(
            paths,
            pattern=one_or_many(pattern) or "gpt2",
            special_tokens=special_tokens,
            documents=documents,
            n_threads=n_threads,
            progress=report,
        )


def pattern_json(pattern: tuple[str, ...]) -> str | list[str]:
    """Give a pattern's name, or its expressions."""
    return pattern_name(pattern) or list(pattern)


def total_bytes(paths: list[Path]) -> int | None:
    """Give the size of files, or None where reading alone will tell it."""
    if not all(path.is_file() and path.suffix not in (".gz", ".zst") for path in paths):
        return None
    return sum(path.stat().st_size for path in paths)


def _numbers(counts: PretokenCounts) -> dict[str, Any]:
    return {
        "n_pretokens": len(counts),
        "n_occurrences": counts.total,
        "n_bytes": counts.n_bytes,
        "n_documents": counts.n_documents,
    }


def _commonest(counts: PretokenCounts, top: int) -> list[tuple[bytes, int]]:
    """Give the rows of the greatest counts; equal ones in the order of their bytes."""
    if not top:
        return []
    return heapq.nsmallest(
        top, zip(counts, counts.counts().tolist(), strict=True), key=lambda row: (-row[1], row[0])
    )

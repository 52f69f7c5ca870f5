"""The command: ``python -m benchmarks`` measures, ``--report`` only writes the page again."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from benchmarks.chart import write_chart
from benchmarks.corpora import STAND_IN, shared_folder
from benchmarks.environment import prepare_environment
from benchmarks.peers import PEERS
from benchmarks.published import VOCABULARY_NAMES
from benchmarks.report import RESULTS, read_groups, rich_tables, write_group, write_markdown
from benchmarks.runner import Limits, measure_group
from benchmarks.suites import ROWS, SUITES, Row, expand, stand_in_rows

stdout, stderr = Console(), Console(stderr=True)
DEFAULTS = Limits()


def main(
    suite: Annotated[list[str] | None, typer.Option(help=f"One of {', '.join(SUITES)}.")] = None,
    corpus: Annotated[
        list[str] | None,
        typer.Option(help="Such as english, or english-10 for its first 10 MB."),
    ] = None,
    vocabulary: Annotated[
        list[str] | None, typer.Option(help=f"One of {', '.join(VOCABULARY_NAMES)}.")
    ] = None,
    peer: Annotated[list[str] | None, typer.Option(help=f"One of {', '.join(PEERS)}.")] = None,
    rounds: Annotated[int, typer.Option(min=1, help="Runs of each cell.")] = DEFAULTS.rounds,
    timeout: Annotated[
        float, typer.Option(min=1, help="Seconds a run may take.")
    ] = DEFAULTS.timeout,
    results: Annotated[Path, typer.Option(help="Folder of the JSON files.")] = RESULTS,
    *,
    quick: Annotated[bool, typer.Option("--quick", help="One run, 10 MB of each corpus.")] = False,
    report: Annotated[bool, typer.Option("--report", help="Only write the page again.")] = False,
) -> None:
    """Measure subword and its peers; options that can be repeated select, none means all.

    Suites: encode (a whole corpus in one call), encode-wordpiece, encode-unigram and
    encode-sentencepiece-bpe (its documents one by one), encode-worst-case (texts that are hard
    on tokenizers), drop-in (code for tiktoken), files (a file to ids or shards), latency (short
    texts), load (vocabularies), train-bpe, train-wordpiece and train-unigram.

    Figures of a part are put in the place of older ones of the same group. With ``--quick`` or
    another folder of results the page ``docs/performance.md`` and the chart are left as they are.
    """
    if report:
        write_page(results)
        return
    rows: tuple[Row, ...] = ROWS
    if shared_folder() is None:
        rows = stand_in_rows(ROWS, STAND_IN)
        tell("no shared data found: the Python standard library's sources stand in for it")
    groups = list(
        expand(
            rows,
            suites=known("suite", suite, SUITES),
            corpora=tuple(corpus or ()),
            vocabularies=known("vocabulary", vocabulary, VOCABULARY_NAMES),
            peers=known("peer", peer, tuple(PEERS)),
            quick=quick,
        )
    )
    if not groups:
        raise typer.BadParameter("nothing is left to measure of this selection")
    failures = prepare_environment()
    for name, reason in failures.items():
        stderr.print(f"{name}: {reason}", markup=False)
    limits = Limits(rounds=1 if quick else rounds, timeout=timeout)
    for group in groups:
        measured = measure_group(group, failures, limits, tell)
        for part in rich_tables([measured]):
            stdout.print(part, markup=False)
        if not quick:
            write_group(measured, results)
    if not quick and results == RESULTS:
        write_page(results)


def write_page(results: Path) -> None:
    """Write ``docs/performance.md`` and the chart of the README."""
    groups = read_groups(results)
    write_markdown(groups)
    write_chart(groups)


def known(what: str, chosen: list[str] | None, names: tuple[str, ...]) -> tuple[str, ...]:
    """Give the chosen names.

    Raises:
        typer.BadParameter: One of them is not known.
    """
    for name in chosen or ():
        if name not in names:
            raise typer.BadParameter(f"no {what} {name!r}; there are {', '.join(names)}")
    return tuple(chosen or ())


def tell(message: str) -> None:
    """Say on stderr what runs now."""
    stderr.print(message, markup=False, highlight=False)


if __name__ == "__main__":
    typer.run(main)

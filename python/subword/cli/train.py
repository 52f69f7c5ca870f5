"""``subword train``: a corpus, or a table of its counts, to a tokenizer; one command a method."""

import tempfile
import time
import warnings
from functools import reduce
from operator import add
from pathlib import Path
from typing import Annotated, Any

import typer

from subword.atomic_write import check_target
from subword.cli.count import count_files, pattern_json
from subword.cli.options import (
    DocumentsOption,
    FieldOption,
    InputFormatOption,
    JsonOption,
    MaxMemoryOption,
    MinCountOption,
    OnBadOption,
    PatternOption,
    SourcesArgument,
    SpecialTokenOption,
    ThreadsOption,
    files,
    one_or_many,
)
from subword.cli.refusals import guarded, say
from subword.cli.terminal import print_json, print_rows, progress
from subword.corpus import Url
from subword.counts import PretokenCounts
from subword.counts_parquet import is_count_table
from subword.errors import ArgumentError, StoppedEarlyWarning
from subword.formats import save
from subword.models import Ties
from subword.tokenizer import Tokenizer
from subword.training.bpe import train_bpe

__all__ = ["app"]

app = typer.Typer(no_args_is_help=True, help="Train a tokenizer; one command a method.")


def _bpe(
    sources: SourcesArgument,
    vocab_size: Annotated[
        int, typer.Option(help="All ids: bytes, special tokens, merges.", show_default=False)
    ],
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Where to save it.", show_default=False)
    ],
    special_token: SpecialTokenOption = None,
    pattern: PatternOption = None,
    ties: Annotated[Ties, typer.Option(help="Which of equally frequent pairs wins.")] = "greatest",
    min_frequency: Annotated[int, typer.Option(help="Pairs below are not merged.")] = 1,
    max_token_length: Annotated[
        int | None, typer.Option(help="Most bytes of a token.", show_default="no limit")
    ] = None,
    documents: DocumentsOption = None,
    field: FieldOption = "text",
    input_format: InputFormatOption = None,
    on_bad: OnBadOption = None,
    max_memory: MaxMemoryOption = None,
    min_count: MinCountOption = 1,
    threads: ThreadsOption = None,
    format_: Annotated[
        str | None, typer.Option("--format", help="The file's format.", show_default="by its name")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Train a byte-level BPE.

    Sources are texts, or tables (.parquet) that subword count wrote.
    """
    paths = files(sources)
    # Whatever is wrong with the arguments is said before a corpus is read for minutes.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", StoppedEarlyWarning)
        smallest = train_bpe(
            {"a": 1},
            vocab_size,
            special_token,
            pattern=one_or_many(pattern),
            ties=ties,
            min_frequency=min_frequency,
            max_token_length=max_token_length,
            n_threads=threads,
        )
    _check_output(smallest, output, format_)
    started = time.perf_counter()
    counts = _counts(
        paths,
        min_count,
        pattern=pattern,
        special_tokens=special_token or [],
        documents=documents,
        field=field,
        input_format=input_format,
        on_bad=on_bad,
        max_memory=max_memory,
        n_threads=threads,
        as_json=as_json,
    )
    counted = time.perf_counter()
    with (
        progress("training", "merges", vocab_size - 256, as_json=as_json) as report,
        warnings.catch_warnings(record=True) as caught,
    ):
        warnings.simplefilter("always", StoppedEarlyWarning)
        tokenizer = train_bpe(
            counts,
            vocab_size,
            special_token,
            pattern=one_or_many(pattern),
            ties=ties,
            min_frequency=min_frequency,
            max_token_length=max_token_length,
            progress=report,
        )
    trained = time.perf_counter()
    for warning in caught:
        say(str(warning.message))
    save(tokenizer, output, format_)
    numbers: dict[str, object] = {
        "vocab_size": tokenizer.vocab_size,
        "n_merges": len(tokenizer.merges),
        "n_special_tokens": len(tokenizer.special_tokens),
        "n_bytes": counts.n_bytes,
        "n_pretokens": len(counts),
        "pattern": pattern_json(counts.pattern),
        "ties": ties,
        "stopped_early": tokenizer.vocab_size < vocab_size,
        "count_seconds": round(counted - started, 3),
        "train_seconds": round(trained - counted, 3),
        "output": str(output),
    }
    if as_json:
        print_json(numbers)
    else:
        print_rows((name.removeprefix("n_").replace("_", " "), n) for name, n in numbers.items())


app.command("bpe")(guarded(_bpe))


@app.callback()
def _methods() -> None:
    """Keep the method in the command's name while there is one alone."""


def _check_output(smallest: Tokenizer, output: Path, format_: str | None) -> None:
    """Refuse a place or a format that cannot hold the tokenizer, by saving a small one."""
    with tempfile.TemporaryDirectory() as folder:
        if output.is_dir():
            rehearsal = Path(folder)
        else:
            target = check_target(output)
            if target.exists() and not target.is_file():
                raise ArgumentError(f"{output} is a device or pipe; expected a place for a file")
            rehearsal = Path(folder) / output.name
        save(smallest, rehearsal, format_)


def _counts(
    paths: list[Path | Url], min_count: int, *, documents: str | None, **options: Any
) -> PretokenCounts:
    """Count a corpus, or read tables and add them up; then leave rare pre-tokens out."""
    tables = [
        path
        for path in paths
        if isinstance(path, Path) and path.suffix == ".parquet" and is_count_table(path)
    ]
    if not tables:
        counts = count_files(paths, documents=documents, **options)
        return counts.prune(min_count) if min_count > 1 else counts
    if len(tables) < len(paths):
        raise ArgumentError(
            f"{tables[0]} is a count table and others of the sources are texts; count those first"
        )
    if documents is not None:
        raise ArgumentError("documents were cut when the table was counted; leave --documents out")
    if len(tables) == 1:
        return PretokenCounts.load(tables[0], min_count=min_count)
    return reduce(add, map(PretokenCounts.load, tables)).prune(min_count)

"""What every ``subword train`` command does around its training: check, count, train, save."""

import tempfile
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import reduce, wraps
from inspect import Parameter, Signature, signature
from operator import add
from pathlib import Path
from typing import Annotated, Any, Protocol

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
    ThreadsOption,
    files,
    one_or_many,
)
from subword.cli.refusals import say
from subword.cli.terminal import print_json, print_rows, progress
from subword.corpus import Url
from subword.counts import PretokenCounts
from subword.counts_parquet import is_count_table
from subword.errors import ArgumentError, StoppedEarlyWarning, TextLeftOutWarning
from subword.formats import save
from subword.patterns import Pattern
from subword.tokenizer import Tokenizer

__all__ = ["Common", "OutputOption", "Train", "VocabSizeOption", "run", "with_common"]

VocabSizeOption = Annotated[
    int, typer.Option(help="All ids, special tokens included.", show_default=False)
]
OutputOption = Annotated[
    Path, typer.Option("--output", "-o", help="Where to save it.", show_default=False)
]
FormatOption = Annotated[
    str | None, typer.Option("--format", help="The file's format.", show_default="by its name")
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Common:
    """The options that every training takes: how a corpus is read, and what is written."""

    documents: DocumentsOption = None
    field: FieldOption = "text"
    input_format: InputFormatOption = None
    on_bad: OnBadOption = None
    max_memory: MaxMemoryOption = None
    min_count: MinCountOption = 1
    threads: ThreadsOption = None
    format_: FormatOption = None
    as_json: JsonOption = False


def with_common(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of ``Common``, which it takes as its argument ``common``."""
    own = [p for p in signature(command).parameters.values() if p.name != "common"]
    shared = [
        Parameter(f.name, Parameter.KEYWORD_ONLY, default=f.default, annotation=f.type)
        for f in fields(Common)
    ]
    parameters = [*(p.replace(kind=Parameter.KEYWORD_ONLY) for p in own), *shared]

    @wraps(command)
    def run_command(**given: Any) -> None:
        common = Common(**{f.name: given.pop(f.name) for f in fields(Common)})
        command(**given, common=common)

    # The command line is made from the signature.
    run_command.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    run_command.__annotations__ = {p.name: p.annotation for p in parameters}
    return run_command


class Train(Protocol):
    """A training with all its options but the source."""

    def __call__(
        self,
        source: PretokenCounts | dict[str, int],
        *,
        progress: Callable[[int], object] | None = None,
    ) -> Tokenizer:
        """Train on counts."""


def run(
    train: Train,
    sources: list[str],
    output: Path,
    *,
    wanted: int | None,
    default_pattern: Pattern,
    unit: str,
    total: int | None,
    pattern: list[str] | None,
    special_tokens: list[str] | None,
    common: Common,
    about: dict[str, object],
) -> None:
    """Train on sources and save.

    Args:
        train: The training.
        sources: Files of text, or count tables.
        output: Where to save the tokenizer.
        wanted: Ids asked for, if any.
        default_pattern: What texts are cut with where no pattern is given.
        unit: What the progress counts.
        total: How many of them there will be, if that is known.
        pattern: The split pattern asked for.
        special_tokens: Strings at which documents are cut.
        common: What every training is told.
        about: Further facts to print.
    """
    paths = files(sources)
    # Whatever is wrong with the arguments is said before a corpus is read for minutes.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", StoppedEarlyWarning)
        warnings.simplefilter("ignore", TextLeftOutWarning)
        rehearsal = PretokenCounts.from_mapping(
            {"a": 1}, pattern=one_or_many(pattern) or default_pattern
        )
        smallest = train(rehearsal)
    _check_output(smallest, output, common.format_)
    started = time.perf_counter()
    counts = _counts(
        paths,
        common.min_count,
        pattern=pattern or list(default_pattern),
        special_tokens=special_tokens or [],
        documents=common.documents,
        field=common.field,
        input_format=common.input_format,
        on_bad=common.on_bad,
        max_memory=common.max_memory,
        n_threads=common.threads,
        as_json=common.as_json,
    )
    counted = time.perf_counter()
    with (
        progress("training", unit, total, as_json=common.as_json) as report,
        warnings.catch_warnings(record=True) as said,
    ):
        warnings.simplefilter("always")
        tokenizer = train(counts, progress=report)
    trained = time.perf_counter()
    for warning in said:
        say(str(warning.message))
    save(tokenizer, output, common.format_)
    numbers: dict[str, Any] = {
        "vocab_size": tokenizer.vocab_size,
        "n_merges": len(tokenizer.merges),
        "n_special_tokens": len(tokenizer.special_tokens),
        "n_bytes": counts.n_bytes,
        "n_pretokens": len(counts),
        "pattern": pattern_json(counts.pattern),
        **about,
        "stopped_early": wanted is not None and tokenizer.vocab_size < wanted,
        "count_seconds": round(counted - started, 3),
        "train_seconds": round(trained - counted, 3),
        "output": str(output),
    }
    if common.as_json:
        print_json(numbers)
    else:
        print_rows((name.removeprefix("n_").replace("_", " "), n) for name, n in numbers.items())


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

"""Arguments and options that several commands take, spelt once."""

import os
from pathlib import Path
from typing import Annotated, Literal

import typer

from subword.corpus import STDIN, InputFormat, OnBad, Url, resolve_sources
from subword.engines import Engine
from subword.errors import ArgumentError
from subword.formats import load
from subword.tokenizer import Tokenizer

__all__ = [
    "AddedTokensOption",
    "DocumentsOption",
    "EngineOption",
    "FieldOption",
    "InputFormatOption",
    "JsonOption",
    "LoadFormatOption",
    "LoadPatternOption",
    "MaxMemoryOption",
    "MinCountOption",
    "NumShardsOption",
    "OnBadOption",
    "PatternOption",
    "ShardIndexOption",
    "SourcesArgument",
    "SpecialOption",
    "SpecialTokenOption",
    "ThreadsOption",
    "TokenizerArgument",
    "exact",
    "files",
    "is_stdin",
    "load_options",
    "load_tokenizer",
    "one_or_many",
]

SourcesArgument = Annotated[
    list[str], typer.Argument(help="Files, globs or URLs; - is standard input.", show_default=False)
]
TokenizerArgument = Annotated[
    Path,
    typer.Argument(metavar="TOKENIZER", help="A tokenizer's file or folder.", show_default=False),
]
LoadFormatOption = Annotated[
    str | None,
    typer.Option("--tokenizer-format", help="Its format.", show_default="what it looks like"),
]
LoadPatternOption = Annotated[
    list[str] | None,
    typer.Option(
        "--pattern", help="The split pattern, for a format that has none.", show_default=False
    ),
]
AddedTokensOption = Annotated[
    list[str] | None,
    typer.Option(
        "--special-token", help="Special tokens, for a format that has none.", show_default=False
    ),
]
PatternOption = Annotated[
    list[str] | None,
    typer.Option(
        "--pattern",
        help="A pattern's name (gpt2, cl100k, …) or a regular expression; several apply in turn.",
        show_default="gpt2",
    ),
]
SpecialTokenOption = Annotated[
    list[str] | None,
    typer.Option("--special-token", help="A reserved string; repeat for more.", show_default=False),
]
DocumentsOption = Annotated[
    str | None,
    typer.Option(
        help="How files are cut into documents: file, line, or a separator.",
        show_default="the first special token, else file",
    ),
]
EngineOption = Annotated[
    Engine, typer.Option("--engine", help="local: threads here; ray: tasks on a Ray cluster.")
]
FieldOption = Annotated[
    str, typer.Option("--field", help="The field or column that holds the text of a record.")
]
InputFormatOption = Annotated[
    InputFormat | None,
    typer.Option(
        "--input-format", help="What the files hold.", show_default="what their names say"
    ),
]
OnBadOption = Annotated[
    OnBad | None,
    typer.Option(
        "--on-bad",
        help="What a record does that cannot be read.",
        show_default="fail; text that is no UTF-8 is read as it is",
    ),
]
MaxMemoryOption = Annotated[
    str | None,
    typer.Option(
        "--max-memory",
        help="The most memory for counting, such as 2GiB; what does not fit goes to disk.",
        show_default="no limit",
    ),
]
MinCountOption = Annotated[
    int, typer.Option("--min-count", min=1, help="Leave pre-tokens out that occur less often.")
]
NumShardsOption = Annotated[
    int,
    typer.Option("--num-shards", min=1, help="Divide the work into as many, as Slurm arrays do."),
]
ShardIndexOption = Annotated[
    int, typer.Option("--shard-index", min=0, help="The part to do here, from 0.")
]
ThreadsOption = Annotated[
    int | None, typer.Option("--threads", help="Threads.", show_default="one a core")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
SpecialOption = Annotated[
    Literal["recognize", "as_text", "forbid"],
    typer.Option(help="What text that spells a special token becomes."),
]


def files(sources: list[str]) -> list[Path | Url]:
    """Give the files of sources, globs in sorted order, all of them checked.

    Raises:
        SourceError: A file that cannot be opened.
        ArgumentError: Standard input more than once: it can be read once.
    """
    if sources.count("-") > 1:
        raise ArgumentError("- stands twice among the sources; standard input can be read once")
    paths: list[Path | Url] = []
    for source in sources:
        resolved = resolve_sources(source, stdin=True)
        paths += getattr(resolved, "paths", ())
    return paths


def load_tokenizer(
    path: Path | str,
    format_: str | None,
    pattern: list[str] | None,
    special_tokens: list[str] | None,
) -> Tokenizer:
    """Load a tokenizer, by path or by name, with what its file does not say.

    Raises:
        SubwordError: As ``subword.load``.
    """
    return load(path, format_, **load_options(pattern, special_tokens))


def load_options(pattern: list[str] | None, special_tokens: list[str] | None) -> dict[str, object]:
    """Give what a tokenizer's file does not say, as ``subword.load`` takes it."""
    options: dict[str, object] = {}
    if pattern:
        options["pattern"] = one_or_many(pattern)
    if special_tokens:
        options["special_tokens"] = special_tokens
    return options


def one_or_many(pattern: list[str] | None) -> str | list[str] | None:
    """Give the pattern as the API takes it: one may be a name, several are expressions."""
    return pattern[0] if pattern is not None and len(pattern) == 1 else pattern


def is_stdin(path: Path | Url) -> bool:
    """Tell whether a path that ``files`` gave is the standard input."""
    return path == STDIN


def exact(argument: str) -> bytes:
    """Give an argument's bytes as the shell passed them, be they UTF-8 or not."""
    return os.fsencode(argument)

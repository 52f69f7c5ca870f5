"""``subword convert``: a tokenizer file in another format, with the same ids."""

from pathlib import Path
from typing import Annotated

import typer

from subword.atomic_write import check_target
from subword.cli.options import (
    AddedTokensOption,
    JsonOption,
    LoadFormatOption,
    LoadPatternOption,
    TokenizerArgument,
    files,
    load_options,
)
from subword.cli.terminal import print_json, print_rows
from subword.cli.texts import read_parts
from subword.formats.convert import convert

__all__ = ["run"]

# Long files are compared in parts of about this many characters, of whole lines.
_PART = 1 << 16


def run(
    tokenizer: TokenizerArgument,
    output: Annotated[
        Path,
        typer.Argument(
            metavar="OUTPUT", help="The new file, or a folder for vocab.json.", show_default=False
        ),
    ],
    check: Annotated[
        list[str] | None,
        typer.Option("--check", help="A file of text to compare on.", show_default=False),
    ] = None,
    format_: Annotated[
        str | None, typer.Option("--format", help="The file's format.", show_default="by its name")
    ] = None,
    allow_different: Annotated[
        bool, typer.Option("--allow-different", help="Write it whatever differs.")
    ] = False,
    as_json: JsonOption = False,
    tokenizer_format: LoadFormatOption = None,
    pattern: LoadPatternOption = None,
    special_token: AddedTokensOption = None,
) -> None:
    """Write a tokenizer in another format, once it is proved to give the same ids there.

    The new file is read back by subword and by the format's own library, where that is installed,
    and compared on texts made to differ and on those of --check.
    """
    if not output.is_dir() and format_ != "vocab_merges":
        check_target(output)
    report = convert(
        tokenizer,
        output,
        from_format=tokenizer_format,
        to_format=format_,
        check=[part for file in files(check or []) for part in _parts(Path(file))],
        allow_different=allow_different,
        **load_options(pattern, special_token),
    )
    if as_json:
        print_json(report.to_dict())
        return
    print_rows(report.rows())
    for difference in report.differences:
        print(f"  {difference}")


def _parts(path: Path) -> list[str]:
    text = b"".join(read_parts(path)).decode("utf-8", "replace")
    parts, lines, size = [], [], 0
    for line in text.splitlines(keepends=True):
        lines.append(line)
        size += len(line)
        if size >= _PART:
            parts.append("".join(lines))
            lines, size = [], 0
    return [*parts, "".join(lines)] if lines else parts

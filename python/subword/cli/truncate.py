"""``subword truncate``: the smaller tokenizer of the same training."""

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
    load_tokenizer,
)
from subword.cli.terminal import print_json, print_rows
from subword.formats import save

__all__ = ["run"]


def run(
    tokenizer: TokenizerArgument,
    vocab_size: Annotated[int, typer.Option(help="All ids that stay.", show_default=False)],
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Where to save it.", show_default=False)
    ],
    format_: Annotated[
        str | None, typer.Option("--format", help="The file's format.", show_default="by its name")
    ] = None,
    as_json: JsonOption = False,
    tokenizer_format: LoadFormatOption = None,
    pattern: LoadPatternOption = None,
    special_token: AddedTokensOption = None,
) -> None:
    """Save the tokenizer that training would have given at a smaller size, without training.

    Refused where that is not so: for Unigram, whose pieces depend on the size, and for tokenizers
    that were not trained here.
    """
    tok = load_tokenizer(tokenizer, tokenizer_format, pattern, special_token)
    smaller = tok.truncate(vocab_size)
    if not output.is_dir():
        check_target(output)
    save(smaller, output, format_)
    numbers = {
        "vocab_size": smaller.vocab_size,
        "n_merges": len(smaller.merges),
        "n_removed": tok.vocab_size - smaller.vocab_size,
        "output": str(output),
    }
    if as_json:
        print_json(numbers)
    else:
        print_rows((name.removeprefix("n_").replace("_", " "), n) for name, n in numbers.items())

"""``subword playground``: a page that shows what tokenizers do."""

from pathlib import Path
from typing import Annotated

import typer

from subword.cli.options import (
    AddedTokensOption,
    LoadFormatOption,
    LoadPatternOption,
    load_tokenizer,
)
from subword.cli.refusals import say
from subword.types import require_extra

__all__ = ["run"]


def run(
    tokenizers: Annotated[
        list[Path] | None,
        typer.Argument(help="Tokenizers; without any, small ones are trained.", show_default=False),
    ] = None,
    port: Annotated[
        int, typer.Option(min=0, max=65_535, help="A busy one gives the next free one; 0: any.")
    ] = 8000,
    host: Annotated[str, typer.Option(help="The address to listen on.")] = "127.0.0.1",
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Open the page in the browser.")
    ] = True,
    tokenizer_format: LoadFormatOption = None,
    pattern: LoadPatternOption = None,
    special_token: AddedTokensOption = None,
) -> None:
    """Open a page that shows tokens, compares tokenizers, and steps through a training."""
    for module in ("starlette", "uvicorn"):
        require_extra(module, "playground")
    # Here: what the other commands need not have.
    from subword.playground.builtin import builtin_entries
    from subword.playground.catalog import make_entry, unique_names
    from subword.playground.server import serve

    paths = tokenizers or []
    entries = [
        make_entry(name, load_tokenizer(path, tokenizer_format, pattern, special_token))
        for name, path in zip(unique_names(paths), paths, strict=True)
    ] or builtin_entries()
    serve(entries, host=host, port=port, open_browser=browser, say=say)

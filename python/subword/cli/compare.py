"""``subword compare``: what several tokenizers make of the same texts."""

from pathlib import Path
from typing import Annotated, Any

import typer

from subword.cli.options import DocumentsOption, JsonOption, exact, files, load_tokenizer
from subword.cli.terminal import print_json, print_table
from subword.compression import Compression
from subword.corpus import read_documents
from subword.errors import ArgumentError
from subword.tokenizer import Tokenizer

__all__ = ["run"]


def run(
    tokenizers: Annotated[
        list[str], typer.Argument(help="Two tokenizer files or more.", show_default=False)
    ],
    source: Annotated[
        list[str] | None,
        typer.Option("--source", "-s", help="A file or glob of texts.", show_default=False),
    ] = None,
    text: Annotated[
        str | None, typer.Option(help="A text to encode instead.", show_default=False)
    ] = None,
    documents: DocumentsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Compare how densely tokenizers write texts; ratios are to the first one."""
    if len(tokenizers) < 2:
        raise ArgumentError(f"{len(tokenizers)} tokenizer is given; give two or more to compare")
    if (text is None) == (source is None):
        raise ArgumentError("give texts to compare on: either --source or --text")
    if source is not None and "-" in source:
        raise ArgumentError("standard input can be read once, and each tokenizer reads the texts")
    loaded = [(name, load_tokenizer(name, None, None, None)) for name in tokenizers]
    measured = [(name, _measured(tok, source, text, documents)) for name, tok in loaded]
    rows = [_row(name, found, measured[0][1]) for name, found in measured]
    if as_json:
        print_json({"tokenizers": rows})
        return
    columns = ("tokenizer", "vocab size", "tokens", "unknown", "bytes per token", "ratio")
    print_table("", columns, [tuple(_shown(value) for value in row.values()) for row in rows])


def _measured(
    tok: Tokenizer, source: list[str] | None, text: str | None, documents: str | None
) -> Compression:
    if text is not None:
        return tok.compression([exact(text)], special="as_text")
    paths = [Path(path) for path in files(source or [])]
    return tok.compression(read_documents(paths, documents=documents), special="as_text")


def _row(name: str, found: Compression, first: Compression) -> dict[str, Any]:
    return {
        "tokenizer": name,
        "vocab_size": found.vocab_size,
        "n_tokens": found.n_tokens,
        "n_unknown": found.n_unknown,
        "bytes_per_token": round(found.bytes_per_token, 3) if found.n_tokens else None,
        "ratio": round(found.n_tokens / first.n_tokens, 4) if first.n_tokens else None,
    }


def _shown(value: object) -> object:
    return f"{value:.3f}" if isinstance(value, float) else "–" if value is None else value

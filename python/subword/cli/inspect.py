"""``subword inspect``: what a tokenizer holds, and what it does with a text."""

import heapq
import time
from pathlib import Path
from typing import Annotated, Any

import typer

from subword.cli.options import (
    AddedTokensOption,
    JsonOption,
    LoadFormatOption,
    LoadPatternOption,
    TokenizerArgument,
    exact,
    files,
    load_tokenizer,
)
from subword.cli.terminal import (
    print_json,
    print_rich,
    print_rows,
    print_table,
    shown,
    token_json,
)
from subword.cli.texts import read_parts
from subword.errors import ArgumentError
from subword.formats import format_of_file
from subword.formats.facts import facts, oddities
from subword.tokenizer import Tokenizer

__all__ = ["longest_tokens", "run"]

_ODDITIES = {
    "unreachable": "tokens that their own text does not give",
    "duplicate_merges": "merges that stand twice",
    "missing_bytes": "bytes without a token",
    "gaps": "ids without a token",
    "not_utf8": "tokens that are not UTF-8",
}
_SHOWN_BYTES = 6_400


def run(
    tokenizer: TokenizerArgument,
    source: Annotated[
        str | None,
        typer.Argument(help="A file to encode; - is standard input.", show_default=False),
    ] = None,
    text: Annotated[
        str | None, typer.Option(help="A text to encode instead.", show_default=False)
    ] = None,
    longest: Annotated[int, typer.Option(min=0, help="How many long tokens to print.")] = 10,
    as_json: JsonOption = False,
    tokenizer_format: LoadFormatOption = None,
    pattern: LoadPatternOption = None,
    special_token: AddedTokensOption = None,
) -> None:
    """Show what a tokenizer is and what is odd; on a text, bytes per token, MB/s and tokens."""
    if text is not None and source is not None:
        raise ArgumentError("both --text and a file are given; give one of them")
    tok = load_tokenizer(tokenizer, tokenizer_format, pattern, special_token)
    data = exact(text) if text is not None else None if source is None else _read(source)
    long = longest_tokens(tok, longest)
    told = {"format": tokenizer_format or format_of_file(tokenizer)}
    found, odd = told | facts(tok), oddities(tok)
    on_text = {} if data is None else _on_text(tok, data)
    if as_json:
        tokens = [{"id": token_id} | token_json(token) for token_id, token in long]
        measured = {} if data is None else {"text": on_text}
        print_json(found | {"oddities": odd, "longest_tokens": tokens} | measured)
        return
    print_rows(_rows(found))
    print_rows((_ODDITIES[name], _places(name, places)) for name, places in odd.items())
    if tok.special_tokens:
        rows = [
            (token_id, shown(token.encode()), ", ".join(found["token_flags"][token]))
            for token, token_id in tok.special_tokens.items()
        ]
        print_table("special tokens", ("id", "token", "flags"), rows)
    if long:
        rows3 = [(token_id, len(token), shown(token)) for token_id, token in long]
        print_table("longest tokens", ("id", "bytes", "token"), rows3)
    if data is not None:
        print_rows((name.replace("_", " ").removeprefix("n "), v) for name, v in on_text.items())
        print_rich(tok.show(data[:_SHOWN_BYTES]))


def _rows(found: dict[str, Any]) -> list[tuple[str, object]]:
    """Give the facts that there are, each on a line."""
    rows: list[tuple[str, object]] = []
    for name, value in found.items():
        if name in ("special_tokens", "token_flags") or value is None or value in ("", [], {}):
            continue
        shown_value: object = value
        if isinstance(value, dict):
            shown_value = ", ".join(f"{key} {item!r}" for key, item in value.items())
        elif isinstance(value, list):
            shown_value = "; ".join(
                part if len(part) <= 200 else f"{part[:200]}…" for part in value
            )
        rows.append((name.replace("_", " ").removeprefix("n "), shown_value))
    return rows


def _places(name: str, places: dict[str, Any]) -> str:
    first, n = ", ".join(map(str, places["first"])), places["n"]
    what = {"duplicate_merges": "ranks", "missing_bytes": "bytes"}.get(name, "ids")
    return f"{n:,} ({what} {first}{', …' if n > len(places['first']) else ''})"


def longest_tokens(tok: Tokenizer, n: int) -> list[tuple[int, bytes]]:
    """Give the ids and bytes of the longest tokens, special ones left out; equal ones by id."""
    special = set(tok.special_tokens.values())
    ordinary = (
        (token_id, token) for token_id, token in tok.vocab.items() if token_id not in special
    )
    return heapq.nsmallest(n, ordinary, key=lambda row: (-len(row[1]), row[0]))


def _read(source: str) -> bytes:
    return b"".join(part for path in files([source]) for part in read_parts(Path(path)))


def _on_text(tok: Tokenizer, data: bytes) -> dict[str, Any]:
    started = time.perf_counter()
    tok.count_tokens(data)
    seconds = time.perf_counter() - started
    measured = tok.compression([data])
    ratio = round(measured.bytes_per_token, 3) if measured.n_tokens else None
    return {
        "n_bytes": measured.n_bytes,
        "n_characters": measured.n_characters,
        "n_tokens": measured.n_tokens,
        "n_unknown": measured.n_unknown,
        "bytes_per_token": ratio,
        "mb_per_second": round(len(data) / 1e6 / seconds, 1) if seconds else None,
        "signature": measured.signature,
    }

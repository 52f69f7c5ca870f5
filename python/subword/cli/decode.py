"""``subword decode``: ids to text, as they are read."""

import sys
from collections.abc import Iterable, Iterator
from io import BufferedReader
from typing import Annotated, Literal, cast

import numpy as np
import typer

from subword.cli.options import (
    AddedTokensOption,
    LoadFormatOption,
    LoadPatternOption,
    TokenizerArgument,
    load_tokenizer,
)
from subword.cli.terminal import progress
from subword.errors import ArgumentError, UnknownTokenIdError

__all__ = ["run"]

_BLOCK_BYTES = 1 << 16
_LONGEST_NUMBER = 100
"""Digits after which what is read is no id, whatever follows."""
_AS_SPACES = bytes.maketrans(b"[],", b"   ")

Kind = Literal["text", "uint16", "uint32"]


def run(
    tokenizer: TokenizerArgument,
    ids: Annotated[
        list[str] | None,
        typer.Argument(help="Ids; - or none reads standard input.", show_default="standard input"),
    ] = None,
    dtype: Annotated[
        Kind,
        typer.Option(
            help="What standard input holds: numbers as text, whose JSON brackets and commas "
            "count as spaces, or little-endian words."
        ),
    ] = "text",
    skip_special: Annotated[
        bool, typer.Option("--skip-special", help="Leave special tokens out.")
    ] = False,
    tokenizer_format: LoadFormatOption = None,
    pattern: LoadPatternOption = None,
    special_token: AddedTokensOption = None,
) -> None:
    """Decode ids to the bytes they stand for; nothing is added, not even a line end."""
    tok = load_tokenizer(tokenizer, tokenizer_format, pattern, special_token)
    if ids and ids != ["-"]:
        batches: Iterable[list[int]] = [_numbers([part.encode() for part in ids], 0)]
    else:
        batches = _words(dtype) if dtype != "text" else _written_numbers()
    done = 0
    with progress("decoding", "ids") as report:
        for batch in batches:
            try:
                sys.stdout.buffer.write(tok.decode_bytes(batch, skip_special=skip_special))
            except UnknownTokenIdError as error:
                before = f"after {done} ids: " if done else ""
                raise UnknownTokenIdError(f"{before}{error}") from error
            done += len(batch)
            if report is not None:
                report(done)


def _written_numbers() -> Iterator[list[int]]:
    """Read numbers; one that a block cuts waits for its rest."""
    rest, done = b"", 0
    stdin = cast(BufferedReader, sys.stdin.buffer)
    while block := stdin.read1(_BLOCK_BYTES):
        text = rest + block.translate(_AS_SPACES)
        parts = text.split()
        rest = b"" if text[-1:].isspace() or not parts else parts.pop()
        batch = _numbers(parts, done)
        done += len(batch)
        yield batch
        if len(rest) > _LONGEST_NUMBER:
            break
    yield _numbers(rest.split(), done)


def _numbers(parts: list[bytes], done: int) -> list[int]:
    for at, part in enumerate(parts):
        if not part.isdigit() or len(part) > _LONGEST_NUMBER:
            shown = part[:40].decode("utf-8", "backslashreplace")
            raise ArgumentError(
                f"id {done + at} is {shown!r}; expected whole numbers with spaces between them"
            )
    return [int(part) for part in parts]


def _words(dtype: Kind) -> Iterator[list[int]]:
    kind = np.dtype(dtype).newbyteorder("<")
    rest = b""
    while block := sys.stdin.buffer.read(_BLOCK_BYTES):
        whole = len(block) - len(block) % kind.itemsize
        rest = block[whole:]
        yield np.frombuffer(block[:whole], kind).tolist()
        if rest:
            break
    if rest:
        raise ArgumentError(
            f"standard input ends within an id: {len(rest)} bytes are left over, and a {dtype} "
            f"has {kind.itemsize}"
        )

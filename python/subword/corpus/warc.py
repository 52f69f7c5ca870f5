"""Web archives: the texts of WARC and WET records.

A document is the block of each record of type ``conversion`` (the plain text of a WET file) or
``resource``, and the body of the HTTP message of each ``response``, with whatever markup it has.
Records of other types (``warcinfo``, ``request``, ``metadata``, ``revisit``) hold no text.

Source: ISO 28500:2017, "The WARC Format 1.1", sections 4 to 6.
"""

import io
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Final, cast

from subword.corpus.columns import (
    MAX_RECORD_BYTES,
    ByteStream,
    Column,
    Report,
    checked,
    packed,
)
from subword.corpus.reading import BadRecords
from subword.errors import CorpusError

__all__ = ["read_warc"]

_TYPES: Final = (b"conversion", b"resource", b"response")
_LONGEST_LINE: Final = 1 << 16
_MOST_LINES: Final = 1 << 10


def read_warc(path: Path, shown: str, bad: BadRecords, report: Report) -> Iterator[Column]:
    """Give the texts of a web archive in columns of some megabytes.

    Args:
        path: The file, compressed or not.
        shown: What names it in messages.
        bad: The policy.
        report: Called with the bytes read, as they are stored.

    Raises:
        CorpusError: A bad record, or a file that is no web archive.
        SourceError: The file cannot be opened.
    """
    stream = ByteStream(path)
    first = 1
    with cast(BinaryIO, io.BufferedReader(stream, 1 << 20)) as file:
        for column, is_text in packed(_blocks(file, shown, bad)):
            yield checked(column, bad, f"{shown}: text ", first, is_text)
            first += len(is_text)
            report(stream.stored_bytes)


def _blocks(file: BinaryIO, shown: str, bad: BadRecords) -> Iterator[bytes]:
    """Give the texts; what is damaged ends the file, since the next record cannot be found."""
    number = 1
    try:
        while (fields := _header(file)) is not None:
            length = _length(fields)
            if length > MAX_RECORD_BYTES:
                bad.note(f"{shown}: record {number}: {length} bytes, over {MAX_RECORD_BYTES}")
                _pass_over(file, length)
                number += 1
                continue
            block = _whole(file, length)
            kind = fields.get(b"warc-type", b"").lower()
            if kind in _TYPES:
                yield _body(block) if kind == b"response" else block
            number += 1
    except CorpusError as error:
        bad.note(f"{shown}: record {number}: {error}")


def _header(file: BinaryIO) -> dict[bytes, bytes] | None:
    """Give the named fields of the next record; None at the end of the file."""
    line = file.readline(_LONGEST_LINE)
    while line in (b"\r\n", b"\n"):
        line = file.readline(_LONGEST_LINE)
    if not line:
        return None
    if not line.startswith(b"WARC/"):
        raise CorpusError(f"expected a line that begins with WARC/, got {line[:40]!r}")
    fields: dict[bytes, bytes] = {}
    for _ in range(_MOST_LINES):
        line = file.readline(_LONGEST_LINE)
        if line in (b"\r\n", b"\n"):
            return fields
        if not line.endswith(b"\n"):
            break
        name, _, value = line.partition(b":")
        fields[name.strip().lower()] = value.strip()
    raise CorpusError("the header of a record does not end")


def _length(fields: dict[bytes, bytes]) -> int:
    value = fields.get(b"content-length", b"")
    if not value.isdigit() or len(value) > 18:
        raise CorpusError(f"the Content-Length is {value[:40]!r}; expected a number")
    return int(value)


def _whole(file: BinaryIO, n_bytes: int) -> bytes:
    block = file.read(n_bytes)
    if len(block) < n_bytes:
        raise CorpusError(f"the file ends {n_bytes - len(block)} bytes before the record")
    return block


def _pass_over(file: BinaryIO, n_bytes: int) -> None:
    while n_bytes > 0:
        block = file.read(min(n_bytes, 1 << 20))
        if not block:
            raise CorpusError("the file ends within a record")
        n_bytes -= len(block)


def _body(message: bytes) -> bytes:
    """Give what follows the header of an HTTP message."""
    _, found, body = message.partition(b"\r\n\r\n")
    return body if found else message

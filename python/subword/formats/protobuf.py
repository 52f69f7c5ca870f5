"""Protocol buffers on the wire: fields read with their places, and written.

Source: protocolbuffers/protobuf, "Encoding" (wire types).
"""

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from subword.errors import FormatError

__all__ = [
    "BYTES",
    "FIXED32",
    "FIXED64",
    "VARINT",
    "Source",
    "Span",
    "block",
    "fields",
    "float32",
    "number",
    "span_of",
]

VARINT: Final = 0
FIXED64: Final = 1
BYTES: Final = 2
FIXED32: Final = 5

Span = tuple[int, int]
"""Where bytes stand: the first, and the one after the last."""


@dataclass(frozen=True, slots=True)
class Source:
    """The bytes of a file and what messages call it.

    Attributes:
        data: The bytes.
        path: The file.
        kind: What it was expected to be.
    """

    data: bytes
    path: str
    kind: str

    def error(self, offset: int, message: str) -> FormatError:
        """Make the error for what stands at a byte."""
        return FormatError(
            f"{self.path}: byte {offset}: {message}; the file is damaged, or no {self.kind}"
        )


def fields(source: Source, span: Span) -> Iterator[tuple[int, int, int, int]]:
    """Give number, wire type, value and offset of each field of a message.

    The value of a field of bytes is their start and end, packed as ``start << 64 | end``. Nothing
    is copied or set aside for a length that the file claims.

    Raises:
        FormatError: A field that is cut short, or of a wire type that is not in use.
    """
    at, end = span
    while at < end:
        offset = at
        key, at = _varint(source, at, end)
        number, wire = key >> 3, key & 7
        if number == 0 or number >= 1 << 29:
            raise source.error(offset, f"field number {number} is not from 1 to 2^29-1")
        if wire == VARINT:
            value, at = _varint(source, at, end)
        elif wire == BYTES:
            length, start = _varint(source, at, end)
            at = start + length
            value = start << 64 | at
        elif wire in (FIXED32, FIXED64):
            width = 4 if wire == FIXED32 else 8
            value = int.from_bytes(source.data[at : at + width], "little")
            at += width
        else:
            raise source.error(offset, f"wire type {wire} of field {number} is not read")
        if at > end:
            raise source.error(
                offset, f"field {number} needs {at - offset} bytes, but {end - offset} are left"
            )
        yield number, wire, value, offset


def span_of(source: Source, wire: int, value: int, offset: int) -> Span:
    """Give the place of the bytes of a field that ``fields`` gave.

    Raises:
        FormatError: The field is not one of bytes.
    """
    if wire != BYTES:
        raise source.error(offset, f"a field of wire type {wire}, where type {BYTES} is due")
    return value >> 64, value & (1 << 64) - 1


def _varint(source: Source, at: int, end: int) -> tuple[int, int]:
    """Read a number of 7 bits a byte; give it and the place after it."""
    value = 0
    for shift in range(0, 70, 7):
        if at >= end:
            raise source.error(at, "a number is cut short")
        byte = source.data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            if value >> 64:
                break
            return value, at
    raise source.error(at, "a number has more than 64 bits")


def number(field: int, value: int) -> bytes:
    """Write a field of a whole number, a negative one as 64 bits."""
    return _packed(field << 3 | VARINT) + _packed(value & (1 << 64) - 1)


def float32(field: int, value: float) -> bytes:
    """Write a field of a 32-bit number, rounded to the nearest."""
    return _packed(field << 3 | FIXED32) + struct.pack("<f", value)


def block(field: int, content: bytes) -> bytes:
    """Write a field of bytes: a text or a message."""
    return _packed(field << 3 | BYTES) + _packed(len(content)) + content


def _packed(value: int) -> bytes:
    parts = bytearray()
    while value > 0x7F:
        parts.append(value & 0x7F | 0x80)
        value >>= 7
    parts.append(value)
    return bytes(parts)

"""The metadata of a GGUF file: names and values that stand before a model's weights.

Nothing after the metadata is read, and no length is believed that the file is too short for.

Source: ggml-org/ggml, docs/gguf.md, versions 2 and 3 of the format.
"""

import os
import struct
from collections.abc import Iterator
from os import PathLike
from typing import BinaryIO, Final

import numpy as np
import numpy.typing as npt

from subword.errors import FormatError
from subword.formats.json_file import open_file

__all__ = ["Value", "read_fields"]

Scalar = bool | int | float | bytes
Value = Scalar | list[bytes] | npt.NDArray[np.generic]
"""A value: a number, the bytes of a string, strings, or numbers in an array."""

_MAGIC: Final = b"GGUF"
_STRING, _ARRAY, _BOOL = 8, 9, 7
# Type number to the code of numpy and struct.
_CODES: Final = ["u1", "i1", "u2", "i2", "u4", "i4", "f4", "u1", "-", "-", "u8", "i8", "f8"]
_NUMBERS: Final = {kind: code for kind, code in enumerate(_CODES) if code != "-"}


def read_fields(path: str | PathLike[str], prefix: str = "") -> dict[str, Value]:
    """Read the fields whose names start with a prefix.

    Args:
        path: A GGUF file, little-endian.
        prefix: Other fields are passed over.

    Raises:
        FormatError: No GGUF file, one of another version, cut short, with a name twice, or with
            lists in lists; the message has the byte.
        SourceError: The file cannot be read.
    """
    with open_file(path) as file:
        source = _Source(file, str(path))
        if source.take(4, "the magic number") != _MAGIC:
            raise FormatError(f"{path}: expected a GGUF file, which starts with 'GGUF'")
        version = source.number("u4")
        if version not in (2, 3):
            raise source.fault(f"version {version}; expected 2 or 3, little-endian")
        source.number("u8")  # how many tensors
        n_fields = source.count(13, "fields")
        return dict(_fields(source, n_fields, prefix.encode()))


def _fields(source: "_Source", n_fields: int, prefix: bytes) -> Iterator[tuple[str, Value]]:
    seen: set[bytes] = set()
    for _ in range(n_fields):
        name = source.string("a name")
        if name in seen:
            raise source.fault(f"the field {name!r:.60} stands twice")
        seen.add(name)
        kind = int(source.number("u4"))
        keep = name.startswith(prefix)
        value = source.array(name, keep=keep) if kind == _ARRAY else source.scalar(kind, name)
        if keep:
            yield name.decode(errors="backslashreplace"), value


class _Source:
    """Reads from a file whose size bounds every length in it."""

    def __init__(self, file: BinaryIO, path: str) -> None:
        self.file, self.path = file, path
        self.n_bytes = os.fstat(file.fileno()).st_size

    def fault(self, message: str) -> FormatError:
        return FormatError(f"{self.path}: byte {self.file.tell()}: {message}")

    def need(self, n_bytes: int, what: str) -> None:
        left = self.n_bytes - self.file.tell()
        if n_bytes > left:
            raise self.fault(
                f"{what} of {n_bytes} bytes, and {left} are left; the file is cut short or damaged"
            )

    def take(self, n_bytes: int, what: str) -> bytes:
        self.need(n_bytes, what)
        data = self.file.read(n_bytes)
        if len(data) != n_bytes:
            raise self.fault("the file became shorter while it was read")
        return data

    def number(self, code: str) -> int | float:
        letter = {"u": "BHIQ", "i": "bhiq", "f": "??fd"}[code[0]]["1248".index(code[1])]
        (value,) = struct.unpack(f"<{letter}", self.take(int(code[1]), "a number"))
        return value  # type: ignore[no-any-return]

    def count(self, least: int, what: str) -> int:
        """Read how many items follow, each of at least ``least`` bytes."""
        n_items = int(self.number("u8"))
        self.need(least * n_items, f"{n_items} {what}")
        return n_items

    def string(self, what: str) -> bytes:
        return self.take(int(self.number("u8")), what)

    def strings(self, n_items: int, what: str) -> Iterator[bytes]:
        left = self.n_bytes - self.file.tell()
        read = self.file.read
        for _ in range(n_items):
            n_bytes = int.from_bytes(read(8), "little")
            left -= 8 + n_bytes
            if left < 0:
                raise self.fault(f"{what} of {n_bytes} bytes is longer than the rest of the file")
            yield read(n_bytes)

    def scalar(self, kind: int, name: bytes) -> Scalar:
        if kind == _STRING:
            return self.string(f"the text of {name!r:.60}")
        if kind not in _NUMBERS:
            raise self.fault(f"{name!r:.60} has type {kind}; expected 0 to 12")
        value = self.number(_NUMBERS[kind])
        return bool(value) if kind == _BOOL else value

    def array(self, name: bytes, *, keep: bool) -> Value:
        kind = int(self.number("u4"))
        if kind == _STRING:
            n_items = self.count(8, f"strings of {name!r:.60}")
            strings = self.strings(n_items, f"a string of {name!r:.60}")
            return [text for text in strings if keep]
        if kind not in _NUMBERS:
            raise self.fault(f"{name!r:.60} is a list of type {kind}; expected numbers or strings")
        dtype = np.dtype(_NUMBERS[kind]).newbyteorder("<")
        n_items = self.count(dtype.itemsize, f"numbers of {name!r:.60}")
        if not keep:
            self.file.seek(dtype.itemsize * n_items, os.SEEK_CUR)
            return []
        return np.frombuffer(self.take(dtype.itemsize * n_items, repr(name)), dtype)

"""Rows of the matrices of a ``.safetensors`` file, read and written some at a time.

The file is 8 bytes of header length, the header as JSON, then the tensors without gaps; numpy has
no bfloat16, which is the upper half of a float32. Source: safetensors 0.6, README, "Format".
"""

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any, BinaryIO, Final

import numpy as np
import numpy.typing as npt

from subword.errors import FormatError, MissingExtraError

__all__ = [
    "DTYPES",
    "Tensor",
    "TensorFile",
    "from_floats",
    "header_of",
    "open_tensors",
    "to_floats",
]

Floats = npt.NDArray[np.float32]

DTYPES: Final[dict[str, np.dtype[Any]]] = {
    "BF16": np.dtype("<u2"),
    "F16": np.dtype("<f2"),
    "F32": np.dtype("<f4"),
    "F64": np.dtype("<f8"),
}
"""How rows of each dtype lie in the file; bfloat16 as its bits."""

_COPY_BYTES: Final = 1 << 24


@dataclass(frozen=True, slots=True)
class Tensor:
    """Where a tensor lies.

    Attributes:
        dtype: Its name in the file.
        shape: Its shape.
        start: First byte, counted from the end of the header.
        end: Byte after the last.
    """

    dtype: str
    shape: tuple[int, ...]
    start: int
    end: int

    @property
    def row_bytes(self) -> int:
        """Bytes of one row."""
        return (self.end - self.start) // self.shape[0] if self.shape and self.shape[0] else 0

    @property
    def n_columns(self) -> int:
        """Numbers of one row."""
        return prod(self.shape[1:])


@dataclass(frozen=True, slots=True)
class TensorFile:
    """A checked file.

    Attributes:
        path: Where it is.
        tensors: By name, in the order in which they lie.
        metadata: What the header says besides.
        data_start: Byte at which the tensors begin.
    """

    path: Path
    tensors: Mapping[str, Tensor]
    metadata: Mapping[str, str]
    data_start: int

    def rows(self, name: str, first: int, n_rows: int) -> npt.NDArray[Any]:
        """Read rows as they lie: shape (n_rows, n_columns), of the dtype in ``DTYPES``.

        Raises:
            FormatError: The file ends before them.
        """
        tensor = self.tensors[name]
        with self.path.open("rb") as file:
            return _read_rows(file, self, tensor, first, n_rows)

    def blocks(self, name: str) -> Iterator[tuple[int, Floats]]:
        """Give the rows in blocks, each with the number of its first row, as float32."""
        tensor = self.tensors[name]
        at_once = max(1, _COPY_BYTES // max(tensor.row_bytes, 1))
        for first in range(0, tensor.shape[0], at_once):
            n_rows = min(at_once, tensor.shape[0] - first)
            yield first, to_floats(self.rows(name, first, n_rows), tensor.dtype)

    def copy(self, name: str, target: BinaryIO) -> None:
        """Write the bytes of a tensor.

        Raises:
            FormatError: The file ends before them.
        """
        tensor = self.tensors[name]
        with self.path.open("rb") as file:
            file.seek(self.data_start + tensor.start)
            left = tensor.end - tensor.start
            while left:
                part = file.read(min(left, _COPY_BYTES))
                if not part:
                    raise FormatError(f"{self.path}: ends inside the tensor {name!r:.80}")
                target.write(part)
                left -= len(part)


def open_tensors(path: Path) -> TensorFile:
    """Check a file's header and where its tensors lie.

    Raises:
        MissingExtraError: safetensors is not installed.
        FormatError: A file that is truncated, or whose header is damaged.
        OSError: The file cannot be read.
    """
    try:
        from safetensors import SafetensorError, safe_open
    except ImportError as error:
        raise MissingExtraError(
            "embeddings are read with safetensors; pip install 'subword[adapt]'"
        ) from error
    if not path.is_file():
        raise FormatError(f"{path}: the file is missing")
    try:
        # It checks the length of the header, offsets, shapes and sizes.
        with safe_open(path, framework="numpy") as checked:
            metadata = checked.metadata() or {}
    except SafetensorError as error:
        raise FormatError(f"{path}: no whole safetensors file ({error!s:.120})") from error
    with path.open("rb") as file:
        n_header = int.from_bytes(file.read(8), "little")
        header = json.loads(file.read(n_header))
    header.pop("__metadata__", None)
    tensors = {
        name: Tensor(entry["dtype"], tuple(entry["shape"]), *entry["data_offsets"])
        for name, entry in header.items()
    }
    ordered = dict(sorted(tensors.items(), key=lambda item: item[1].start))
    return TensorFile(path, ordered, metadata, 8 + n_header)


def header_of(tensors: Mapping[str, tuple[str, tuple[int, ...], int]], metadata: Any) -> bytes:
    """Give the header for tensors (dtype, shape, bytes) that lie in this order."""
    entries: dict[str, Any] = {"__metadata__": dict(metadata)} if metadata else {}
    at = 0
    for name, (dtype, shape, n_bytes) in tensors.items():
        entries[name] = {"dtype": dtype, "shape": list(shape), "data_offsets": [at, at + n_bytes]}
        at += n_bytes
    data = json.dumps(entries, separators=(",", ":")).encode()
    data += b" " * (-len(data) % 8)
    return len(data).to_bytes(8, "little") + data


def to_floats(rows: npt.NDArray[Any], dtype: str) -> Floats:
    """Give rows as float32.

    Examples:
        >>> to_floats(np.array([[0x3F80, 0xC000]], "<u2"), "BF16").tolist()
        [[1.0, -2.0]]
    """
    if dtype == "BF16":
        return (rows.astype(np.uint32) << np.uint32(16)).view(np.float32)
    return rows.astype(np.float32)


def from_floats(rows: Floats, dtype: str) -> npt.NDArray[Any]:
    """Give float32 rows as they lie in a file; bfloat16 rounds to nearest, ties to even.

    Examples:
        >>> rows = np.array([[1.0, -2.0, 1.00390625, 1.01171875]], np.float32)
        >>> [hex(bits) for bits in from_floats(rows, "BF16")[0].tolist()]
        ['0x3f80', '0xc000', '0x3f80', '0x3f82']
    """
    if dtype != "BF16":
        return rows.astype(DTYPES[dtype])
    bits = np.ascontiguousarray(rows, np.float32).view(np.uint32)
    even = (bits >> np.uint32(16)) & np.uint32(1)
    return ((bits + np.uint32(0x7FFF) + even) >> np.uint32(16)).astype("<u2")


def _read_rows(
    file: BinaryIO, of: TensorFile, tensor: Tensor, first: int, n_rows: int
) -> npt.NDArray[Any]:
    file.seek(of.data_start + tensor.start + first * tensor.row_bytes, os.SEEK_SET)
    data = file.read(n_rows * tensor.row_bytes)
    if len(data) != n_rows * tensor.row_bytes:
        raise FormatError(f"{of.path}: ends before row {first + n_rows}")
    return np.frombuffer(data, DTYPES[tensor.dtype]).reshape(n_rows, tensor.n_columns)

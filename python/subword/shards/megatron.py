r"""Megatron's indexed datasets: ids in ``.bin``, the index in ``.idx``.

The index: ``MMIDIDX\0\0``, uint64 version 1, uint8 dtype code, uint64 number of sequences, uint64
number of document bounds, int32 lengths, int64 byte offsets, int64 document bounds from 0. Each
document is one sequence. Ids are uint16 for vocabularies under 65,500, else int32.

Source: NVIDIA/Megatron-LM, ``megatron/core/datasets/indexed_dataset.py`` (``_IndexWriter``,
``DType.optimal_dtype``).
"""

import struct
from pathlib import Path
from typing import Final

import numpy as np

from subword.errors import FormatError
from subword.shards.raw import (
    Layout,
    RawShard,
    Shard,
    check_size,
    map_shard,
    move_whole,
    write_bytes,
)

__all__ = ["LAYOUT", "read", "write"]

_MAGIC: Final = b"MMIDIDX\x00\x00"
_CODES: Final = {"uint16": 8, "int32": 4}
_HEADER: Final = struct.Struct("<9sQBQQ")

LAYOUT: Final = Layout(
    suffixes=(".bin", ".idx"),
    header_bytes=0,
    dtypes=(("uint16", 65_499), ("int32", 1 << 31)),
)


def write(raw: RawShard, stem: Path) -> None:
    """Write a shard; ``raw`` becomes the file of ids.

    Raises:
        FormatError: A document of 2^31 tokens or more, whose length the index cannot hold.
    """
    bounds = raw.bounds()
    lengths = np.diff(bounds)
    n_documents = len(raw.ends)
    if lengths.max(initial=0) >= 1 << 31:
        raise FormatError(
            f"{stem}.idx: a document of {lengths.max()} tokens; the index holds lengths under 2^31"
        )
    write_bytes(
        Path(f"{stem}.idx"),
        _HEADER.pack(_MAGIC, 1, _CODES[raw.dtype.name], n_documents, n_documents + 1),
        lengths.astype("<i4").tobytes(),
        (bounds[:-1] * raw.dtype.itemsize).astype("<i8").tobytes(),
        np.arange(n_documents + 1, dtype="<i8").tobytes(),
    )
    move_whole(raw, Path(f"{stem}.bin"), b"")


def read(stem: Path, dtype: str, n_tokens: int, n_documents: int) -> Shard:
    """Open a shard; the ids are mapped."""
    ids = map_shard(Path(f"{stem}.bin"), 0, dtype, n_tokens)
    path = Path(f"{stem}.idx")
    check_size(path, _HEADER.size + 12 * n_documents + 8 * (n_documents + 1))
    data = path.read_bytes()
    expected = (_MAGIC, 1, _CODES[dtype], n_documents, n_documents + 1)
    if _HEADER.unpack_from(data) != expected:
        raise FormatError(f"{path}: its header is {_HEADER.unpack_from(data)}, expected {expected}")
    lengths = np.frombuffer(data, "<i4", n_documents, _HEADER.size)
    bounds = np.concatenate((np.zeros(1, np.int64), np.cumsum(lengths, dtype=np.int64)))
    if bounds[-1] != n_tokens:
        raise FormatError(f"{path}: lengths that make {bounds[-1]} tokens, not {n_tokens}")
    return Shard(ids, bounds)

"""NumPy arrays: ids in ``.npy``, document ends in ``.ends.npy``.

``numpy.load(path, mmap_mode="r")`` reads both. The ids are uint16 where the vocabulary fits, else
uint32; the ends are int64, in tokens.

Source: NumPy 2, ``numpy.lib.format``, version 1.0 of the format.
"""

import io
from pathlib import Path
from typing import Final

import numpy as np

from subword.errors import FormatError
from subword.shards.raw import Layout, RawShard, Shard, map_shard, move_whole, write_bytes

__all__ = ["LAYOUT", "read", "write"]

LAYOUT: Final = Layout(suffixes=(".npy", ".ends.npy"), header_bytes=128)


def write(raw: RawShard, stem: Path) -> None:
    """Write a shard; ``raw`` becomes the file of ids."""
    ends = io.BytesIO()
    np.save(ends, raw.ends.astype("<i8", copy=False), allow_pickle=False)
    write_bytes(Path(f"{stem}.ends.npy"), ends.getvalue())
    move_whole(raw, Path(f"{stem}.npy"), _header(raw))


def read(stem: Path, dtype: str, n_tokens: int, n_documents: int) -> Shard:
    """Open a shard; the ids are mapped."""
    ids = map_shard(Path(f"{stem}.npy"), 128, dtype, n_tokens)
    path = Path(f"{stem}.ends.npy")
    try:
        ends = np.load(path, mmap_mode="r" if n_documents else None, allow_pickle=False)
    except ValueError as error:
        raise FormatError(f"{path}: {error}") from error
    return Shard(ids, np.concatenate((np.zeros(1, np.int64), ends)))


def _header(raw: RawShard) -> bytes:
    """Give a header of version 1.0, padded to a size that does not depend on the shape."""
    entries = (
        f"{{'descr': '{raw.dtype.str}', 'fortran_order': False, 'shape': ({raw.n_tokens},), }}"
    )
    return b"\x93NUMPY\x01\x00\x76\x00" + entries.encode().ljust(117) + b"\n"

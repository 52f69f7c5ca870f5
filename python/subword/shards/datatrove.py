"""datatrove's files, which nanotron reads: ids in ``.ds``, document ends in ``.ds.index``.

The ids are bare uint16 or uint32; the index is uint64 ends, in tokens; ``.ds.metadata`` has three
lines: the tokenizer's name and the bytes of a token, the number of tokens, and that number for
people.

Source: huggingface/datatrove, ``src/datatrove/pipeline/tokens/tokenizer.py`` (``TokenizedFile``).
"""

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

LAYOUT: Final = Layout(suffixes=(".ds", ".ds.index", ".ds.metadata"), header_bytes=0)


def write(raw: RawShard, stem: Path) -> None:
    """Write a shard; ``raw`` becomes the file of ids."""
    name = f"subword-{str(raw.about.get('sha256', ''))[:16]}"
    lines = (f"{name}|{raw.dtype.itemsize}", str(raw.n_tokens), f"{raw.n_tokens:,} T")
    write_bytes(Path(f"{stem}.ds.index"), raw.ends.astype("<u8").tobytes())
    write_bytes(Path(f"{stem}.ds.metadata"), "\n".join(lines).encode())
    move_whole(raw, Path(f"{stem}.ds"), b"")


def read(stem: Path, dtype: str, n_tokens: int, n_documents: int) -> Shard:
    """Open a shard; the ids are mapped."""
    ids = map_shard(Path(f"{stem}.ds"), 0, dtype, n_tokens)
    path = Path(f"{stem}.ds.index")
    check_size(path, 8 * n_documents)
    ends = np.fromfile(path, "<u8").astype(np.int64)
    if n_tokens != (ends[-1] if n_documents else 0):
        raise FormatError(f"{path}: the last document does not end at token {n_tokens}")
    return Shard(ids, np.concatenate((np.zeros(1, np.int64), ends)))

"""nanoGPT's files: uint16 ids and nothing else, ``.bin``.

Where documents end is not in the file; the reader takes it from the separator's id.

Source: karpathy/nanoGPT, ``data/openwebtext/prepare.py`` and ``train.py`` (``np.memmap(...,
dtype=np.uint16)``).
"""

from pathlib import Path
from typing import Final

import numpy as np

from subword.shards.raw import Layout, RawShard, Shard, map_shard, move_whole

__all__ = ["LAYOUT", "read", "write"]

LAYOUT: Final = Layout(
    suffixes=(".bin",), header_bytes=0, dtypes=(("uint16", 1 << 16),), keeps_documents=False
)


def write(raw: RawShard, stem: Path) -> None:
    """Write a shard; ``raw`` becomes the file."""
    move_whole(raw, Path(f"{stem}.bin"), b"")


def read(stem: Path, dtype: str, n_tokens: int, n_documents: int) -> Shard:  # noqa: ARG001
    """Open a shard: one stretch of ids, mapped."""
    return Shard(map_shard(Path(f"{stem}.bin"), 0, dtype, n_tokens), np.array([0, n_tokens]))

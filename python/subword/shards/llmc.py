"""llm.c's and modded-nanogpt's files: a header of 256 int32, then ids, ``.bin``.

The header is (magic, version, n_tokens, 0 …): 20240520 and 1 for uint16, 20240801 and 7 for
uint32. Where documents end is not in the file.

Source: karpathy/llm.c, ``dev/data/data_common.py`` (``write_datafile``).
"""

from pathlib import Path
from typing import Final

import numpy as np

from subword.errors import FormatError
from subword.shards.raw import Layout, RawShard, Shard, map_shard, move_whole

__all__ = ["LAYOUT", "read", "write"]

_HEADER_WORDS: Final = 256
_KINDS: Final = {"uint16": (20240520, 1), "uint32": (20240801, 7)}

LAYOUT: Final = Layout(
    suffixes=(".bin",),
    header_bytes=4 * _HEADER_WORDS,
    max_tokens=2**31 - 1,
    keeps_documents=False,
)


def write(raw: RawShard, stem: Path) -> None:
    """Write a shard; ``raw`` becomes the file."""
    header = np.zeros(_HEADER_WORDS, "<i4")
    header[:3] = (*_KINDS[raw.dtype.name], raw.n_tokens)
    move_whole(raw, Path(f"{stem}.bin"), header.tobytes())


def read(stem: Path, dtype: str, n_tokens: int, n_documents: int) -> Shard:  # noqa: ARG001
    """Open a shard: one stretch of ids, mapped."""
    path = Path(f"{stem}.bin")
    ids = map_shard(path, 4 * _HEADER_WORDS, dtype, n_tokens)
    header = tuple(np.fromfile(path, "<i4", 3).tolist())
    if header != (*_KINDS[dtype], n_tokens):
        raise FormatError(
            f"{path}: its header is {header}, expected {(*_KINDS[dtype], n_tokens)}: the file is "
            "no shard of llm.c with these ids"
        )
    return Shard(ids, np.array([0, n_tokens]))

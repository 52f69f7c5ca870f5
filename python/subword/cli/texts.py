"""Texts as parts: files and standard input in blocks, compressed ones too."""

from collections.abc import Iterator
from pathlib import Path

from subword import _core

__all__ = ["read_parts"]

_BLOCK_BYTES = 1 << 18


def read_parts(path: Path) -> Iterator[bytes]:
    """Give a text in blocks, decompressed when its first bytes say that it is compressed.

    Standard input gives what is there without waiting for a block to fill.

    Raises:
        CorpusError: A compressed text that is truncated or damaged.
        OSError: What reading raises.
    """
    reader = _core.ByteReader(path)
    while block := reader.read(_BLOCK_BYTES):
        yield block

"""Texts as the reader meets them."""

import gzip

import zstandard

from subword import _core


def zstd(text: bytes) -> bytes:
    return zstandard.ZstdCompressor(write_checksum=True).compress(text)


SKIPPABLE = (0x184D2A53).to_bytes(4, "little") + (5).to_bytes(4, "little") + b"aside"


STORED = {
    "plain": bytes,
    "gzip": gzip.compress,
    "gzip in two members": lambda text: gzip.compress(text[:9]) + gzip.compress(text[9:]),
    "gzip with an empty member": lambda text: gzip.compress(b"") + gzip.compress(text),
    "zstd": zstd,
    "zstd in two frames": lambda text: zstd(text[:9]) + zstd(text[9:]),
    "zstd after a skippable frame": lambda text: SKIPPABLE + zstd(text),
}


def read(paths, cut, block_bytes=1 << 20):
    return list(_core.DocumentReader(paths, cut, block_bytes=block_bytes))

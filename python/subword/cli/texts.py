"""Texts as parts: files and standard input in blocks, compressed ones too."""

import gzip
import sys
import zlib
from collections.abc import Iterator
from io import BufferedReader
from pathlib import Path
from typing import IO, cast

from subword.cli.options import is_stdin
from subword.corpus import read_documents
from subword.errors import CorpusError

__all__ = ["read_parts"]

_BLOCK_BYTES = 1 << 18
_GZIP = b"\x1f\x8b"
_ZSTD = b"\x28\xb5\x2f\xfd"


def read_parts(path: Path) -> Iterator[bytes]:
    """Give a text in blocks, decompressed when its first bytes say that it is compressed.

    Standard input gives what is there without waiting for a block to fill.

    Raises:
        CorpusError: A compressed text that is truncated or damaged.
        OSError: What reading raises.
    """
    if is_stdin(path):
        yield from _blocks(cast(BufferedReader, sys.stdin.buffer), path)
        return
    with path.open("rb") as file:
        yield from _blocks(file, path)


def _blocks(file: BufferedReader, path: Path) -> Iterator[bytes]:
    head = file.peek(4)[:4]
    if head.startswith(_GZIP):
        yield from _gunzipped(file, path)
    elif head != _ZSTD:
        while block := file.read1(_BLOCK_BYTES):
            yield block
    elif is_stdin(path):
        raise CorpusError("standard input is zstd; decompress it on its way in: zstd -dc | …")
    else:
        for document in read_documents([path], documents="file"):
            yield cast(bytes, document)


def _gunzipped(file: IO[bytes], path: Path) -> Iterator[bytes]:
    name = "standard input" if is_stdin(path) else path
    done = 0
    try:
        with gzip.GzipFile(fileobj=file) as text:
            while block := text.read(_BLOCK_BYTES):
                done += len(block)
                yield block
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise CorpusError(
            f"{name}: the gzip stream is damaged after {done} bytes of text: {error}"
        ) from error

"""Dolma's and OLMo's files: ids in a ``.npy`` without a header, documents in ``.csv.gz``.

Each row of the table is (start, end, id, src, loc): the document's first token and the one behind
its last, a name for it, the file it came from, and its number in that file, from 1.

Source: allenai/dolma, ``python/dolma/tokenizer/memmap_writer.py`` and ``data_types.py``
(``MemmapMetadata``): ``np.memmap`` of uint16 or uint32, at most 512 Mi tokens.
"""

import csv
import gzip
import io
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Final

import numpy as np

from subword.atomic_write import whole_file
from subword.errors import FormatError
from subword.shards.raw import Layout, RawShard, Shard, map_shard, move_whole

__all__ = ["LAYOUT", "read", "write"]

LAYOUT: Final = Layout(suffixes=(".npy", ".csv.gz"), header_bytes=0, max_tokens=512 * 1024 * 1024)


def write(raw: RawShard, stem: Path) -> None:
    """Write a shard; ``raw`` becomes the file of ids."""
    with (
        whole_file(Path(f"{stem}.csv.gz")) as file,
        # Without a name and a time, so that the same rows are the same bytes.
        gzip.GzipFile("", "wb", 6, file, 0) as packed,
        io.TextIOWrapper(packed, "utf-8", "surrogateescape", newline="") as text,
    ):
        csv.writer(text).writerows(_rows(raw))
    move_whole(raw, Path(f"{stem}.npy"), b"")


def read(stem: Path, dtype: str, n_tokens: int, n_documents: int) -> Shard:
    """Open a shard; the ids are mapped."""
    ids = map_shard(Path(f"{stem}.npy"), 0, dtype, n_tokens)
    path = Path(f"{stem}.csv.gz")
    bounds = np.zeros(n_documents + 1, np.int64)
    try:
        with gzip.open(path, "rt", encoding="utf-8", errors="surrogateescape", newline="") as text:
            for at, row in enumerate(csv.reader(text), start=1):
                bounds[at] = int(row[1])
    except (OSError, EOFError, ValueError, IndexError) as error:
        raise FormatError(f"{path}: the table of documents is damaged: {error}") from error
    if bounds[-1] != n_tokens:
        raise FormatError(f"{path}: the last document does not end at token {n_tokens}")
    return Shard(ids, bounds)


def _rows(raw: RawShard) -> Iterator[tuple[int, int, str, str, int]]:
    places = zip(raw.source_of.tolist(), raw.number_in_source.tolist(), strict=True)
    bounds = pairwise(raw.bounds().tolist())
    for (start, end), (source, number) in zip(bounds, places, strict=True):
        name = raw.sources[source]
        yield start, end, f"{name}:{number + 1}", name, number + 1

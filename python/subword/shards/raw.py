"""What every format has in common: ids of whole documents on the disk, and the files of a shard."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from subword.atomic_write import whole_file
from subword.errors import ArgumentError, FormatError, SourceError

__all__ = [
    "Ids",
    "Layout",
    "RawShard",
    "Shard",
    "check_size",
    "choose_dtype",
    "map_ids",
    "map_shard",
    "move_whole",
    "write_bytes",
]

Ids = npt.NDArray[Any]
"""Token ids: shape (n_tokens,), of the shard's dtype."""

_BLOCK_IDS: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class Layout:
    """What tells the files of a format from those of others.

    Attributes:
        suffixes: The files of a shard, by their endings; the one with the ids first.
        header_bytes: Bytes before the first id, where the ids lie in one run.
        dtypes: The dtypes a shard can have, the narrowest first, each with the number of ids it
            has room for.
        max_tokens: The most tokens of a shard.
        keeps_documents: Whether the files say where documents end.
        max_bytes: The most bytes of the ids of a shard.
    """

    suffixes: tuple[str, ...]
    header_bytes: int | None
    dtypes: tuple[tuple[str, int], ...] = (("uint16", 1 << 16), ("uint32", 1 << 32))
    max_tokens: int | None = None
    keeps_documents: bool = True
    max_bytes: int | None = None


@dataclass(frozen=True, slots=True, eq=False)
class RawShard:
    """Whole documents whose ids lie in a file, in their final order.

    Attributes:
        path: The file; a format may move it to its place.
        offset: Bytes before the first id.
        dtype: Of the ids, little-endian.
        ends: Where documents end, in tokens: shape (n_documents,), int64.
        places: For each run of documents of one source: how many there are, the source's name,
            and the number of each document in it.
        about: What a format may say of the tokenizer: its ``sha256`` and ``vocab_size``.
    """

    path: Path
    offset: int
    dtype: np.dtype[Any]
    ends: npt.NDArray[np.int64]
    sources: Sequence[str] = ()
    source_of: npt.NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))
    number_in_source: npt.NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))
    about: dict[str, Any] = field(default_factory=dict)

    @property
    def n_tokens(self) -> int:
        """Number of ids."""
        return int(self.ends[-1]) if len(self.ends) else 0

    def bounds(self) -> npt.NDArray[np.int64]:
        """Give where documents begin and the last ends: shape (n_documents + 1,), int64."""
        return np.concatenate((np.zeros(1, np.int64), self.ends))

    def documents(self) -> Iterator[Ids]:
        """Give the ids of each document, reading blocks."""
        with self.path.open("rb") as file:
            file.seek(self.offset)
            for start, end in pairwise(self.bounds().tolist()):
                yield np.frombuffer(file.read((end - start) * self.dtype.itemsize), self.dtype)

    def blocks(self) -> Iterator[bytes]:
        """Give the bytes of the ids, in blocks."""
        n_left = self.n_tokens * self.dtype.itemsize
        with self.path.open("rb", buffering=0) as file:
            file.seek(self.offset)
            while n_left:
                block = file.read(min(n_left, _BLOCK_IDS * self.dtype.itemsize))
                if not block:
                    raise FormatError(f"{self.path}: the file ends {n_left} bytes early")
                n_left -= len(block)
                yield block


@dataclass(frozen=True, slots=True, eq=False)
class Shard:
    """A shard that was opened.

    Attributes:
        ids: All ids; mapped where the format keeps them in one run.
        bounds: Document ``i`` has ``ids[bounds[i]:bounds[i + 1]]``; shape (n_documents + 1,).
    """

    ids: Ids
    bounds: npt.NDArray[np.int64]

    def __len__(self) -> int:
        """Give the number of documents."""
        return len(self.bounds) - 1

    def document(self, at: int) -> Ids:
        """Give the ids of a document, as a view."""
        return self.ids[self.bounds[at] : self.bounds[at + 1]]


def choose_dtype(layout: Layout, vocab_size: int, wanted: str | None, format: str) -> str:  # noqa: A002
    """Give the narrowest dtype of a format that holds every id, or the wanted one.

    Raises:
        ArgumentError: The format has no such dtype, or the vocabulary is too large for it.
    """
    known = dict(layout.dtypes)
    if wanted is not None and wanted not in known:
        raise ArgumentError(
            f"dtype is {wanted!r:.40}; format {format} has {', '.join(known)}, or None for the "
            "narrowest that fits"
        )
    candidates = known if wanted is None else {wanted: known[wanted]}
    for dtype, n_ids in candidates.items():
        if vocab_size <= n_ids:
            return dtype
    widest, n_ids = list(candidates.items())[-1]
    raise ArgumentError(
        f"the vocabulary has {vocab_size} ids, more than the {n_ids} that {widest} holds in format "
        f"{format}; choose a wider dtype, or a format that has one"
    )


def move_whole(raw: RawShard, target: Path, header: bytes) -> None:
    """Make the raw file the shard itself: fill in its header, then give it its name."""
    with raw.path.open("r+b") as file:
        if len(header) != raw.offset:
            raise FormatError(f"{target}: a header of {len(header)} bytes, room for {raw.offset}")
        file.write(header)
        file.truncate(raw.offset + raw.n_tokens * raw.dtype.itemsize)
        file.flush()
        os.fsync(file.fileno())
    raw.path.replace(target)


def write_bytes(path: Path, *parts: bytes) -> None:
    """Write a file, whole or not at all."""
    with whole_file(path) as file:
        for part in parts:
            file.write(part)


def map_shard(path: Path, offset: int, dtype: str, n_tokens: int) -> Ids:
    """Map the ids of a file, whose size has to be exactly theirs and the header's.

    Raises:
        FormatError: The file has another size.
        SourceError: It cannot be opened.
    """
    check_size(path, offset + n_tokens * np.dtype(dtype).itemsize)
    return map_ids(path, offset, dtype, n_tokens)


def map_ids(path: Path, offset: int, dtype: str, n_tokens: int) -> Ids:
    """Map ids of a file, read-only."""
    little = np.dtype(dtype).newbyteorder("<")
    if n_tokens == 0:
        # Nothing can be mapped of nothing.
        return np.empty(0, little)
    return np.memmap(path, little, "r", offset, (n_tokens,))


def check_size(path: Path, expected: int) -> None:
    """Refuse a file of another size than the one its shard must have."""
    try:
        n_bytes = path.stat().st_size
    except OSError as error:
        raise SourceError(error.errno, error.strerror, os.fspath(path)) from error
    if n_bytes != expected:
        raise FormatError(
            f"{path}: {n_bytes} bytes, expected {expected}; the file is cut off or damaged: "
            "make the shards again"
        )

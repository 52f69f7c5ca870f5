"""Shards that were written, as arrays again."""

import os
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import accumulate
from os import PathLike
from pathlib import Path
from typing import Any, Final

import numpy as np

from subword.errors import ArgumentError, FormatError, SourceNotFoundError
from subword.manifest import file_sha256, read_manifest
from subword.shards.layouts import module_of
from subword.shards.raw import Ids, Shard
from subword.shards.torch_datasets import document_dataset, window_dataset

__all__ = ["MANIFEST", "Shards", "open_shards"]

MANIFEST: Final = "manifest.json"
"""The file that says a folder of shards is complete."""


class Shards(Sequence[Ids]):
    """The documents of one split, in the order of the manifest.

    A sequence of arrays: ``shards[i]`` has the ids of document ``i``, its separator included. In a
    format that keeps its ids in one run they are mapped, not read: memory holds what is looked at.
    Shards are opened when they are first asked for.

    Attributes:
        folder: Where they lie.
        manifest: What ``manifest.json`` says.
        split: ``"train"`` or ``"validation"``.
    """

    def __init__(self, folder: Path, manifest: dict[str, Any], split: str) -> None:
        """Open nothing yet."""
        self.folder = folder
        self.manifest = manifest
        self.split = split
        self._entries: list[dict[str, Any]] = manifest["splits"][split]["shards"]
        self._opened: dict[int, Shard] = {}

    @property
    def format(self) -> str:
        """Name of the format."""
        return str(self.manifest["options"]["format"])

    @property
    def dtype(self) -> np.dtype[Any]:
        """Of the ids."""
        return np.dtype(str(self.manifest["options"]["dtype"]))

    @property
    def n_shards(self) -> int:
        """Number of shards."""
        return len(self._entries)

    @property
    def n_tokens(self) -> int:
        """Number of ids."""
        return sum(entry["tokens"] for entry in self._entries)

    def __len__(self) -> int:
        """Give the number of documents."""
        return sum(entry["documents"] for entry in self._entries)

    def __getitem__(self, index: Any) -> Any:
        """Give the ids of a document, or of a slice of documents as a list."""
        if isinstance(index, slice):
            return [self[at] for at in range(*index.indices(len(self)))]
        at = index + len(self) if index < 0 else index
        if not 0 <= at < len(self):
            raise IndexError(f"document {index} of {len(self)}")
        number = bisect_right(self._document_ends, at)
        start = self._document_ends[number - 1] if number else 0
        return self.shard(number).document(at - start)

    def __iter__(self) -> Iterator[Ids]:
        """Give the ids of each document in turn."""
        for shard in self.iter_shards():
            for at in range(len(shard)):
                yield shard.document(at)

    def shard(self, number: int) -> Shard:
        """Give a shard: its ids as one array, and where its documents begin and end.

        Raises:
            FormatError: The files are damaged, or not those that the manifest names.
            SourceError: A file cannot be opened.
        """
        if number not in self._opened:
            self._opened[number] = self._open(self._entries[number])
        return self._opened[number]

    def iter_shards(self) -> Iterator[Shard]:
        """Give the shards in turn, and keep none of them."""
        for number, entry in enumerate(self._entries):
            yield self._opened.get(number) or self._open(entry)

    def arrays(self) -> list[Ids]:
        """Give the ids of each shard."""
        return [self.shard(number).ids for number in range(self.n_shards)]

    def read(self, start: int, end: int) -> Ids:
        """Give the ids from token ``start`` to before token ``end`` of the split.

        A view where one shard has them all, else a copy.

        Raises:
            ArgumentError: Tokens that are not there.
        """
        if not 0 <= start <= end <= self.n_tokens:
            raise ArgumentError(f"tokens {start} to {end} of {self.n_tokens}")
        parts, number = [], bisect_right(self._token_ends, start)
        while start < end:
            before = self._token_ends[number - 1] if number else 0
            part = self.shard(number).ids[start - before : end - before]
            parts.append(part)
            start, number = start + len(part), number + 1
        if len(parts) == 1:
            return parts[0]
        return np.concatenate(parts) if parts else np.empty(0, self.dtype)

    def dataset(self, length: int | None = None) -> Any:
        """Give a ``torch.utils.data.Dataset``.

        Args:
            length: Ids of an item: item ``i`` has those from ``i * length`` on, and what is over at
                the end is left out. None for one document an item.

        Returns:
            A data set of int64 tensors of shape (length,), or (n_tokens of the document,).

        Raises:
            MissingExtraError: torch is not installed.
        """
        return document_dataset(self) if length is None else window_dataset(self, length)

    def iterable_dataset(self, length: int) -> Any:
        """Give a ``torch.utils.data.IterableDataset`` of what ``dataset(length)`` has, in order.

        With several workers each gives every n-th item.
        """
        return window_dataset(self, length, iterable=True)

    def check(self) -> None:
        """Read every file and compare its SHA-256 with the manifest.

        Raises:
            FormatError: A file that differs.
            SourceError: A file that is not there.
        """
        for entry in self._entries:
            for file in entry["files"]:
                path = self.folder / file["name"]
                if file_sha256(path) != file["sha256"]:
                    raise FormatError(
                        f"{path}: not the file that was written, by its SHA-256; make the shards "
                        "again, or copy them again"
                    )

    @cached_property
    def _document_ends(self) -> list[int]:
        return list(accumulate(entry["documents"] for entry in self._entries))

    @cached_property
    def _token_ends(self) -> list[int]:
        return list(accumulate(entry["tokens"] for entry in self._entries))

    def _open(self, entry: dict[str, Any]) -> Shard:
        module = module_of(self.format)
        name = entry["files"][0]["name"]
        stem = self.folder / name.removesuffix(module.LAYOUT.suffixes[0])
        dtype = self.manifest["options"]["dtype"]
        shard: Shard = module.read(stem, dtype, entry["tokens"], entry["documents"])
        if module.LAYOUT.keeps_documents:
            return shard
        return Shard(shard.ids, self._bounds(shard.ids, entry["documents"]))

    def _bounds(self, ids: Ids, n_documents: int) -> Any:
        """Find where documents end by the separator's id, for formats that do not keep it."""
        separator = self.manifest["options"]["separator_id"]
        ends = np.flatnonzero(ids == separator) + 1 if separator is not None else np.array([])
        if len(ends) != n_documents:
            # Documents without separators, or whose text spells it, cannot be told apart.
            return np.array([0, len(ids)])
        return np.concatenate((np.zeros(1, np.int64), ends))


def open_shards(folder: str | PathLike[str], split: str = "train") -> Shards:
    """Open the shards of a folder that ``subword.tokenize`` finished.

    Args:
        folder: The ``out_dir`` of the run.
        split: ``"train"``, or ``"validation"`` where there is one.

    Raises:
        SourceNotFoundError: The folder has no manifest: the run is not finished.
        ArgumentError: There is no such split.
        ResumeError: The manifest is damaged.
    """
    path = Path(folder) / MANIFEST
    if not path.is_file():
        raise SourceNotFoundError(
            2,
            "no manifest: here is no finished run of subword tokenize; give its out_dir, or run "
            "the same command again to finish it",
            os.fspath(path),
        )
    manifest = read_manifest(path)
    splits = manifest.get("splits")
    if manifest.get("kind") != "subword tokenize" or not isinstance(splits, dict):
        raise FormatError(f"{path}: the manifest of something else than tokenized shards")
    if split not in splits:
        raise ArgumentError(f"split is {split!r:.40}; {path} has {', '.join(splits)}")
    return Shards(Path(folder), manifest, split)

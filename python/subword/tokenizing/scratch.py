"""A shard that is being filled: two files that only grow, and can be cut back to any document."""

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, Final

import numpy as np
import numpy.typing as npt

from subword.errors import ResumeError

__all__ = ["ROW_BYTES", "Scratch"]

ROW_BYTES: Final = 24
"""Of a document: three int64, where it ends, its source, and its number in that."""


@dataclass(slots=True)
class Scratch:
    """The open shard of a split.

    Attributes:
        folder: Where its files lie.
        name: What they are called: task, split and number of the shard.
        header_bytes: Room at the front of the ids for the header of the shard.
        dtype: Of the ids.
        n_tokens: Ids of whole documents.
        n_documents: Whole documents.
        n_open: Ids of the document that has not ended.
    """

    folder: Path
    name: str
    header_bytes: int
    dtype: np.dtype[Any]
    n_tokens: int = 0
    n_documents: int = 0
    n_open: int = 0
    _files: list[BinaryIO] = field(default_factory=list)

    @property
    def ids_path(self) -> Path:
        """The file of ids."""
        return self.folder / f"{self.name}.ids"

    @property
    def rows_path(self) -> Path:
        """The file of documents."""
        return self.folder / f"{self.name}.documents"

    def open(self) -> None:
        """Open the files, cut back to the whole documents that are on record.

        Raises:
            ResumeError: They hold less than that.
        """
        sizes = (
            self.header_bytes + self.n_tokens * self.dtype.itemsize,
            self.n_documents * ROW_BYTES,
        )
        for path, n_bytes in zip((self.ids_path, self.rows_path), sizes, strict=True):
            file = path.open("r+b" if path.exists() else "w+b")
            self._files.append(file)
            found = os.fstat(file.fileno()).st_size
            if self.n_documents and found < n_bytes:
                raise ResumeError(
                    f"{path}: {found} bytes, but {n_bytes} are on record: unfinished work was "
                    "changed or lost; start the run in another directory"
                )
            file.truncate(n_bytes)
            file.seek(n_bytes)

    def add(self, ids: npt.NDArray[Any], lengths: npt.NDArray[np.int64], rows: Any) -> None:
        """Add whole documents, the first of which may have begun before.

        Args:
            ids: The ids.
            lengths: How many of these each document has.
            rows: The source of each document and its number in it.
        """
        if not len(lengths):
            return
        # What was open is the front of the first document.
        ends = np.cumsum(lengths) + (self.n_tokens + self.n_open)
        self.add_open(ids)
        table = np.column_stack((ends, rows)).astype("<i8")
        self._file(1).write(table.tobytes())
        self.n_tokens, self.n_open = int(ends[-1]), 0
        self.n_documents += len(ends)

    def add_open(self, ids: npt.NDArray[Any]) -> None:
        """Add ids of a document that does not end yet."""
        little = ids.astype(self.dtype, copy=False)
        self._file(0).write(np.ascontiguousarray(little).data)
        self.n_open += len(ids)

    def sync(self) -> None:
        """Have the disk hold what was added."""
        for file in self._files:
            file.flush()
            os.fsync(file.fileno())

    def rows(self) -> npt.NDArray[np.int64]:
        """Give the documents: shape (n_documents, 3), int64."""
        return np.fromfile(self.rows_path, "<i8").reshape(-1, 3)

    def close(self) -> None:
        """Close the files."""
        while self._files:
            self._files.pop().close()

    def remove(self) -> None:
        """Remove the files."""
        self.close()
        self.ids_path.unlink(missing_ok=True)
        self.rows_path.unlink(missing_ok=True)

    def _file(self, at: int) -> BinaryIO:
        if not self._files:
            self.open()
        return self._files[at]

"""Inputs that were counted: what they were, and whether they still are."""

import hashlib
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from subword.corpus.reading import BadRecords
from subword.corpus.remote import url_stamp
from subword.corpus.sources import STDIN, Url
from subword.manifest import file_sha256

__all__ = ["CountedInput", "Digest", "Stamp", "digest", "is_unchanged", "stamp"]

_BLOCK_BYTES: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class Stamp:
    """What changes when a file does.

    Attributes:
        size: Bytes as stored, where that is known.
        changed: Times of change, or what a remote file system has in their place.
    """

    size: int | None
    changed: str


@dataclass(frozen=True, slots=True)
class CountedInput:
    """A finished input, as the journal has it."""

    name: str
    size: int | None
    changed: str
    sha256: str | None
    n_bytes: int
    n_documents: int
    n_bad: int
    bad_places: tuple[str, ...]

    @classmethod
    def total_of(cls, n_bytes: int, n_documents: int, bad: BadRecords) -> "CountedInput":
        """Give what has no name."""
        return cls("", None, "", None, n_bytes, n_documents, bad.n_records, tuple(bad.places))

    @classmethod
    def sum_of(cls, inputs: Sequence["CountedInput"]) -> "CountedInput":
        """Add inputs up."""
        bad = BadRecords("skip")
        for counted in inputs:
            bad.add(counted.n_bad, counted.bad_places)
        n_bytes = sum(counted.n_bytes for counted in inputs)
        return cls.total_of(n_bytes, sum(counted.n_documents for counted in inputs), bad)

    def as_json(self) -> dict[str, Any]:
        """Give a line of the journal."""
        return {**asdict(self), "bad_places": list(self.bad_places)}

    def as_source(self) -> dict[str, Any]:
        """Give what the table says of it."""
        return {
            "name": self.name,
            "sha256": self.sha256,
            "n_bytes": self.n_bytes,
            "n_documents": self.n_documents,
        }


def stamp(path: Path | Url) -> Stamp:
    """Give what tells whether a file is still the same.

    Times of change of its contents and of its inode: the second cannot be set.

    Raises:
        OSError: The file is gone.
    """
    if isinstance(path, Url):
        return Stamp(*url_stamp(path.text))
    if path == STDIN or not path.is_file():
        return Stamp(None, "")
    status = path.stat()
    return Stamp(status.st_size, f"{status.st_mtime_ns} {status.st_ctime_ns}")


def is_unchanged(path: Path | Url, counted: CountedInput) -> bool:
    """Tell whether a file is what it was when it was counted.

    Equal size and times say so; where the times differ, as in a copy, its contents do.

    Raises:
        OSError: The file is gone.
    """
    now = stamp(path)
    if str(path) != counted.name or now.size != counted.size or now.size is None:
        return False
    if now.changed == counted.changed:
        return True
    return isinstance(path, Path) and file_sha256(path) == counted.sha256


class Digest:
    """The SHA-256 of a file while it is counted."""

    def __init__(self, path: Path | Url) -> None:
        """Begin; a local file is read in a thread, a remote one is given block by block."""
        self._sha256 = hashlib.sha256()
        self._n_bytes = 0
        self._error: OSError | None = None
        self._stopped = threading.Event()
        self._is_remote = isinstance(path, Url)
        self._thread: threading.Thread | None = None
        if isinstance(path, Path) and path != STDIN and path.is_file():
            self._thread = threading.Thread(target=self._read, args=(path,), daemon=True)
            self._thread.start()

    def update(self, block: bytes) -> None:
        """Take a block of a remote file."""
        self._sha256.update(block)
        self._n_bytes += len(block)

    def finish(self) -> str | None:
        """Give the digest in hexadecimal; None for what is not read from front to end.

        Raises:
            OSError: The file could not be read.
        """
        if self._thread is not None:
            self._thread.join()
            if self._error is not None:
                raise self._error
            return self._sha256.hexdigest()
        return self._sha256.hexdigest() if self._n_bytes else None

    def stop(self) -> None:
        """End the reading."""
        self._stopped.set()
        if self._thread is not None:
            self._thread.join()

    def _read(self, path: Path) -> None:
        try:
            with path.open("rb", buffering=0) as file:
                while not self._stopped.is_set() and (block := file.read(_BLOCK_BYTES)):
                    self._sha256.update(block)
        except OSError as error:
            self._error = error


@contextmanager
def digest(path: Path | Url) -> Iterator[Digest]:
    """Take the SHA-256 of a file while something else reads it."""
    taken = Digest(path)
    try:
        yield taken
    finally:
        taken.stop()

"""Records of long runs: what is done, and whether the same run goes on.

A journal is JSON Lines: the first line says which run it belongs to, each further line is one
finished step, on the disk before the next begins. A line that a kill cut short was never written.
"""

import hashlib
import json
import os
import time
from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Final

from subword.atomic_write import sync_folder, whole_file
from subword.errors import ResumeError, SourceError

__all__ = [
    "Journal",
    "canonical_json",
    "check_same_run",
    "file_sha256",
    "journal_records",
    "json_sha256",
    "read_manifest",
    "write_manifest",
]

_BLOCK: Final = 1 << 20
_POLL_SECONDS: Final = 0.05


def canonical_json(value: object) -> bytes:
    """Give JSON that is the same bytes for the same value: sorted keys, no spaces, ASCII."""
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode("ascii")


def json_sha256(value: object) -> str:
    """Give the SHA-256 of a value's canonical JSON, in hexadecimal."""
    return hashlib.sha256(canonical_json(value)).hexdigest()


def file_sha256(path: str | PathLike[str]) -> str:
    """Give the SHA-256 of a file as it is stored, in hexadecimal.

    Raises:
        SourceError: The file cannot be read.
    """
    digest = hashlib.sha256()
    try:
        with Path(path).open("rb", buffering=0) as file:
            while block := file.read(_BLOCK):
                digest.update(block)
    except OSError as error:
        raise SourceError(error.errno, error.strerror, os.fspath(path)) from error
    return digest.hexdigest()


def check_same_run(
    place: str | PathLike[str], found: Mapping[str, Any], wanted: Mapping[str, Any]
) -> None:
    """Refuse to go on where what is recorded is another run than the one that was asked for.

    Args:
        place: Where the record was found.
        found: What it says.
        wanted: What the present call would write.

    Raises:
        ResumeError: They differ; the message names the first difference.

    Examples:
        >>> check_same_run("out", {"format": "npy"}, {"format": "mds"})
        Traceback (most recent call last):
        ...
        subword.errors.ResumeError: out holds another run: its format was "npy" and is now "mds"; \
give the same input, tokenizer and options to go on, or another directory to start anew
    """
    difference = _difference(found, wanted, "")
    if difference is not None:
        raise ResumeError(
            f"{os.fspath(place)} holds another run: its {difference}; give the same input, "
            "tokenizer and options to go on, or another directory to start anew"
        )


def write_manifest(path: str | PathLike[str], value: Mapping[str, Any]) -> None:
    """Write a record as JSON for people and programs, whole or not at all.

    Raises:
        OSError: The file cannot be written.
    """
    with whole_file(path) as file:
        file.write(json.dumps(value, indent=1).encode("ascii") + b"\n")


def read_manifest(path: str | PathLike[str]) -> dict[str, Any]:
    """Read what ``write_manifest`` wrote.

    Raises:
        ResumeError: It is no JSON object.
        SourceError: It cannot be read.
    """
    try:
        value = json.loads(Path(path).read_bytes())
    except OSError as error:
        raise SourceError(error.errno, error.strerror, os.fspath(path)) from error
    except (ValueError, RecursionError) as error:
        raise ResumeError(f"{os.fspath(path)} is no manifest: {error}") from error
    if not isinstance(value, dict):
        raise ResumeError(f"{os.fspath(path)} is no manifest: expected a JSON object")
    return value


def journal_records(path: str | PathLike[str]) -> list[dict[str, Any]]:
    """Give the finished steps of a journal that another process may have open.

    Raises:
        ResumeError: It is damaged.
        OSError: It cannot be read.
    """
    with Path(path).open("rb") as file:
        return _whole_lines(Path(path), file)[0][1:]


class Journal:
    """An append-only list of finished steps that outlives the process.

    One process at a time has a journal open; where files can be locked, a second is refused.

    Attributes:
        records: The finished steps, those of earlier processes first.
    """

    def __init__(
        self, path: str | PathLike[str], run: Mapping[str, Any], *, wait_seconds: float = 0
    ) -> None:
        """Open the journal of a run, or begin it.

        Args:
            path: The file; its folder exists.
            run: What the run is: everything that its output depends on, as JSON.
            wait_seconds: How long to wait for another process that has it open.

        Raises:
            ResumeError: The file holds another run, is damaged, or is in use.
            OSError: It cannot be written.
        """
        self._path = Path(path)
        self.records: list[dict[str, Any]] = []
        self._file: BinaryIO = self._path.open("a+b", buffering=0)
        try:
            self._lock(time.monotonic() + wait_seconds)
            self._open(json.loads(canonical_json(run)))
        except BaseException:
            self._file.close()
            raise

    def append(self, record: Mapping[str, Any]) -> None:
        """Add a step; it is on the disk when this returns.

        Raises:
            OSError: It cannot be written; what part of it was written is taken back.
        """
        self._write(record)
        self.records.append(json.loads(canonical_json(record)))

    def close(self) -> None:
        """Let another process open the journal."""
        self._file.close()

    def __enter__(self) -> "Journal":
        """Give the journal."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Close the journal."""
        self.close()

    def _open(self, run: dict[str, Any]) -> None:
        lines, end = _whole_lines(self._path, self._file)
        self._file.truncate(end)
        if not lines:
            self._write(run)
            sync_folder(self._path.parent)
            return
        check_same_run(self._path, lines[0], run)
        self.records = lines[1:]

    def _write(self, record: Mapping[str, Any]) -> None:
        end = os.fstat(self._file.fileno()).st_size
        line = canonical_json(record) + b"\n"
        try:
            n_written = self._file.write(line)
            while n_written < len(line):
                n_written += self._file.write(line[n_written:])
            os.fsync(self._file.fileno())
        except BaseException:
            self._file.truncate(end)
            raise

    def _lock(self, deadline: float) -> None:
        try:
            import fcntl  # Windows has none
        except ImportError:
            return
        while True:
            try:
                fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                if time.monotonic() >= deadline:
                    raise ResumeError(
                        f"{self._path} is in use by another process that does the same work; wait "
                        "for it or end it"
                    ) from error
                time.sleep(_POLL_SECONDS)
            except OSError:
                # A file system without locks: two processes do the same work twice, no harm else.
                return
            else:
                return


def _whole_lines(path: Path, file: BinaryIO) -> tuple[list[dict[str, Any]], int]:
    """Give the records that were written whole, and where the last of them ends."""
    file.seek(0)
    data = file.read()
    end = data.rfind(b"\n") + 1
    records = []
    for number, line in enumerate(data[:end].splitlines(), start=1):
        try:
            record = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise ResumeError(f"{path}:{number}: the journal is damaged: {error}") from error
        if not isinstance(record, dict):
            raise ResumeError(f"{path}:{number}: the journal is damaged: expected a JSON object")
        records.append(record)
    return records, end


def _difference(found: object, wanted: object, name: str) -> str | None:
    """Say where two JSON values differ first; None where they do not."""
    if isinstance(found, Mapping) and isinstance(wanted, Mapping):
        for key in [*wanted, *(key for key in found if key not in wanted)]:
            inner = f"{name}.{key}" if name else str(key)
            difference = _difference(found.get(key), wanted.get(key), inner)
            if difference is not None:
                return difference
        return None
    if isinstance(found, list) and isinstance(wanted, list) and len(found) == len(wanted):
        for at, (one, other) in enumerate(zip(found, wanted, strict=True)):
            difference = _difference(one, other, f"{name}[{at}]")
            if difference is not None:
                return difference
        return None
    if found == wanted and type(found) is type(wanted):
        return None
    return f"{name} was {_shown(found)} and is now {_shown(wanted)}"


def _shown(value: object) -> str:
    if isinstance(value, list):
        return f"a list of {len(value)}"
    quoted = json.dumps(value, default=str)
    return quoted if len(quoted) <= 80 else f"{quoted[:79]}…"

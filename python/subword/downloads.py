"""Corpora of Stanford CS336, fetched with resume and checked.

What has arrived is kept in ``NAME.part``, so that a dropped connection, or the next call after a
kill, goes on behind it. Compressed files are unpacked while they arrive. A file has its name only
when its size and SHA-256 are right.

Source: the data of CS336, assignment 1 (spring 2025): the data sets roneneldan/TinyStories and
stanford-cs336/owt-sample of the Hugging Face Hub; sizes and digests are of the unpacked files.
"""

import errno
import hashlib
import http.client
import os
import time
import urllib.error
import urllib.request
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any, BinaryIO, Final, Literal, get_args

from subword.errors import ArgumentError, CorpusError, SourceError, SourceNotFoundError

__all__ = ["DataSet", "RemoteFile", "download", "fetch"]

DataSet = Literal["tinystories", "owt-sample"]

_BLOCK_BYTES: Final = 1 << 18
_TIMEOUT_SECONDS: Final = 60
_MOST_FAILURES: Final = 6
"""Tries that end without a new byte, one after another, before giving up."""

Report = Callable[[int, int | None], object]


@dataclass(frozen=True, slots=True)
class RemoteFile:
    """A file to fetch.

    Attributes:
        name: Its name once it is here, unpacked.
        stored: Its name there; one that ends in ``.gz`` is unpacked on the way.
        n_bytes: Its size here; None where it is not known.
        sha256: Of the file here, in hexadecimal; None where it is not known.
    """

    name: str
    stored: str
    n_bytes: int | None = None
    sha256: str | None = None


_HUB: Final = "https://huggingface.co/datasets"
_SETS: Final[dict[str, tuple[str, tuple[RemoteFile, ...]]]] = {
    "tinystories": (
        f"{_HUB}/roneneldan/TinyStories/resolve/main",
        (
            RemoteFile(
                "TinyStoriesV2-GPT4-train.txt",
                "TinyStoriesV2-GPT4-train.txt",
                2_227_753_162,
                "6418d412de72888f52b5142c761ac21a582f7d1166f0bfbdb5f03ccfdec90443",
            ),
            RemoteFile(
                "TinyStoriesV2-GPT4-valid.txt",
                "TinyStoriesV2-GPT4-valid.txt",
                22_502_601,
                "6874bae9a4c1a4e7edcf0e53b86c17817e9cf881fc75ff2368da457b80c0585d",
            ),
        ),
    ),
    "owt-sample": (
        f"{_HUB}/stanford-cs336/owt-sample/resolve/main",
        (
            RemoteFile(
                "owt_train.txt",
                "owt_train.txt.gz",
                11_920_511_059,
                "bbeb7f291a981ecfd5cf44b84d0f654b9e96c53dff99f2556b7d2cccaf8c1918",
            ),
            RemoteFile(
                "owt_valid.txt",
                "owt_valid.txt.gz",
                289_998_753,
                "2406f278e71829d273b315e9b403285baea7022b26a96d2728dd8b776ea40660",
            ),
        ),
    ),
}


def download(
    name: DataSet,
    folder: str | PathLike[str] = "data",
    *,
    base_url: str | None = None,
    progress: Callable[[str, int, int | None], object] | None = None,
) -> list[Path]:
    """Fetch the files of a data set that are not there yet.

    Args:
        name: ``"tinystories"`` or ``"owt-sample"``.
        folder: Where they go; made if need be.
        base_url: A mirror: the URL before the names of the files.
        progress: Called with a file's name, its bytes that have arrived, as they are stored there,
            and all of them, where that is known.

    Returns:
        The files.

    Raises:
        ArgumentError: Another name, or a URL that is not http or https.
        SourceError: The server cannot be reached, or keeps failing.
        SourceNotFoundError: The server does not have a file.
        CorpusError: A file that has not the size or the digest that it should have.
        OSError: A file cannot be written.
    """
    if name not in get_args(DataSet):
        raise ArgumentError(f"there is no data set {name!r:.40}; there are {', '.join(_SETS)}")
    default_url, files = _SETS[name]
    base = (base_url or default_url).rstrip("/")
    Path(folder).mkdir(parents=True, exist_ok=True)

    def report(file: RemoteFile) -> Report | None:
        return None if progress is None else lambda done, total: progress(file.stored, done, total)

    return [fetch(f"{base}/{it.stored}", Path(folder), it, progress=report(it)) for it in files]


def fetch(
    url: str,
    folder: Path,
    file: RemoteFile,
    *,
    progress: Report | None = None,
    wait_seconds: float = 1.0,
) -> Path:
    """Fetch one file, unless it is there.

    Args:
        url: Where it is.
        folder: Where it goes.
        file: What it is.
        progress: Called with the bytes that have arrived, and all of them where that is known.
        wait_seconds: How long to wait after a first failure; twice as long after each next one.

    Returns:
        The file.

    Raises:
        SubwordError: As ``download``.
        OSError: As ``download``.
    """
    if not url.startswith(("http://", "https://")):
        raise ArgumentError(f"{url:.80} is no http or https URL")
    target = folder / file.name
    if target.is_file() and (file.n_bytes is None or target.stat().st_size == file.n_bytes):
        return target
    part = folder / f"{file.stored}.part"
    unpacked = folder / f"{file.name}.part"
    is_packed = file.stored.endswith(".gz")
    with part.open("a+b") as stored:
        sink = _Sink(file, unpacked.open("wb") if is_packed else None)
        try:
            _replay(stored, sink)
            for block in _blocks(url, stored, sink, progress, wait_seconds):
                stored.write(block)
                sink.take(block)
            stored.flush()
            os.fsync(stored.fileno())
            sink.finish()
        except CorpusError:
            # What has arrived is wrong, so nothing can go on behind it.
            sink.close()
            _remove(part, unpacked if is_packed else None, _etag_path(part))
            raise
        finally:
            sink.close()
    (unpacked if is_packed else part).replace(target)
    _remove(part if is_packed else None, _etag_path(part))
    return target


class _Sink:
    """What is done with the bytes that arrive: unpacked, counted, digested."""

    def __init__(self, file: RemoteFile, output: BinaryIO | None) -> None:
        self._file, self._output = file, output
        self.restart()

    def restart(self) -> None:
        self._sha256, self._n_bytes = hashlib.sha256(), 0
        self._unpacker = zlib.decompressobj(wbits=31)
        if self._output is not None:
            self._output.seek(0)
            self._output.truncate()

    def take(self, block: bytes) -> None:
        if self._output is None:
            self._add(block)
            return
        try:
            while block:
                # A little at a time: a small block can unpack to a thousand times its size.
                text = self._unpacker.decompress(block, _BLOCK_BYTES)
                self._add(text)
                self._output.write(text)
                block = self._unpacker.unconsumed_tail
                if self._unpacker.eof:
                    block = self._unpacker.unused_data
                    self._unpacker = zlib.decompressobj(wbits=31)
        except zlib.error as error:
            raise CorpusError(
                f"{self._file.stored}: the gzip stream is damaged: {error}"
            ) from error

    def _add(self, text: bytes) -> None:
        self._sha256.update(text)
        self._n_bytes += len(text)
        limit = self._file.n_bytes
        if limit is not None and self._n_bytes > limit:
            raise CorpusError(
                f"{self._file.name} has more than the {limit} bytes that it should have"
            )

    def finish(self) -> None:
        file = self._file
        if self._output is not None:
            self._output.flush()
            os.fsync(self._output.fileno())
        if file.n_bytes is not None and self._n_bytes != file.n_bytes:
            raise CorpusError(
                f"{file.name} has {self._n_bytes} bytes where it should have {file.n_bytes}; "
                "what arrived is removed: fetch it again"
            )
        if file.sha256 is not None and self._sha256.hexdigest() != file.sha256:
            raise CorpusError(
                f"{file.name} has the SHA-256 {self._sha256.hexdigest()} where it should have "
                f"{file.sha256}; what arrived is removed: fetch it again"
            )

    def close(self) -> None:
        if self._output is not None:
            self._output.close()


def _replay(stored: BinaryIO, sink: _Sink) -> None:
    """Take what an earlier call fetched."""
    stored.seek(0)
    while block := stored.read(_BLOCK_BYTES):
        sink.take(block)


def _blocks(
    url: str, stored: BinaryIO, sink: _Sink, progress: Report | None, wait_seconds: float
) -> Iterator[bytes]:
    """Give what is missing, through as many connections as it takes."""
    n_failures = 0
    done = stored.seek(0, os.SEEK_END)
    while True:
        before = done
        try:
            with _opened(url, stored, done) as (response, start, total):
                if start != done:
                    stored.truncate(0)
                    sink.restart()
                    done = before = start
                while block := response.read(_BLOCK_BYTES):
                    yield block
                    done += len(block)
                    if progress is not None:
                        progress(done, total)
                if total is None or done >= total:
                    return
                failure: Exception = ConnectionError(f"it ended at byte {done} of {total}")
        except (
            urllib.error.URLError,
            http.client.HTTPException,
            ConnectionError,
            TimeoutError,
        ) as error:
            failure = _checked_failure(url, error)
        n_failures = n_failures + 1 if done == before else 1
        if n_failures >= _MOST_FAILURES:
            raise SourceError(
                errno.EIO,
                f"cannot be fetched after {n_failures} tries: {failure}; what has arrived is kept",
                url,
            ) from failure
        time.sleep(wait_seconds * 2 ** (n_failures - 1))


class _opened:  # noqa: N801  # used as a function in a with statement
    """A response that goes on from a byte, or begins anew if the server or the file wants it."""

    def __init__(self, url: str, stored: BinaryIO, start: int) -> None:
        self._url, self._stored, self._start = url, stored, start

    def __enter__(self) -> tuple[Any, int, int | None]:
        headers = {"User-Agent": "subword", "Accept-Encoding": "identity"}
        etag = _etag_path(Path(self._stored.name))
        if self._start:
            headers["Range"] = f"bytes={self._start}-"
            if etag.is_file():
                headers["If-Range"] = etag.read_text("latin-1")
        request = urllib.request.Request(self._url, headers=headers)  # noqa: S310  # checked
        try:
            self._response = urllib.request.urlopen(request, timeout=_TIMEOUT_SECONDS)  # noqa: S310
        except urllib.error.HTTPError as error:
            if error.code != 416 or not self._start:
                raise
            # There is nothing behind what has arrived: it is whole, and will be checked.
            self._response = error
            return _Nothing(), self._start, self._start
        start = self._start if self._response.status == 206 else 0
        if self._response.status == 206:
            given = self._response.headers.get("Content-Range", "")
            if not given.startswith(f"bytes {start}-"):
                raise ConnectionError(f"the server gave {given!r:.60}, not the bytes from {start}")
        length = self._response.headers.get("Content-Length")
        tag = self._response.headers.get("ETag", "")
        if tag and not tag.startswith("W/"):
            etag.write_text(tag, "latin-1")
        total = start + int(length) if length and length.isdigit() else None
        return self._response, start, total

    def __exit__(self, *_: object) -> None:
        self._response.close()


class _Nothing:
    def read(self, _n_bytes: int) -> bytes:
        return b""


def _checked_failure(url: str, error: Exception) -> Exception:
    """Give a failure that may pass; one that will not is raised."""
    code = getattr(error, "code", None)
    if code in (404, 410):
        raise SourceNotFoundError(errno.ENOENT, f"the server has no such file ({code})", url)
    if isinstance(code, int) and 400 <= code < 500 and code not in (408, 425, 429):
        raise SourceError(errno.EACCES, f"the server refuses: {code} {error}", url)
    return error


def _etag_path(part: Path) -> Path:
    return part.with_name(f"{part.name}.etag")


def _remove(*paths: Path | None) -> None:
    for path in paths:
        if path is not None:
            path.unlink(missing_ok=True)

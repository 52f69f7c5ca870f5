"""Files behind URLs, through fsspec: listed, opened, and read as a pipe.

The kernels read descriptors. A thread copies the remote file into a pipe and they read that, so a
remote text takes the same path as a local one, decompressed and cut without a string of Python.
"""

import errno
import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from subword.errors import (
    CorpusError,
    PatternError,
    SourceError,
    SourceNotFoundError,
    SpecialTokenInTextError,
    TextError,
)
from subword.types import require_extra

__all__ = ["Pipe", "expand_url", "open_url", "piped", "url_stamp"]

_BLOCK_BYTES = 1 << 20


def expand_url(url: str) -> list[str]:
    """Give the files that a URL or a glob of URLs stands for, in sorted order.

    Raises:
        MissingExtraError: fsspec, or what it needs for the protocol, is not installed.
        SourceNotFoundError: There is none.
        SourceError: They cannot be listed.
    """
    system, path = _system(url)
    with _refused(url):
        if any(character in path for character in "*?["):
            found = sorted(name for name in system.glob(path) if not system.isdir(name))
            if not found:
                raise SourceNotFoundError(errno.ENOENT, "no file matches this glob", url)
            return [str(system.unstrip_protocol(name)) for name in found]
        if not system.exists(path):
            raise SourceNotFoundError(errno.ENOENT, "no such file", url)
        if system.isdir(path):
            raise SourceError(
                errno.EISDIR, "a folder; for all files in it pass the glob that ends in /*", url
            )
    return [url]


def open_url(url: str) -> Any:
    """Open a file for reading at any place.

    Raises:
        SourceError: It cannot be opened.
    """
    system, path = _system(url)
    with _refused(url):
        return system.open(path, "rb")


def url_stamp(url: str) -> tuple[int | None, str]:
    """Give a file's size, where it is known, and what changes when the file does.

    Raises:
        SourceError: It cannot be asked for.
    """
    system, path = _system(url)
    with _refused(url):
        return system.info(path).get("size"), str(system.ukey(path))


class Pipe:
    """The reading end of a copy that goes on in a thread.

    Attributes:
        path: What to open to read it.
    """

    def __init__(self, url: str, observe: Callable[[bytes], object] | None = None) -> None:
        """Begin to copy; ``observe`` is given every block, in the thread."""
        self._url, self._observe = url, observe
        self._source = open_url(url)
        self._reading, self._writing = os.pipe()
        self.path = Path(f"/dev/fd/{self._reading}")
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._copy, daemon=True)
        self._thread.start()

    def check(self) -> None:
        """Refuse what was read if the copy ended before its source did.

        Raises:
            SourceError: The source could not be read to its end.
        """
        self._thread.join()
        if self._error is not None:
            raise SourceError(
                errno.EIO, f"cannot be read to its end: {self._error}", self._url
            ) from self._error

    def close(self) -> None:
        """End the copy."""
        os.close(self._reading)
        self._thread.join()

    def _copy(self) -> None:
        try:
            with self._source as source:
                while block := source.read(_BLOCK_BYTES):
                    if self._observe is not None:
                        self._observe(block)
                    view = memoryview(block)
                    while view:
                        view = view[os.write(self._writing, view) :]
        except BrokenPipeError:
            pass  # The reader had enough.
        except BaseException as error:  # noqa: BLE001  # `check` raises it in the caller's thread
            self._error = error
        finally:
            os.close(self._writing)


@contextmanager
def piped(url: str, observe: Callable[[bytes], object] | None = None) -> Iterator[Pipe]:
    """Copy a remote file into a pipe as long as it is read.

    What is read is good only after ``Pipe.check``. Errors name the URL, not the pipe.

    Raises:
        SourceError: It cannot be opened; or there are no pipes with names on this system.
    """
    if sys.platform == "win32":
        raise SourceError(errno.ENOSYS, "URLs are read on Unix alone; download the file", url)
    pipe = Pipe(url, observe)
    try:
        yield pipe
    except (CorpusError, TextError, SpecialTokenInTextError, PatternError) as error:
        # A source that fails looks like a stream that ends early: its own error comes first.
        if pipe._error is not None:
            pipe.check()
        raise type(error)(str(error).replace(str(pipe.path), url)) from error
    finally:
        with suppress(OSError):
            pipe.close()


def _system(url: str) -> tuple[Any, str]:
    fsspec = require_extra("fsspec", "remote")
    try:
        system, path = fsspec.core.url_to_fs(url)
    except (ImportError, ValueError) as error:
        raise SourceError(errno.ENOTSUP, f"fsspec cannot open it: {error}", url) from error
    return system, path


@contextmanager
def _refused(url: str) -> Iterator[None]:
    """Give the errors of a file system as ours; each library raises its own kinds."""
    try:
        yield
    except (SourceError, MemoryError):
        raise
    except FileNotFoundError as error:
        raise SourceNotFoundError(errno.ENOENT, "no such file", url) from error
    except Exception as error:
        raise SourceError(errno.EIO, f"cannot be read: {error}", url) from error

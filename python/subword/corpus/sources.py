"""Paths, globs, URLs and iterables: files or documents, checked before any work starts.

A ``str`` or ``Path`` is a path or glob, a ``str`` with ``://`` is a URL, an iterable of ``Path`` is
files, and any other iterable of ``str``, ``bytes`` or mappings is documents.
"""

import errno
import glob
import itertools
import os
import re
import stat
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from subword.corpus.remote import expand_url
from subword.errors import (
    ArgumentError,
    SourceError,
    SourceIsDirectoryError,
    SourceNotFoundError,
)
from subword.types import Sources

__all__ = ["STDIN", "Documents", "Files", "Url", "resolve_sources", "shown"]

_URL: Final = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]+://")

STDIN: Final = Path("/dev/stdin")
"""The standard input as a source; the reader knows it on every system."""


Document = str | bytes | Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Url(os.PathLike[str]):
    """A file behind a URL, which fsspec opens.

    Attributes:
        text: The URL.
    """

    text: str

    def __fspath__(self) -> str:
        """Give the URL, as a path has to."""
        return self.text

    def __str__(self) -> str:
        """Give the URL."""
        return self.text

    @property
    def name(self) -> str:
        """What follows the last slash."""
        return self.text.rpartition("/")[2]


@dataclass(frozen=True, slots=True)
class Files:
    """Sources that are files.

    Attributes:
        paths: The files in reading order: a glob's sorted, a list's as given.
    """

    paths: tuple[Path | Url, ...]


@dataclass(frozen=True, slots=True)
class Documents:
    """Sources that are documents already.

    Attributes:
        items: The documents in order. A list or tuple is held as it is, checked; of anything
            else each item is checked as it is taken, and it can be gone through once. An item is
            a ``str`` or ``bytes``, or a mapping of which one field is the text.
    """

    items: Iterable[Document]


def resolve_sources(sources: Sources, *, stdin: bool = False) -> Files | Documents:
    """Tell files from documents, and check every file before any work starts.

    An existing path is that file, whatever glob characters its name has; otherwise a path with
    glob characters stands for the files it matches, in sorted order, ``**`` for folders at any
    depth, hidden files left out. A list of ``Path`` is taken as files alone. An iterable is
    peeked at: its first item decides, and an empty one is no documents. A URL is opened by fsspec;
    it may be a glob too.

    Args:
        sources: A path, glob or URL, an iterable of ``Path``, or an iterable of ``str``, ``bytes``
            or mappings (such as a Hugging Face dataset).
        stdin: Whether ``"-"`` is the standard input, as on the command line, not a file's name.

    Returns:
        The files, or the documents.

    Raises:
        SourceNotFoundError: A path with nothing there, or a glob without a match.
        SourceIsDirectoryError: A path that is a directory.
        SourceError: A file that cannot be opened.
        ArgumentError: Sources or an item of a wrong type, with its index.
        MissingExtraError: A URL, and fsspec is not installed.

    Examples:
        >>> resolve_sources(["one document", "another"])
        Documents(items=['one document', 'another'])
    """
    if isinstance(sources, (str, os.PathLike)):
        return Files(_expand(sources, stdin=stdin))
    if isinstance(sources, (bytes, bytearray, memoryview)):
        raise ArgumentError(
            f"sources is a bare {type(sources).__name__}; for one document pass [bytes(text)], "
            f"for a file pass its path as a str or Path"
        )
    if not isinstance(sources, Iterable):
        raise ArgumentError(
            f"sources is {shown(sources)}; expected a path or glob, an iterable of Path, or an "
            f"iterable of documents (str or bytes)"
        )
    iterator = iter(sources)
    first = list(itertools.islice(iterator, 1))
    if not first:
        return Documents(())
    if isinstance(first[0], os.PathLike):
        return Files(tuple(_checked_paths(itertools.chain(first, iterator))))
    if isinstance(sources, (list, tuple)):
        for _ in _checked_texts(sources):
            pass
        return Documents(sources)
    _check_text(0, first[0])
    return Documents(_checked_texts(itertools.chain(first, iterator)))


def _expand(source: str | os.PathLike[str], *, stdin: bool) -> tuple[Path | Url, ...]:
    """Give the file at a path, or the files of a glob or URL."""
    if isinstance(source, Url) or (isinstance(source, str) and _URL.match(source)):
        return tuple(map(Url, expand_url(str(source))))
    name = os.fsdecode(source)
    if stdin and name == "-":
        return (STDIN,)
    try:
        _check_file(name)
    except SourceNotFoundError:
        if not glob.has_magic(name):
            raise
        return _matches(name)
    return (Path(name),)


def _matches(pattern: str) -> tuple[Path, ...]:
    found = sorted(glob.glob(pattern, recursive=True))  # noqa: PTH207  # keeps hidden files out
    names = [name for name in found if not Path(name).is_dir()]
    if not names:
        raise SourceNotFoundError(
            errno.ENOENT,
            f"no file matches this glob ({len(found)} directories do); in it * stays in one "
            f"folder and ** goes into all below",
            pattern,
        )
    for name in names:
        _check_file(name)
    return tuple(Path(name) for name in names)


def _checked_paths(items: Iterable[object]) -> Iterator[Path | Url]:
    for index, item in enumerate(items):
        if not isinstance(item, os.PathLike):
            raise ArgumentError(
                f"sources[{index}] is {shown(item)} after paths; expected all to be Path (files), "
                f"or all str or bytes (documents)"
            )
        if isinstance(item, Url):
            yield from map(Url, expand_url(item.text))
            continue
        name = os.fsdecode(item)
        _check_file(name)
        yield Path(name)


def _check_file(name: str) -> None:
    """Refuse what is not a file, or cannot be opened; pipes and devices are not opened."""
    try:
        is_stdin = Path(name) == STDIN and bool(name)
        mode = (os.fstat(0) if is_stdin else os.stat(name)).st_mode  # noqa: PTH116  # "" is no path
        if stat.S_ISREG(mode) and not is_stdin:
            os.close(os.open(name, os.O_RDONLY))
    except OSError as error:
        raise _refusal(error, name) from error
    except ValueError as error:
        raise SourceNotFoundError(errno.ENOENT, f"no path ({error})", name) from error
    if stat.S_ISDIR(mode):
        raise SourceIsDirectoryError(
            errno.EISDIR,
            "a directory, where a file or glob was expected; for all files below it pass the glob "
            "that ends in /**",
            name,
        )


def _refusal(error: OSError, name: str) -> SourceError:
    number = error.errno if error.errno is not None else errno.EIO
    if number in (errno.ENOENT, errno.ENOTDIR):
        return SourceNotFoundError(
            number, "no such file; a str is a path, and for a document pass [text]", name
        )
    if number == errno.ENAMETOOLONG:
        return SourceError(number, "too long for a path; for a document pass [text]", name)
    return SourceError(number, f"cannot be read: {os.strerror(number)}", name)


def _checked_texts(items: Iterable[object]) -> Iterator[Document]:
    for index, item in enumerate(items):
        yield _check_text(index, item)


def _check_text(index: int, item: object) -> Document:
    if isinstance(item, (str, bytes, Mapping)):
        return item
    ways_on = (
        "expected all to be Path (files), or all str or bytes (documents)"
        if isinstance(item, os.PathLike)
        else "expected a document (str or bytes) or a Path"
    )
    raise ArgumentError(f"sources[{index}] is {shown(item)}; {ways_on}")


def shown(value: object) -> str:
    """Quote a value with its type, cut to 40 characters."""
    quoted = repr(value)
    return f"{type(value).__name__} {quoted if len(quoted) <= 40 else quoted[:39] + '…'}"

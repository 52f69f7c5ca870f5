"""Sources → documents, in a fixed order.

A ``str`` or ``Path`` is a path or glob, an iterable of ``Path`` is files, and any other iterable of
``str`` or ``bytes`` is documents. Files are plain, gzip or zstd (told by their first bytes, not by
their name), are read in blocks, and their bytes are not decoded: what is not UTF-8 passes through.
"""

import errno
import glob
import itertools
import os
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from subword import _core
from subword.errors import (
    ArgumentError,
    SourceError,
    SourceIsDirectoryError,
    SourceNotFoundError,
    SpecialTokenError,
    TextError,
)
from subword.types import Sources, SpecialTokens, TextLike

__all__ = [
    "STDIN",
    "Documents",
    "Files",
    "document_cut",
    "read_documents",
    "resolve_sources",
]

STDIN: Final = Path("/dev/stdin")
"""The standard input as a source; the reader knows it on every system."""


@dataclass(frozen=True, slots=True)
class Files:
    """Sources that are files.

    Attributes:
        paths: The files in reading order: a glob's sorted, a list's as given.
    """

    paths: tuple[Path, ...]


@dataclass(frozen=True, slots=True)
class Documents:
    """Sources that are documents already.

    Attributes:
        items: The documents in order. A list or tuple is held as it is, checked; of anything
            else each item is checked as it is taken, and it can be gone through once.
    """

    items: Iterable[TextLike]


def resolve_sources(sources: Sources, *, stdin: bool = False) -> Files | Documents:
    """Tell files from documents, and check every file before any work starts.

    An existing path is that file, whatever glob characters its name has; otherwise a path with
    glob characters stands for the files it matches, in sorted order, ``**`` for folders at any
    depth, hidden files left out. A list of ``Path`` is taken as files alone. An iterable is
    peeked at: its first item decides, and an empty one is no documents.

    Args:
        sources: A path or glob, an iterable of ``Path``, or an iterable of ``str`` or ``bytes``.
        stdin: Whether ``"-"`` is the standard input, as on the command line, not a file's name.

    Returns:
        The files, or the documents.

    Raises:
        SourceNotFoundError: A path with nothing there, or a glob without a match.
        SourceIsDirectoryError: A path that is a directory.
        SourceError: A file that cannot be opened.
        ArgumentError: Sources or an item of a wrong type, with its index.

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
            f"sources is {_shown(sources)}; expected a path or glob, an iterable of Path, or an "
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


def document_cut(documents: str | bytes | None, special_tokens: SpecialTokens = ()) -> str | bytes:
    r"""Say how files are cut, in the form that the compiled reader takes.

    Args:
        documents: ``"file"``, ``"line"``, or a separator; as bytes it is always a separator.
            ``None`` cuts at the first special token where there is one, else not.
        special_tokens: The reserved strings, of which the first may be the separator.

    Returns:
        ``"file"``, ``"line"``, or the separator's bytes.

    Raises:
        ArgumentError: An empty separator, or one that is not text.
        SpecialTokenError: A first special token that is empty, or a bare ``str`` of them.
        TextError: A separator with a lone surrogate.

    Examples:
        >>> document_cut(None), document_cut(None, ["<|endoftext|>"]), document_cut("\n\n")
        ('file', b'<|endoftext|>', b'\n\n')
    """
    if documents is None:
        return _separator_of(special_tokens)
    if isinstance(documents, str):
        documents = documents if documents in ("file", "line") else _encoded(documents)
    if not isinstance(documents, (str, bytes)) or not documents:
        raise ArgumentError(
            f"documents is {_shown(documents)}; expected 'file', 'line', or a separator that is "
            f"not empty"
        )
    return documents


def read_documents(
    sources: Sources,
    *,
    documents: str | bytes | None = None,
    special_tokens: SpecialTokens = (),
) -> Iterator[TextLike]:
    r"""Give the documents of sources one by one.

    A document never holds what separated it from the next. A line ends at ``"\n"``, and a
    ``"\r"`` before it belongs to the line end; an empty line is an empty document, but no
    document follows the last line end or separator of a file. An empty file is one empty
    document as a file, and none when cut.

    Memory holds one document and a block of 1 MiB. What can be checked is checked by the call
    itself; a damaged file is found when its place is reached.

    Args:
        sources: What ``resolve_sources`` takes.
        documents: How files are cut, as ``document_cut`` takes it.
        special_tokens: Reserved strings; the first is the separator when ``documents`` is not
            given. Only files are cut at it.

    Returns:
        Bytes for each document of a file; the items themselves of an iterable of documents.

    Raises:
        ArgumentError: Arguments that ``resolve_sources`` or ``document_cut`` refuses, or a cut
            by line or separator for sources that are documents already.
        SourceError: A file that cannot be opened or read; see ``resolve_sources``.
        CorpusError: A compressed file that is truncated or damaged, with its path and the
            offset in the decompressed text.

    Examples:
        >>> list(read_documents(iter(["one", b"two"])))
        ['one', b'two']
    """
    cut = document_cut(documents, special_tokens)
    resolved = resolve_sources(sources)
    if isinstance(resolved, Files):
        return iter(_core.DocumentReader(list(resolved.paths), cut))
    if documents is not None and cut != "file":
        raise ArgumentError(
            f"documents is {documents!r}, which cuts files, but the sources are documents "
            f"already; pass paths, or cut the texts before the call"
        )
    return iter(resolved.items)


def _expand(source: str | os.PathLike[str], *, stdin: bool) -> tuple[Path, ...]:
    """Give the file at a path, or the files of a glob."""
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


def _checked_paths(items: Iterable[object]) -> Iterator[Path]:
    for index, item in enumerate(items):
        if not isinstance(item, os.PathLike):
            raise ArgumentError(
                f"sources[{index}] is {_shown(item)} after paths; expected all to be Path (files), "
                f"or all str or bytes (documents)"
            )
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


def _checked_texts(items: Iterable[object]) -> Iterator[TextLike]:
    for index, item in enumerate(items):
        yield _check_text(index, item)


def _check_text(index: int, item: object) -> TextLike:
    if isinstance(item, (str, bytes)):
        return item
    ways_on = (
        "expected all to be Path (files), or all str or bytes (documents)"
        if isinstance(item, os.PathLike)
        else "expected a document (str or bytes) or a Path"
    )
    raise ArgumentError(f"sources[{index}] is {_shown(item)}; {ways_on}")


def _separator_of(special_tokens: SpecialTokens) -> str | bytes:
    """Give the first special token's bytes, or ``"file"``."""
    if isinstance(special_tokens, (str, bytes)):
        raise SpecialTokenError(
            f"special_tokens is {_shown(special_tokens)} itself; expected a list: "
            f"pass [{special_tokens!r}]"
        )
    for token in special_tokens:
        if not token:
            raise SpecialTokenError("special_tokens[0] is empty; expected a reserved string")
        return _encoded(token)
    return "file"


def _encoded(separator: str) -> bytes:
    try:
        return separator.encode()
    except UnicodeEncodeError as error:
        raise TextError(
            f"the document separator {separator!r} has a lone surrogate at character "
            f"{error.start}, which no file in UTF-8 can hold; pass the separator as bytes"
        ) from error


def _shown(value: object) -> str:
    """Quote a value with its type, cut to 40 characters."""
    quoted = repr(value)
    return f"{type(value).__name__} {quoted if len(quoted) <= 40 else quoted[:39] + '…'}"

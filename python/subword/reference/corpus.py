"""Files → documents by reading each file whole: the twin of ``rust/src/corpus``."""

import gzip
from collections.abc import Iterable, Iterator
from pathlib import Path

__all__ = ["cut_documents", "read_documents"]


def cut_documents(text: bytes, cut: str | bytes) -> list[bytes]:
    r"""Cut the content of one file into documents.

    Args:
        text: The whole file.
        cut: ``"file"``, ``"line"``, or the separator.

    Returns:
        The documents, without what separated them. Nothing follows the last line end or
        separator, and an empty file is no document unless files are the documents.

    Examples:
        >>> cut_documents(b"a\r\n\nb\n", "line")
        [b'a', b'', b'b']
        >>> cut_documents(b"a<s><s>b", b"<s>")
        [b'a', b'', b'b']
        >>> cut_documents(b"", b"<s>"), cut_documents(b"", "file")
        ([], [b''])
    """
    if cut == "file":
        return [text]
    separator = b"\n" if isinstance(cut, str) else cut
    *ended, rest = text.split(separator)
    if cut == "line":
        ended = [line.removesuffix(b"\r") for line in ended]
    return [*ended, rest] if rest else ended


def read_documents(paths: Iterable[Path], cut: str | bytes) -> Iterator[bytes]:
    """Give the documents of plain and gzip files, in order.

    Args:
        paths: The files.
        cut: As ``cut_documents`` takes it.

    Yields:
        Each document.
    """
    for path in paths:
        stored = path.read_bytes()
        text = gzip.decompress(stored) if stored.startswith(b"\x1f\x8b") else stored
        yield from cut_documents(text, cut)

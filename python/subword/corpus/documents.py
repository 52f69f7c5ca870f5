"""Documents one by one, whatever they come from."""

import itertools
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar, cast

from subword import _core
from subword.corpus.columns import Column, read_arrow, read_csv, read_parquet
from subword.corpus.reading import BadRecords, InputFormat, OnBad, Reading
from subword.corpus.remote import piped
from subword.corpus.sources import Documents, Url, resolve_sources
from subword.corpus.warc import read_warc
from subword.errors import ArgumentError
from subword.types import Sources, SpecialTokens, TextLike

__all__ = ["check_no_cut", "held_back", "local", "read_columns", "read_documents", "texts_of"]

Item = TypeVar("Item")


def read_documents(
    sources: Sources,
    *,
    documents: str | bytes | None = None,
    special_tokens: SpecialTokens = (),
    field: str = "text",
    format: InputFormat | None = None,  # noqa: A002
    on_bad: OnBad | None = None,
) -> Iterator[TextLike]:
    r"""Give the documents of sources one by one.

    A document never holds what separated it from the next. A line ends at ``"\n"``, and a
    ``"\r"`` before it belongs to the line end; an empty line is an empty document, but no
    document follows the last line end or separator of a file. An empty file is one empty
    document as a file, and none when cut.

    The format of a file is told by its name, and for Parquet, Arrow and WARC by its first bytes
    too: text, ``.jsonl``, ``.csv``, ``.tsv``, ``.parquet``, ``.arrow``, ``.warc`` or ``.wet``, each
    also with ``.gz``, ``.zst``, ``.bz2`` or ``.xz`` behind it. In all but text a record is one
    document: its field or column, or the block of a web archive's record.

    A record is bad when it is no UTF-8, lacks the field or has no text there, is no JSON or CSV, is
    longer than 1 GiB, or is cut short by the end of a damaged file. ``on_bad`` says what then
    happens: ``"fail"`` raises, ``"skip"`` leaves it out, ``"replace"`` gives U+FFFD for what is no
    UTF-8 and an empty document for a record without a text. How many there were is said by a
    ``BadRecordsWarning`` at the end. By default it is ``"fail"``, save that text which is no UTF-8
    is read as it is.

    Memory holds one document and a block of 1 MiB; with ``on_bad``, and for records, some
    megabytes of them. What can be checked is checked by the call
    itself; a damaged file is found when its place is reached.

    Args:
        sources: What ``resolve_sources`` takes.
        documents: How files are cut, as ``document_cut`` takes it.
        special_tokens: Reserved strings; the first is the separator when ``documents`` is not
            given. Only files are cut at it.
        field: The field or column that holds the text of a record.
        format: What all files hold, where their names do not say it.
        on_bad: What a bad record does: ``"fail"``, ``"skip"`` or ``"replace"``.

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
    reading = Reading.of(documents, special_tokens, field=field, format=format, on_bad=on_bad)
    resolved = resolve_sources(sources)
    if isinstance(resolved, Documents):
        check_no_cut(documents)
        return _warned(texts_of(resolved, reading, bad := BadRecords(on_bad)), bad)
    paths = resolved.paths
    formats = {reading.format_of(path) for path in paths}
    if formats <= {"text"} and not any(isinstance(path, Url) for path in paths) and on_bad is None:
        return iter(_core.DocumentReader(list(paths), reading.cut))
    bad = BadRecords(on_bad)
    return _warned(itertools.chain.from_iterable(_file(p, reading, bad) for p in paths), bad)


def check_no_cut(documents: str | bytes | None) -> None:
    """Refuse a cut for sources that are documents already.

    Raises:
        ArgumentError: There is one.
    """
    if documents not in (None, "file", "record"):
        raise ArgumentError(
            f"documents is {documents!r}, which cuts files, but the sources are documents "
            f"already; pass paths, or cut the texts before the call"
        )


def texts_of(documents: Documents, reading: Reading, bad: BadRecords) -> Iterator[TextLike]:
    """Give the texts of documents that are given as such.

    Raises:
        CorpusError: A mapping without the field, or with no text there, or with ``on_bad`` bytes
            that are no UTF-8, and the policy is to fail.
    """
    for at, item in enumerate(documents.items):
        text: object = item
        if isinstance(item, Mapping):
            text = item.get(reading.field)
            if not isinstance(text, (str, bytes)):
                what = f"{reading.field!r} is {type(text).__name__}, no text"
                bad.note(f"record {at}: {what if reading.field in item else 'no such field'}")
                if bad.on_bad == "replace":
                    yield ""
                continue
        if isinstance(text, bytes) and bad.on_bad is not None:
            try:
                text.decode()
            except UnicodeDecodeError as error:
                bad.note(f"document {at}: not UTF-8 at its byte {error.start}")
                if bad.on_bad == "replace":
                    yield text.decode("utf-8", "replace")
                continue
        yield cast(TextLike, text)


def read_columns(
    path: Path | Url, reading: Reading, bad: BadRecords, report: Callable[[int], object]
) -> Iterator[Column]:
    """Give the texts of a file that is no text and no JSON lines, many at a time.

    Args:
        path: The file.
        reading: How it is read.
        bad: What is noted of bad records.
        report: Called with the bytes read, as they are stored.

    Raises:
        CorpusError: A bad record, and the policy is to fail.
        SourceError: The file cannot be read.
    """
    kind = reading.format_of(path)
    if kind == "parquet":
        yield from read_parquet(path, reading.field, bad, report)
        return
    if kind == "arrow":
        yield from read_arrow(path, reading.field, bad, report)
        return
    with local(path) as (place, check):
        if kind == "warc":
            columns = read_warc(place, str(path), bad, report)
        else:
            delimiter = "," if kind == "csv" else "\t"
            columns = read_csv(place, str(path), reading.field, delimiter, bad, report)
        # A column is given when the next one, or the end, is known to be good.
        yield from held_back(columns, check)


@contextmanager
def local(
    path: Path | Url, observe: Callable[[bytes], object] | None = None
) -> Iterator[tuple[Path, Callable[[], None]]]:
    """Give what the kernels open for a file, and what checks that it was read to its end.

    Args:
        path: A path, or a URL, which is copied into a pipe.
        observe: Called with each block of a URL.
    """
    if not isinstance(path, Url):
        yield path, _nothing
        return
    with piped(path.text, observe) as pipe:
        yield pipe.path, pipe.check


def _file(path: Path | Url, reading: Reading, bad: BadRecords) -> Iterator[bytes]:
    kind = reading.format_of(path)
    if kind not in ("text", "jsonl"):
        for column in read_columns(path, reading, bad, _nothing):
            yield from column
        return
    with local(path) as (place, check):
        field = reading.field if kind == "jsonl" else None
        reader = _core.DocumentReader([place], reading.cut, field=field, on_bad=reading.on_bad)
        try:
            yield from held_back(reader, check)
        finally:
            n_records, places = reader.bad
            bad.add(n_records, (name.replace(str(place), str(path)) for name in places))


def held_back(items: Iterable[Item], check: Callable[[], None]) -> Iterator[Item]:
    """Give each item when the next is there, and the last one after a check."""
    held: list[Item] = []
    for item in items:
        yield from held
        held = [item]
    check()
    yield from held


def _warned(items: Iterable[Item], bad: BadRecords) -> Iterator[Item]:
    yield from items
    warning = bad.warning()
    if warning is not None:
        warnings.warn(warning, stacklevel=2)


def _nothing(*_arguments: object) -> None:
    """Do nothing."""

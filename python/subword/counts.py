"""Documents to pre-token counts: all that training ever sees of a corpus.

A table is small, exact and mergeable: a corpus is read once, and every algorithm, vocabulary
size and tie rule trains from its table.
"""

import re
import tempfile
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from os import PathLike
from pathlib import Path
from typing import Final

from subword import _core
from subword.corpus.documents import check_no_cut, local, read_columns, texts_of
from subword.corpus.reading import BadRecords, InputFormat, OnBad, Reading
from subword.corpus.sources import Documents, Url, resolve_sources
from subword.counts_runs import compacted
from subword.errors import ArgumentError, EmptyCorpusError
from subword.patterns import resolve_pattern
from subword.pretoken_counts import CountedSource, PretokenCounts
from subword.special_tokens import check_special_tokens
from subword.surrogates import Errors, is_replacing, replace_surrogates
from subword.types import Sources, TextLike, whole_number

__all__ = [
    "PretokenCounts",
    "check_not_empty",
    "count",
    "count_documents",
    "count_file",
    "new_counter",
    "parse_memory",
]

Memory = int | str
"""Bytes, as a number or with a unit: ``"2GiB"``."""

_SMALLEST_MEMORY: Final = 16 << 20
_UNITS: Final = {"": 1, **{f"{u}B": 1000**n for n, u in enumerate(["", "K", "M", "G", "T"])}}
_UNITS.update({f"{u}IB": 1024**n for n, u in enumerate(["", "K", "M", "G", "T"]) if n})


def count(
    sources: Sources,
    *,
    pattern: str | Sequence[str] = "gpt2",
    special_tokens: Sequence[str] = (),
    documents: str | bytes | None = None,
    field: str = "text",
    format: InputFormat | None = None,  # noqa: A002
    on_bad: OnBad | None = None,
    max_memory: Memory | None = None,
    tmp_dir: str | PathLike[str] | None = None,
    n_threads: int | None = None,
    errors: Errors = "strict",
    progress: Callable[[int], object] | None = None,
) -> PretokenCounts:
    """Count the pre-tokens of a corpus.

    The result is the same for any number of threads and any memory. Bytes that are not UTF-8 are
    counted as they are, unless ``on_bad`` says otherwise; each counts as one character of no class
    when the pattern is matched.

    Args:
        sources: A path, glob or URL, an iterable of ``Path``, or an iterable of documents: ``str``,
            ``bytes``, or mappings such as the rows of a Hugging Face dataset.
        pattern: A name of ``subword.patterns.NAMED_PATTERNS``, a regular expression, or several
            to apply in turn.
        special_tokens: Strings at which documents are cut, and which are not counted. Where
            several match, the longest of those that start leftmost wins.
        documents: How text files are cut into documents: ``"file"``, ``"line"``, or a separator; by
            default at the first special token where there is one, else not. In files of other
            formats a record is a document.
        field: The field or column that holds the text of a record.
        format: What all files hold; by default each tells by its name, see
            ``subword.corpus.read_documents``.
        on_bad: What a record does that cannot be read: ``"fail"``, ``"skip"`` or ``"replace"``; see
            ``subword.corpus.read_documents``.
        max_memory: The most memory that tables and buffers take while counting, as a number of
            bytes or with a unit (``"2GiB"``). A table that would outgrow it is written to disk in
            sorted runs, which are merged in the end. The result itself is not bounded: see
            ``subword.count_to_parquet``.
        tmp_dir: Where runs are written; the system's place for temporary files by default.
        n_threads: Threads to count with; None for one a core.
        errors: What a ``str`` with a lone surrogate does: ``"strict"`` refuses it,
            ``"replace"`` counts U+FFFD in its place.
        progress: Called about twenty times a second with the bytes done: of files as they are
            stored, of documents as they are. What it raises stops the count.

    Returns:
        The table. An iterable's own exceptions pass through unchanged.

    Raises:
        EmptyCorpusError: The documents hold no text at all.
        ArgumentError: ``n_threads`` below 1, ``max_memory`` below 16 MiB, ``documents`` for sources
            that are no text files, or an unknown format, policy or ``errors``.
        PatternError: The pattern does not compile, or passed its step limit.
        SourceError: A file that cannot be opened; all are checked before any is read.
        CorpusError: A compressed file that is damaged, a file that shrank, or a bad record.
        TextError: A ``str`` with a lone surrogate.
        OSError: A run cannot be written, for want of space among others.

    Examples:
        >>> dict(count(["a cat", "a hat"]))
        {b' cat': 1, b' hat': 1, b'a': 2}
        >>> dict(count([{"text": "a cat"}, {"text": "a hat"}])) == dict(count(["a cat", "a hat"]))
        True
    """
    special_tokens = check_special_tokens(special_tokens)
    resolved_pattern = resolve_pattern(pattern)
    if n_threads is not None:
        n_threads = whole_number("n_threads", n_threads)
    reading = Reading.of(documents, special_tokens, field=field, format=format, on_bad=on_bad)
    with tempfile.TemporaryDirectory(prefix="subword-", dir=tmp_dir) as folder:
        spill = None if max_memory is None else Path(folder) / "run"
        counter = new_counter(resolved_pattern, special_tokens, n_threads, spill, max_memory)
        resolved = resolve_sources(sources)
        bad = BadRecords(on_bad)
        if isinstance(resolved, Documents):
            check_no_cut(documents)
            count_documents(counter, texts_of(resolved, reading, bad), errors, progress)
            names: tuple[CountedSource, ...] = ()
        else:
            _count_files(counter, resolved.paths, reading, bad, progress)
            names = tuple(CountedSource(str(path)) for path in resolved.paths)
        check_not_empty(counter.n_bytes, counter.n_documents)
        if spill is None:
            table = counter.finish()
        else:
            runs = compacted(counter.take_runs(), Path(folder))
            table = _core.PretokenTable.from_runs(runs)
    if (warning := bad.warning()) is not None:
        warnings.warn(warning, stacklevel=2)
    return PretokenCounts(
        table,
        pattern=resolved_pattern,
        special_tokens=special_tokens,
        n_bytes=counter.n_bytes,
        n_documents=counter.n_documents,
        sources=names,
    )


def parse_memory(memory: Memory, name: str = "max_memory") -> int:
    """Give bytes for a number, or a text with a unit.

    Raises:
        ArgumentError: It is neither.

    Examples:
        >>> parse_memory("2GiB"), parse_memory("1.5 MB"), parse_memory(4096)
        (2147483648, 1500000, 4096)
    """
    if isinstance(memory, int) and not isinstance(memory, bool) and memory >= 0:
        return memory
    found = (
        re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([A-Za-z]*)\s*", memory)
        if isinstance(memory, str)
        else None
    )
    if found is None or found[2].upper() not in _UNITS:
        raise ArgumentError(
            f"{name} is {memory!r:.40}; expected bytes, or a number with a unit such as '512MiB' "
            "or '2GB'"
        )
    return int(float(found[1]) * _UNITS[found[2].upper()])


def new_counter(
    pattern: Sequence[str],
    special_tokens: Sequence[str],
    n_threads: int | None,
    spill: Path | None = None,
    max_memory: Memory | None = None,
    position: int = 0,
) -> _core.PretokenCounter:
    """Make a counter.

    Args:
        pattern: The resolved pattern.
        special_tokens: The checked special tokens.
        n_threads: Threads.
        spill: The front of the paths of runs; None keeps everything in memory.
        max_memory: What tables and buffers may take.
        position: Where the corpus position begins.

    Raises:
        ArgumentError: Fewer threads than 1, or less memory than 16 MiB.
        PatternError: The pattern does not compile.
    """
    if n_threads is not None and n_threads < 1:
        raise ArgumentError(f"n_threads is {n_threads}; give at least 1, or None for one a core")
    table_bytes, piece_bytes = 2**62, 1 << 20
    if max_memory is not None:
        n_bytes = parse_memory(max_memory)
        if n_bytes < _SMALLEST_MEMORY:
            raise ArgumentError(
                f"max_memory is {max_memory!r}; counting needs {_SMALLEST_MEMORY >> 20} MiB"
            )
        # Four pieces a thread are read at once, kept until the next are there, and cut.
        n_pieces = 12 * _core.thread_count(n_threads)
        piece_bytes = min(max(n_bytes // (4 * n_pieces), 1 << 16), 1 << 20)
        table_bytes = max(n_bytes - n_pieces * piece_bytes, n_bytes // 2)
    return _core.PretokenCounter(
        list(pattern),
        list(special_tokens),
        n_threads=n_threads,
        piece_bytes=piece_bytes,
        spill=None if spill is None else (spill, table_bytes),
        position=position,
    )


def count_file(
    counter: _core.PretokenCounter,
    path: Path | Url,
    reading: Reading,
    bad: BadRecords,
    progress: Callable[[int], object] | None = None,
    observe: Callable[[bytes], object] | None = None,
) -> None:
    """Count the documents of one file.

    Args:
        counter: What counts.
        path: The file.
        reading: How it is read.
        bad: What is noted of bad records.
        progress: Called with the bytes of the file that are done.
        observe: Called with each block of a URL that is read from front to end.

    Raises:
        SubwordError: As ``count``.
    """
    kind = reading.format_of(path)
    if kind not in ("text", "jsonl"):
        for column in read_columns(path, reading, bad, progress or _nothing):
            counter.add_column(column.data, column.bounds)
        return
    with local(path, observe) as (place, check):
        field = reading.field if kind == "jsonl" else None
        try:
            counter.add_files(
                [place], reading.cut, field=field, on_bad=reading.on_bad, progress=progress
            )
            check()
        finally:
            n_records, places = counter.take_bad()
            bad.add(n_records, (name.replace(str(place), str(path)) for name in places))


def count_documents(
    counter: _core.PretokenCounter,
    texts: Iterable[TextLike],
    errors: Errors = "strict",
    progress: Callable[[int], object] | None = None,
) -> None:
    """Count documents that are given as such.

    Raises:
        SubwordError: As ``count``.
    """
    is_replaced = is_replacing(errors)
    for batch in _batches(texts):
        done = counter.n_bytes
        checked = [replace_surrogates(text) if is_replaced else text for text in batch]
        counter.add(checked, progress=_behind(done, progress))


def check_not_empty(n_bytes: int, n_documents: int) -> None:
    """Refuse a corpus without text.

    Raises:
        EmptyCorpusError: There are no bytes.
    """
    if n_bytes == 0:
        raise EmptyCorpusError(
            f"the sources hold no text ({n_documents} documents, all empty); there is "
            "nothing to count"
        )


def _count_files(
    counter: _core.PretokenCounter,
    paths: Sequence[Path | Url],
    reading: Reading,
    bad: BadRecords,
    progress: Callable[[int], object] | None,
) -> None:
    """Count files; those that can be read by one call share its chunks."""
    kinds = {reading.format_of(path) for path in paths}
    is_local = not any(isinstance(path, Url) for path in paths)
    if is_local and (kinds == {"text"} or kinds == {"jsonl"}):
        field = reading.field if kinds == {"jsonl"} else None
        try:
            counter.add_files(
                list(paths), reading.cut, field=field, on_bad=reading.on_bad, progress=progress
            )
        finally:
            bad.add(*counter.take_bad())
        return
    done = 0
    for path in paths:
        last = 0

        def report(n_bytes: int) -> None:
            nonlocal last
            last = n_bytes
            if progress is not None:
                progress(done + n_bytes)  # noqa: B023

        count_file(counter, path, reading, bad, report)
        done += last


_BATCH_CHARACTERS: Final = 1 << 23


def _batches(documents: Iterable[TextLike]) -> Iterator[list[TextLike]]:
    """Group documents so that a call into the compiled module is worth its while."""
    batch: list[TextLike] = []
    size = 0
    for document in documents:
        batch.append(document)
        size += len(document) + 1
        if size >= _BATCH_CHARACTERS:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _behind(done: int, progress: Callable[[int], object] | None) -> Callable[[int], object] | None:
    return None if progress is None else lambda n_bytes: progress(done + n_bytes)


def _nothing(*_arguments: object) -> None:
    """Do nothing."""

"""A counter, and what is fed to it: documents of files, and documents that are given as such."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from subword import _core
from subword.corpus.documents import local, read_columns
from subword.corpus.reading import BadRecords, Reading
from subword.corpus.sources import Url
from subword.errors import ArgumentError, EmptyCorpusError
from subword.surrogates import Errors, is_replacing, replace_surrogates
from subword.types import TextLike

__all__ = [
    "Memory",
    "Progress",
    "check_not_empty",
    "checked_min_count",
    "count_documents",
    "count_file",
    "count_files",
    "new_counter",
    "parse_memory",
]

Memory = int | str
"""Bytes, as a number or with a unit: ``"2GiB"``."""

_SMALLEST_MEMORY: Final = 16 << 20
_UNITS: Final = {"": 1, **{f"{u}B": 1000**n for n, u in enumerate(["", "K", "M", "G", "T"])}}
_UNITS.update({f"{u}IB": 1024**n for n, u in enumerate(["", "K", "M", "G", "T"]) if n})
_BATCH_CHARACTERS: Final = 1 << 23


@dataclass(slots=True)
class Progress:
    """Adds what is done of an input to what was done before it.

    Attributes:
        report: What is told of the sum.
        done: Bytes of the inputs that are done.
    """

    report: Callable[[int], object] | None
    done: int

    def __call__(self, n_bytes: int) -> None:
        """Take the bytes that are done of the present input."""
        if self.report is not None:
            self.report(self.done + n_bytes)

    def finish(self, n_bytes: int) -> None:
        """Take the bytes of an input that is done."""
        self.done += n_bytes
        self(0)


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
        SubwordError: As ``subword.count``.
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
        SubwordError: As ``subword.count``.
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


def checked_min_count(min_count: int) -> int:
    """Refuse what is no count.

    Raises:
        ArgumentError: It is no integer from 1 on.
    """
    if not isinstance(min_count, int) or isinstance(min_count, bool) or not 0 < min_count < 2**64:
        raise ArgumentError(f"min_count is {min_count!r:.40}; expected 1 or more")
    return min_count


def count_files(
    counter: _core.PretokenCounter,
    paths: Sequence[Path | Url],
    reading: Reading,
    bad: BadRecords,
    progress: Callable[[int], object] | None,
) -> None:
    """Count files; those that can be read by one call share its chunks.

    Args:
        counter: What counts.
        paths: The files.
        reading: How they are read.
        bad: What is noted of bad records.
        progress: Called with the bytes of the files that are done.

    Raises:
        SubwordError: As ``subword.count``.
    """
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
    sum_of = Progress(progress, 0)
    for path in paths:
        last = 0

        def report(n_bytes: int) -> None:
            nonlocal last
            last = n_bytes
            sum_of(n_bytes)

        count_file(counter, path, reading, bad, report)
        sum_of.done += last


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

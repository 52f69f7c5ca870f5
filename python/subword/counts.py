"""Documents to pre-token counts: all that training ever sees of a corpus.

A table is small, exact and mergeable: a corpus is read once, and every algorithm, vocabulary
size and tie rule trains from its table.
"""

import tempfile
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Final

from subword import _core
from subword.corpus.documents import check_no_cut, texts_of
from subword.corpus.reading import BadRecords, InputFormat, OnBad, Reading
from subword.corpus.sources import Documents, Url, resolve_sources
from subword.counted_inputs import stamp
from subword.counting import Memory, check_not_empty, count_documents, count_files, new_counter
from subword.counts_runs import compacted
from subword.engines import Engine, check_engine, check_shared, grouped, ray
from subword.patterns import Pattern, resolve_pattern
from subword.pretoken_counts import CountedSource, PretokenCounts
from subword.special_tokens import check_special_tokens
from subword.surrogates import Errors
from subword.types import Sources, whole_number

__all__ = ["PretokenCounts", "count"]

_TASK_BYTES: Final = 1 << 28
"""Stored bytes at which a task on a cluster has enough files."""


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
    engine: Engine = "local",
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
        n_threads: Threads to count with; None for one a core here, and one a task on a cluster.
        engine: ``"local"``, or ``"ray"`` for tasks on a Ray cluster that has the same files; their
            tables are added up there, two by two. The result is the same.
        errors: What a ``str`` with a lone surrogate does: ``"strict"`` refuses it,
            ``"replace"`` counts U+FFFD in its place.
        progress: Called about twenty times a second with the bytes done: of files as they are
            stored, of documents as they are. What it raises stops the count.

    Returns:
        The table. An iterable's own exceptions pass through unchanged.

    Raises:
        EmptyCorpusError: The documents hold no text at all.
        ArgumentError: ``n_threads`` below 1, ``max_memory`` below 16 MiB, ``documents`` for sources
            that are no text files, an unknown format, policy, engine or ``errors``, or documents
            that are given themselves for a cluster.
        PatternError: The pattern does not compile, or passed its step limit.
        SourceError: A file that cannot be opened; all are checked before any is read.
        CorpusError: A compressed file that is damaged, a file that shrank, or a bad record.
        TextError: A ``str`` with a lone surrogate.
        EngineError: There is no Ray cluster, or it lost a task again and again.
        MissingExtraError: A format, a URL or the engine needs an extra that is not installed.
        OSError: A run cannot be written, for want of space among others.

    Examples:
        >>> dict(count(["a cat", "a hat"]))
        {b' cat': 1, b' hat': 1, b'a': 2}
        >>> dict(count([{"text": "a cat"}, {"text": "a hat"}])) == dict(count(["a cat", "a hat"]))
        True
    """
    check_engine(engine)
    special_tokens = check_special_tokens(special_tokens)
    if n_threads is not None:
        n_threads = whole_number("n_threads", n_threads)
    job = _Job(
        resolve_pattern(pattern),
        special_tokens,
        Reading.of(documents, special_tokens, field=field, format=format, on_bad=on_bad),
        max_memory,
        tmp_dir,
        n_threads,
    )
    new_counter(job.pattern, special_tokens, n_threads, None, max_memory)
    resolved = resolve_sources(sources)
    if isinstance(resolved, Documents):
        check_shared(is_shared=engine != "local")
        check_no_cut(documents)

        def feed(counter: _core.PretokenCounter, bad: BadRecords) -> None:
            count_documents(counter, texts_of(resolved, job.reading, bad), errors, progress)

        counts, bad = _counted(job, feed, ())
    elif engine == "ray":
        counts, bad = _counted_on_ray(job, resolved.paths, progress)
    else:
        counts, bad = _counted_files(job, resolved.paths, progress)
    check_not_empty(counts.n_bytes, counts.n_documents)
    if (warning := bad.warning()) is not None:
        warnings.warn(warning, stacklevel=2)
    return counts


@dataclass(frozen=True, slots=True)
class _Job:
    """How is to be counted."""

    pattern: Pattern
    special_tokens: tuple[str, ...]
    reading: Reading
    max_memory: Memory | None
    tmp_dir: str | PathLike[str] | None
    n_threads: int | None


_Counted = tuple[PretokenCounts, BadRecords]


def _counted(
    job: _Job,
    feed: Callable[[_core.PretokenCounter, BadRecords], object],
    sources: tuple[CountedSource, ...],
) -> _Counted:
    """Give the table of what ``feed`` gives to a counter."""
    bad = BadRecords(job.reading.on_bad)
    with tempfile.TemporaryDirectory(prefix="subword-", dir=job.tmp_dir) as folder:
        spill = None if job.max_memory is None else Path(folder) / "run"
        counter = new_counter(job.pattern, job.special_tokens, job.n_threads, spill, job.max_memory)
        feed(counter, bad)
        if spill is None:
            table = counter.finish()
        else:
            runs = [(path, 0) for path in counter.take_runs()]
            table = _core.PretokenTable.from_runs(compacted(runs, Path(folder)))
    counts = PretokenCounts(
        table,
        pattern=job.pattern,
        special_tokens=job.special_tokens,
        n_bytes=counter.n_bytes,
        n_documents=counter.n_documents,
        sources=sources,
    )
    return counts, bad


def _counted_files(
    job: _Job,
    paths: Sequence[Path | Url],
    progress: Callable[[int], object] | None = None,
) -> _Counted:
    def feed(counter: _core.PretokenCounter, bad: BadRecords) -> None:
        count_files(counter, paths, job.reading, bad, progress)

    return _counted(job, feed, tuple(CountedSource(str(path)) for path in paths))


def _counted_on_ray(
    job: _Job, paths: Sequence[Path | Url], progress: Callable[[int], object] | None
) -> _Counted:
    """Count consecutive files by tasks, and add their tables by a tree of further ones."""
    for path in paths:
        job.reading.format_of(path)
    job = replace(job, n_threads=job.n_threads or 1)
    sizes = [stamp(path).size for path in paths]
    groups = grouped(sizes, _TASK_BYTES)
    n_done = 0

    def done(group: tuple[int, int]) -> None:
        nonlocal n_done
        n_done += sum(size or 0 for size in sizes[slice(*group)])
        if progress is not None:
            progress(n_done)

    return ray.summed(
        _group_counted, _added, (job, paths), groups, n_threads=job.n_threads or 1, done=done
    )


def _group_counted(shared: tuple[_Job, Sequence[Path | Url]], group: tuple[int, int]) -> _Counted:
    job, paths = shared
    return _counted_files(job, paths[slice(*group)])


def _added(left: _Counted, right: _Counted) -> _Counted:
    bad = BadRecords(left[1].on_bad, left[1].n_records, list(left[1].places))
    bad.add(right[1].n_records, right[1].places)
    return left[0] + right[0], bad

"""Corpora of any size to a count table on disk, and never from the beginning again.

What is counted is written in sorted runs beside the output. A journal there says which inputs are
finished, and what they were: a run that was killed goes on behind the last of them, and its table
has the same bytes. Runs and journal go when the table is whole.
"""

import shutil
import tempfile
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any, Final

from subword import _core
from subword.atomic_write import check_target
from subword.corpus.documents import check_no_cut, texts_of
from subword.corpus.reading import BadRecords, InputFormat, OnBad, Reading
from subword.corpus.sources import STDIN, Documents, Url, resolve_sources
from subword.counted_inputs import CountedInput, digest, is_unchanged, stamp
from subword.counts import (
    Memory,
    check_not_empty,
    count_documents,
    count_file,
    new_counter,
    parse_memory,
)
from subword.counts_runs import compacted, write_runs
from subword.errors import ArgumentError, CorpusError, ResumeError
from subword.manifest import Journal
from subword.patterns import resolve_pattern
from subword.special_tokens import check_special_tokens
from subword.types import Sources, require_extra

__all__ = ["CountSummary", "checked_min_count", "count_to_parquet"]

_CHECKPOINT_BYTES: Final = 128 << 20


@dataclass(frozen=True, slots=True)
class CountSummary:
    """What a count wrote.

    Attributes:
        path: The table.
        n_pretokens: Its rows.
        n_occurrences: The sum of its counts.
        n_bytes: Bytes of the documents.
        n_documents: Documents, empty ones included.
        n_dropped: Pre-tokens that ``min_count`` left out.
        n_dropped_occurrences: The sum of their counts.
        n_bad_records: Records that were skipped or replaced.
        n_resumed: Inputs that an earlier run had finished.
        pattern: The split that made the pre-tokens.
        special_tokens: The strings at which documents were cut.
        commonest: The pre-tokens of the greatest counts, as many as were asked for.
    """

    path: Path
    n_pretokens: int
    n_occurrences: int
    n_bytes: int
    n_documents: int
    n_dropped: int
    n_dropped_occurrences: int
    n_bad_records: int
    n_resumed: int
    pattern: tuple[str, ...]
    special_tokens: tuple[str, ...]
    commonest: tuple[tuple[bytes, int], ...] = ()


def count_to_parquet(
    sources: Sources,
    path: str | PathLike[str],
    *,
    pattern: str | Sequence[str] = "gpt2",
    special_tokens: Sequence[str] = (),
    documents: str | bytes | None = None,
    field: str = "text",
    format: InputFormat | None = None,  # noqa: A002
    on_bad: OnBad | None = None,
    min_count: int = 1,
    max_memory: Memory | None = None,
    checkpoint_bytes: Memory = _CHECKPOINT_BYTES,
    n_threads: int | None = None,
    n_commonest: int = 0,
    progress: Callable[[int], object] | None = None,
) -> CountSummary:
    """Count the pre-tokens of a corpus to a Parquet file, without the table in memory.

    The file has the same bytes for any memory and number of threads, and whether or not the run
    was killed on the way. Its folder holds ``NAME.parts`` until the file is whole: sorted runs and
    the journal of finished inputs. The same call goes on behind the inputs that are finished;
    another one is refused, as is an input that has changed.

    Args:
        sources: As in ``subword.count``. Only files are resumed, and not standard input.
        path: The table; a file that is there is replaced.
        pattern: As in ``subword.count``.
        special_tokens: As in ``subword.count``.
        documents: As in ``subword.count``.
        field: As in ``subword.count``.
        format: As in ``subword.count``.
        on_bad: As in ``subword.count``.
        min_count: Pre-tokens that occur less often in the whole corpus are left out.
        max_memory: The most memory that tables and buffers take while counting, as in
            ``subword.count``.
        checkpoint_bytes: Inputs are finished, so that they need not be counted again, whenever so
            many bytes of documents were counted since the last time; never within a file.
        n_threads: Threads to count with; None for one a core.
        n_commonest: How many of the commonest pre-tokens the summary has.
        progress: Called about twenty times a second with the bytes of the files that are done, as
            they are stored.

    Returns:
        What was written.

    Raises:
        CorpusError: An input changed while it was counted, besides what ``subword.count`` says.
        ResumeError: The folder of parts holds another run, or a finished input has changed.
        MissingExtraError: pyarrow is not installed.
        OSError: The table or a run cannot be written, for want of space among others. What is
            finished stays, and the same call goes on.
        SubwordError: As ``subword.count``.
    """
    require_extra("pyarrow", "parquet")
    target = check_target(path)
    job = _Job(
        resolve_pattern(pattern),
        check_special_tokens(special_tokens),
        Reading.of(documents, special_tokens, field=field, format=format, on_bad=on_bad),
        checked_min_count(min_count),
        max_memory,
        parse_memory(checkpoint_bytes, "checkpoint_bytes"),
        n_threads,
        n_commonest,
        progress,
    )
    # What is wrong with the arguments is said before anything is written.
    new_counter(job.pattern, job.special_tokens, n_threads, None, max_memory)
    resolved = resolve_sources(sources)
    if isinstance(resolved, Documents):
        check_no_cut(documents)
        return _count_texts(job, resolved, target)
    for source in resolved.paths:
        job.reading.format_of(source)
    return _count_inputs(job, resolved.paths, target)


@dataclass(frozen=True, slots=True)
class _Job:
    """What is to be counted, and how."""

    pattern: tuple[str, ...]
    special_tokens: tuple[str, ...]
    reading: Reading
    min_count: int
    max_memory: Memory | None
    checkpoint_bytes: int
    n_threads: int | None
    n_commonest: int
    progress: Callable[[int], object] | None

    def counter(self, stem: Path, position: int = 0) -> _core.PretokenCounter:
        return new_counter(
            self.pattern, self.special_tokens, self.n_threads, stem, self.max_memory, position
        )

    def run(self, paths: Sequence[Path | Url]) -> dict[str, Any]:
        """Give all that the table depends on, save what the inputs hold."""
        reading = self.reading
        cut = reading.cut if isinstance(reading.cut, str) else f"separator {reading.cut.hex()}"
        return {
            "kind": "subword count",
            "version": 1,
            "pattern": list(self.pattern),
            "special_tokens": list(self.special_tokens),
            "documents": cut,
            "field": reading.field,
            "format": reading.format,
            "on_bad": reading.on_bad,
            "min_count": self.min_count,
            "inputs": [str(path) for path in paths],
        }


def _count_texts(job: _Job, documents: Documents, target: Path) -> CountSummary:
    """Count documents that are given as such; there is nothing to go on with."""
    with tempfile.TemporaryDirectory(prefix=f".{target.name}-", dir=target.parent) as folder:
        counter = job.counter(Path(folder) / "run")
        bad = BadRecords(job.reading.on_bad)
        count_documents(counter, texts_of(documents, job.reading, bad), progress=job.progress)
        check_not_empty(counter.n_bytes, counter.n_documents)
        totals = CountedInput.total_of(counter.n_bytes, counter.n_documents, bad)
        return _written(job, counter.take_runs(), Path(folder), target, [], totals, 0)


def _count_inputs(job: _Job, paths: Sequence[Path | Url], target: Path) -> CountSummary:
    parts = target.with_name(f"{target.name}.parts")
    parts.mkdir(exist_ok=True)
    with Journal(parts / "journal.jsonl", job.run(paths)) as journal:
        finished = [CountedInput(**value) for it in journal.records for value in it["inputs"]]
        for path, counted in zip(paths, finished, strict=False):
            if not is_unchanged(path, counted):
                raise ResumeError(
                    f"{path} has changed since it was counted; delete {parts} to begin anew"
                )
        with _kept(parts, journal):
            _count_rest(job, paths, parts, journal, finished)
            n_resumed = len(finished)
            finished = [CountedInput(**value) for it in journal.records for value in it["inputs"]]
            totals = CountedInput.sum_of(finished)
            check_not_empty(totals.n_bytes, totals.n_documents)
            runs = [parts / name for record in journal.records for name in record["runs"]]
            summary = _written(job, runs, parts, target, finished, totals, n_resumed)
    # The journal goes last but one: what is left without it is known to be of no use.
    shutil.rmtree(parts)
    return summary


@contextmanager
def _kept(parts: Path, journal: Journal) -> Iterator[None]:
    """Remove the runs that no finished input needs, before and after; without any, everything."""
    _remove_unfinished(parts, journal)
    try:
        yield
    except BaseException:
        _remove_unfinished(parts, journal)
        if not journal.records:
            shutil.rmtree(parts, ignore_errors=True)
        raise


def _remove_unfinished(parts: Path, journal: Journal) -> None:
    known = {name for record in journal.records for name in record["runs"]}
    for path in parts.glob("*.run"):
        if path.name not in known:
            path.unlink()


def _count_rest(
    job: _Job,
    paths: Sequence[Path | Url],
    parts: Path,
    journal: Journal,
    finished: list[CountedInput],
) -> None:
    """Count the inputs that are not finished, and finish them some at a time."""
    position = sum(counted.n_bytes for counted in finished)
    done = sum(counted.size or 0 for counted in finished)
    counter = job.counter(parts / f"run-{len(journal.records):06}", position)
    waiting: list[CountedInput] = []
    rest = list(paths[len(finished) :])
    for at, path in enumerate(rest):
        counted = _count_input(job, counter, path, done)
        done += counted.size or 0
        waiting.append(counted)
        n_waiting = counter.n_bytes - position
        if n_waiting >= job.checkpoint_bytes or at == len(rest) - 1:
            runs = [run.name for run in counter.take_runs()]
            journal.append({"inputs": [it.as_json() for it in waiting], "runs": runs})
            position, waiting = counter.n_bytes, []


def _count_input(
    job: _Job, counter: _core.PretokenCounter, path: Path | Url, done: int
) -> CountedInput:
    """Count one input, and say what it was."""
    bad = BadRecords(job.reading.on_bad)
    n_bytes, n_documents = counter.n_bytes, counter.n_documents
    before = stamp(path)

    def report(n_done: int) -> None:
        if job.progress is not None:
            job.progress(done + n_done)

    with digest(path) as sha256:
        count_file(counter, path, job.reading, bad, report, sha256.update)
        hexadecimal = sha256.finish()
    after = stamp(path)
    if path != STDIN and (before.size, before.changed) != (after.size, after.changed):
        raise CorpusError(
            f"{path} changed while it was counted; count it when nothing writes to it"
        )
    return CountedInput(
        name=str(path),
        size=after.size,
        changed=after.changed,
        sha256=hexadecimal,
        n_bytes=counter.n_bytes - n_bytes,
        n_documents=counter.n_documents - n_documents,
        n_bad=bad.n_records,
        bad_places=tuple(bad.places),
    )


def _written(
    job: _Job,
    runs: list[Path],
    folder: Path,
    target: Path,
    inputs: Sequence[CountedInput],
    totals: CountedInput,
    n_resumed: int,
) -> CountSummary:
    about = {
        "pattern": job.pattern,
        "special_tokens": job.special_tokens,
        "n_bytes": totals.n_bytes,
        "n_documents": totals.n_documents,
        "sources": [counted.as_source() for counted in inputs],
    }
    rows = write_runs(compacted(runs, folder), target, about, job.min_count, job.n_commonest)
    bad = BadRecords(job.reading.on_bad, totals.n_bad, list(totals.bad_places))
    if (warning := bad.warning()) is not None:
        warnings.warn(warning, stacklevel=4)
    return CountSummary(
        path=target,
        n_pretokens=rows.n_rows,
        n_occurrences=rows.n_occurrences,
        n_bytes=totals.n_bytes,
        n_documents=totals.n_documents,
        n_dropped=rows.n_dropped,
        n_dropped_occurrences=rows.n_dropped_occurrences,
        n_bad_records=totals.n_bad,
        n_resumed=n_resumed,
        pattern=job.pattern,
        special_tokens=job.special_tokens,
        commonest=rows.commonest,
    )


def checked_min_count(min_count: int) -> int:
    """Refuse what is no count.

    Raises:
        ArgumentError: It is no integer from 1 on.
    """
    if not isinstance(min_count, int) or isinstance(min_count, bool) or not 0 < min_count < 2**64:
        raise ArgumentError(f"min_count is {min_count!r:.40}; expected 1 or more")
    return min_count

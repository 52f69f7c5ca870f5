"""Corpora of any size to a count table on disk, and never from the beginning again.

What is counted is written in sorted runs beside the output. A journal there says which inputs are
finished, and what they were: a run that was killed goes on with the others, and its table has the
same bytes. Runs and journal go when the table is whole.

Inputs are taken together in their order to tasks; each is one step of the journal, whoever does it
and in whatever order they end. Positions in a run are of its task, and are moved when it is merged.
"""

import shutil
import tempfile
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
from os import PathLike
from pathlib import Path
from typing import Any, Final
from uuid import uuid4

from subword import _core
from subword.atomic_write import check_target
from subword.corpus.documents import check_no_cut, texts_of
from subword.corpus.reading import BadRecords, InputFormat, OnBad, Reading
from subword.corpus.sources import STDIN, Documents, Url, resolve_sources
from subword.counted_inputs import CountedInput, digest, is_unchanged, stamp
from subword.counting import (
    Memory,
    Progress,
    check_not_empty,
    checked_min_count,
    count_documents,
    count_file,
    new_counter,
    parse_memory,
)
from subword.counts_runs import Run, compacted, write_runs
from subword.engines import Engine, check_engine, check_shared, grouped, local, ray
from subword.errors import CorpusError, ResumeError
from subword.manifest import Journal
from subword.patterns import resolve_pattern
from subword.special_tokens import check_special_tokens
from subword.types import Sources, require_extra

__all__ = ["CountSummary", "count_to_parquet"]

_CHECKPOINT_BYTES: Final = 128 << 20
_TREE: Final = 16
"""Runs that one task on a cluster merges."""


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
    engine: Engine = "local",
    n_commonest: int = 0,
    progress: Callable[[int], object] | None = None,
) -> CountSummary:
    """Count the pre-tokens of a corpus to a Parquet file, without the table in memory.

    The file has the same bytes for any memory and number of threads, and whether or not the run
    was killed on the way. Its folder holds ``NAME.parts`` until the file is whole: sorted runs and
    the journal of finished inputs. The same call goes on with the inputs that are not finished, on
    whichever engine; another one is refused, as is an input that has changed.

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
        checkpoint_bytes: Inputs are counted together until they have so many bytes, as they are
            stored, and then need not be counted again; never within a file.
        n_threads: Threads to count with; None for one a core here, and one a task on a cluster.
        engine: ``"local"``, or ``"ray"`` for tasks on a Ray cluster that has the same files, the
            folder of the table among them; runs are merged there too, by a tree.
        n_commonest: How many of the commonest pre-tokens the summary has.
        progress: Called about twenty times a second with the bytes of the files that are done, as
            they are stored.

    Returns:
        What was written.

    Raises:
        CorpusError: An input changed while it was counted, besides what ``subword.count`` says.
        ResumeError: The folder of parts holds another run, or a finished input has changed.
        EngineError: There is no Ray cluster, or it lost a task again and again.
        MissingExtraError: pyarrow is not installed, or what the engine needs.
        OSError: The table or a run cannot be written, for want of space among others. What is
            finished stays, and the same call goes on.
        SubwordError: As ``subword.count``.
    """
    check_engine(engine)
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
        check_shared(is_shared=engine != "local")
        check_no_cut(documents)
        return _count_texts(job, resolved, target)
    for source in resolved.paths:
        job.reading.format_of(source)
    if engine == "local":
        return _count_inputs(job, resolved.paths, target, local.run)
    # Before anything is made: there may be no cluster.
    ray.connected()
    job = replace(job, n_threads=job.n_threads or 1)
    do = partial(ray.run, n_threads=job.n_threads or 1)
    return _count_inputs(job, resolved.paths, target, do, _TREE)


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

    def counter(self, stem: Path) -> _core.PretokenCounter:
        return new_counter(self.pattern, self.special_tokens, self.n_threads, stem, self.max_memory)

    def run(self, paths: Sequence[Path | Url]) -> dict[str, Any]:
        """Give all that the table depends on, save what the inputs hold."""
        reading = self.reading
        cut = reading.cut if isinstance(reading.cut, str) else f"separator {reading.cut.hex()}"
        return {
            "kind": "subword count",
            "version": 2,
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
        runs = compacted([(path, 0) for path in counter.take_runs()], Path(folder))
        return _written(job, runs, target, [], totals, 0)


def _count_inputs(
    job: _Job,
    paths: Sequence[Path | Url],
    target: Path,
    do: Callable[..., Iterator[Any]],
    fan_in: int | None = None,
) -> CountSummary:
    parts = target.with_name(f"{target.name}.parts")
    parts.mkdir(exist_ok=True)
    with Journal(parts / "journal.jsonl", job.run(paths)) as journal:
        finished = _finished(journal)
        for at, counted in finished.items():
            if not is_unchanged(paths[at], counted):
                raise ResumeError(
                    f"{paths[at]} has changed since it was counted; delete {parts} to begin anew"
                )
        n_resumed = len(finished)
        with _kept(parts, journal):
            _count_rest(job, paths, parts, journal, do)
            inputs = [counted for _, counted in sorted(_finished(journal).items())]
            totals = CountedInput.sum_of(inputs)
            check_not_empty(totals.n_bytes, totals.n_documents)
            runs = compacted(_runs(parts, journal), parts, do, fan_in)
            summary = _written(job, runs, target, inputs, totals, n_resumed)
    # The journal goes last but one: what is left without it is known to be of no use.
    shutil.rmtree(parts)
    return summary


def _finished(journal: Journal) -> dict[int, CountedInput]:
    """Give the inputs that are finished, by their number."""
    return {
        at: CountedInput(**value)
        for record in journal.records
        for at, value in enumerate(record["inputs"], start=record["first"])
    }


def _runs(parts: Path, journal: Journal) -> list[Run]:
    """Give all runs, each with the bytes of the corpus before its task."""
    runs, position = [], 0
    for record in sorted(journal.records, key=lambda record: int(record["first"])):
        runs += [(parts / name, position) for name in record["runs"]]
        position += sum(counted["n_bytes"] for counted in record["inputs"])
    return runs


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
    do: Callable[..., Iterator[Any]],
) -> None:
    """Count the inputs that are not finished, and finish them some at a time."""
    finished = _finished(journal)
    sizes = [stamp(path).size for path in paths]
    tasks = []
    for is_done, stretch in groupby(range(len(paths)), finished.__contains__):
        if not is_done:
            numbers = list(stretch)
            groups = grouped([sizes[at] for at in numbers], job.checkpoint_bytes)
            tasks += [(numbers[first], numbers[end - 1] + 1) for first, end in groups]
    progress = Progress(job.progress, sum(sizes[at] or 0 for at in finished))
    # A function of the caller does not go to other machines; here it is told of every block.
    is_here = do is local.run
    shared = (replace(job, progress=progress if is_here else None), paths, parts)
    for task, record in do(_count_task, shared, tasks):
        journal.append(record)
        if not is_here:
            progress.finish(sum(size or 0 for size in sizes[slice(*task)]))


def _count_task(
    shared: tuple[_Job, Sequence[Path | Url], Path], task: tuple[int, int]
) -> dict[str, Any]:
    """Count consecutive inputs; gives what the journal is to say of them."""
    job, paths, parts = shared
    first, end = task
    # A task that is begun again finds nothing of the first time in its way.
    counter = job.counter(parts / f"run-{first:06}-{uuid4().hex}")
    inputs = []
    for path in paths[first:end]:
        counted = _count_input(job, counter, path)
        inputs.append(counted.as_json())
        if isinstance(job.progress, Progress):
            job.progress.finish(counted.size or 0)
    runs = [run.name for run in counter.take_runs()]
    return {"first": first, "inputs": inputs, "runs": runs}


def _count_input(job: _Job, counter: _core.PretokenCounter, path: Path | Url) -> CountedInput:
    """Count one input, and say what it was."""
    bad = BadRecords(job.reading.on_bad)
    n_bytes, n_documents = counter.n_bytes, counter.n_documents
    before = stamp(path)

    with digest(path) as sha256:
        count_file(counter, path, job.reading, bad, job.progress, sha256.update)
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
    runs: list[Run],
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
    rows = write_runs(runs, target, about, job.min_count, job.n_commonest)
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

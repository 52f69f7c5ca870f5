"""One task of a run: some sources to shards of their own, in steps that survive a kill.

Ids of whole documents are added to scratch files, one pair for each split. A checkpoint is a line
in the task's journal: how far the sources are read, and how far the scratch files are good. When a
shard is full its scratch becomes the shard, whole or not at all, and that is a checkpoint too. A
process that goes on cuts the scratch files back to the last checkpoint, so the shards do not show
where an earlier one was killed.
"""

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, suppress
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from subword.corpus.reading import BadRecords
from subword.corpus.sources import Documents
from subword.counted_inputs import digest
from subword.errors import FormatError, ResumeError
from subword.manifest import Journal, file_sha256, json_sha256
from subword.shards.layouts import module_of
from subword.shards.raw import RawShard
from subword.tokenizing.blocks import Block, Checked, document_blocks, file_blocks
from subword.tokenizing.plan import Plan
from subword.tokenizing.scratch import Scratch
from subword.tokenizing.splits import is_validation, shuffled

__all__ = ["journal_header", "run_task"]

_CHECKPOINT_BYTES: Final = 1 << 26
_WAIT_SECONDS: Final = 20.0
"""A worker whose run was killed, or that a cluster gave up, takes a moment to end."""
_MAX_DOCUMENTS: Final = 1 << 20
"""Documents at which a shard is full whatever its tokens: their ends are held in memory."""


def journal_header(plan: Plan, task: int) -> dict[str, Any]:
    """Give the first line of a task's journal: what its shards depend on."""
    first, end = plan.tasks[task]
    of_task = {**plan.identity, "sources": plan.identity["sources"][first:end]}
    return {"task": task, "first_source": first, "run": json_sha256(of_task)}


def run_task(
    plan: Plan,
    task: int,
    documents: Documents | None = None,
    progress: Callable[[int], object] | None = None,
) -> None:
    """Do a task, or what is left of it; a task that is done is left as it is.

    Args:
        plan: The run.
        task: Number of the task.
        documents: The documents, where the sources are no files.
        progress: Called with the stored bytes of the task that are done.

    Raises:
        ResumeError: Unfinished work of another run, or in use.
        SourceError: A file that cannot be read, or changed.
        SubwordError: A document that cannot be encoded.
        OSError: A shard cannot be written.
    """
    header = journal_header(plan, task)
    with Journal(plan.journal(task), header, wait_seconds=_WAIT_SECONDS) as journal:
        if any("finished" in record for record in journal.records):
            return
        with closing(_Writer(plan, task, journal)) as writer:
            writer.open()
            first, end = plan.tasks[task]
            n_before = sum(s.n_bytes or 0 for s in plan.sources[first : writer.source])
            for number in range(writer.source, end):
                report = None if progress is None else partial(_report, progress, n_before)
                _do_source(plan, writer, number, documents, report)
                n_before += plan.sources[number].n_bytes or 0
            writer.finish()


def _report(progress: Callable[[int], object], before: int, done: int) -> None:
    progress(before + done)


def _do_source(
    plan: Plan,
    writer: "_Writer",
    number: int,
    documents: Documents | None,
    report: Callable[[int], object] | None,
) -> None:
    """Encode a source on this thread while another one writes, and a third takes its hash."""
    source, skip = plan.sources[number], writer.n_documents
    bad = BadRecords(plan.options.reading.on_bad)
    blocks: Iterator[Block]
    if documents is not None:
        blocks = document_blocks(plan, documents, skip, writer.checked, bad)
        _write(writer, blocks, report)
        writer.finish_source(writer.checked[1] if writer.checked else None, bad)
        return
    if skip and source.changed is None:
        raise ResumeError(
            f"{plan.folder} holds a part of {source.path}, which cannot be read twice; start "
            "the run in another directory"
        )
    with digest(source.place) as sha256:
        blocks = file_blocks(plan, number, skip, bad, sha256.update)
        _write(writer, blocks, report)
        writer.finish_source(sha256.finish(), bad)


def _write(
    writer: "_Writer", blocks: Iterator[Block], report: Callable[[int], object] | None
) -> None:
    """Write each block while the next one is made."""
    with ThreadPoolExecutor(1) as pool:
        written: Future[None] | None = None
        for block in blocks:
            if written is not None:
                written.result()
                if report is not None:
                    report(block.n_bytes)
            written = pool.submit(writer.add, block)
        if written is not None:
            written.result()


class _Writer:
    """Blocks to shards; the journal has what it would need to go on."""

    def __init__(self, plan: Plan, task: int, journal: Journal) -> None:
        """Go on where the journal ends."""
        self._plan, self._task, self._journal = plan, task, journal
        self._module = module_of(plan.options.format)
        self._dtype = np.dtype(plan.options.dtype).newbyteorder("<")
        states = [record["state"] for record in journal.records if "state" in record]
        start = {split: [0, 0, 0] for split in plan.splits}
        first: dict[str, Any] = {
            "source": plan.tasks[task][0],
            "documents": 0,
            "checked": None,
            "splits": start,
        }
        state = states[-1] if states else first
        self.source: int = state["source"]
        self.n_documents: int = state["documents"]
        self.checked: Checked | None = state["checked"] and tuple(state["checked"])
        self._open_split: int | None = None
        self._n_unsaved = 0
        self._numbers = [state["splits"][split][0] for split in plan.splits]
        self._scratch = [
            self._reopened(at, *state["splits"][s][1:]) for at, s in enumerate(plan.splits)
        ]

    def open(self) -> None:
        """Cut the scratch files back to the last checkpoint.

        Raises:
            ResumeError: They hold less than is on record.
        """
        for scratch in self._scratch:
            scratch.open()

    def add(self, block: Block) -> None:
        """Add a block, closing the shards that become full."""
        if block.checked is not None:
            self.checked = block.checked
        starts = np.concatenate((np.zeros(1, np.int64), block.ends))
        lengths, split_of = np.diff(starts), self._splits_of(block)
        at, n_ended = 0, len(block.ends)
        while at < n_ended:
            end, full = self._next_full(lengths, split_of, at)
            self._add_documents(block, starts, split_of, at, end)
            at = end
            if full is not None:
                self._close_shard(full)
        self._open_split = None
        if len(split_of) > n_ended:
            self._open_split = int(split_of[-1])
            self._scratch[self._open_split].add_open(block.ids[starts[-1] :])
        self._n_unsaved += block.ids.nbytes
        if self._n_unsaved >= _CHECKPOINT_BYTES and n_ended:
            self._save({})

    def finish_source(self, sha256: str | None, bad: BadRecords) -> None:
        """Put the source on record as done."""
        n_documents, number = self.n_documents, self.source
        self.source, self.n_documents = number + 1, 0
        record: dict[str, Any] = {"source": number, "sha256": sha256, "documents": n_documents}
        if bad.n_records:
            record |= {"bad_records": bad.n_records, "bad_places": bad.places}
        self._save(record)

    def finish(self) -> None:
        """Close the shards that are open, and put the task on record as done."""
        for at, scratch in enumerate(self._scratch):
            if scratch.n_documents:
                self._close_shard(at)
            self._scratch[at].remove()
        self._journal.append({"finished": True})

    def close(self) -> None:
        """Close the scratch files."""
        for scratch in self._scratch:
            # A disk that is full fails again here; the first failure is the one that is told.
            with suppress(OSError):
                scratch.close()

    def _splits_of(self, block: Block) -> npt.NDArray[np.int64]:
        """Give the split of each document that has ids in a block."""
        options = self._plan.options
        begun = np.zeros(len(block.checksums), np.int64)
        if options.validation:
            begun += is_validation(block.checksums, options.validation, options.validation_seed)
        open_before = [] if self._open_split is None else [self._open_split]
        return np.concatenate((np.array(open_before, np.int64), begun))

    def _next_full(
        self, lengths: npt.NDArray[np.int64], split_of: npt.NDArray[np.int64], at: int
    ) -> tuple[int, int | None]:
        """Give the document behind the first one that fills a shard, and the shard's split."""
        n_ended, best, full = len(lengths), len(lengths), None
        for split, scratch in enumerate(self._scratch):
            here = np.flatnonzero(split_of[at:n_ended] == split) + at
            if not len(here):
                continue
            n_tokens = scratch.n_tokens + scratch.n_open + np.cumsum(lengths[here])
            filled = int(np.searchsorted(n_tokens, self._plan.options.shard_tokens))
            filled = min(filled, _MAX_DOCUMENTS - scratch.n_documents - 1)
            if filled < len(here) and here[filled] + 1 <= best:
                best, full = int(here[filled]) + 1, split
        return best, full

    def _add_documents(
        self, block: Block, starts: npt.NDArray[np.int64], split_of: Any, at: int, end: int
    ) -> None:
        ids = block.ids[starts[at] : starts[end]]
        lengths, chosen = np.diff(starts[at : end + 1]), split_of[at:end]
        numbers = np.arange(self.n_documents, self.n_documents + end - at)
        rows = np.column_stack((np.full(end - at, self.source), numbers))
        for split, scratch in enumerate(self._scratch):
            mask = chosen == split
            if mask.all():
                scratch.add(ids, lengths, rows)
            elif mask.any():
                scratch.add(ids[np.repeat(mask, lengths)], lengths[mask], rows[mask])
        self.n_documents += end - at

    def _save(self, record: dict[str, Any]) -> None:
        """Write a checkpoint: first what it speaks of, then the line."""
        for scratch in self._scratch:
            scratch.sync()
        splits = {
            split: [number, scratch.n_tokens, scratch.n_documents]
            for split, number, scratch in zip(
                self._plan.splits, self._numbers, self._scratch, strict=True
            )
        }
        state = {
            "source": self.source,
            "documents": self.n_documents,
            "checked": self.checked,
            "splits": splits,
        }
        self._journal.append({**record, "state": state})
        self._n_unsaved = 0

    def _close_shard(self, at: int) -> None:
        """Make a shard of a full scratch file, and begin the next."""
        scratch = self._scratch[at]
        scratch.sync()
        rows = scratch.rows()
        scratch.close()
        ids_path = scratch.ids_path
        seed = self._plan.options.shuffle_seed
        if seed is not None:
            order = shuffled(len(rows), seed, (self._task, at, self._numbers[at]))
            ids_path, rows = _reordered(scratch, rows, order)
        raw = self._raw(ids_path, rows)
        self._check_room(raw)
        stem = self._stem(at)
        self._module.write(raw, stem)
        files = [self._file(Path(f"{stem}{s}")) for s in self._module.LAYOUT.suffixes]
        entry = {"files": files, "tokens": raw.n_tokens, "documents": len(rows)}
        self._numbers[at] += 1
        self._scratch[at] = self._new_scratch(at)
        self._save({"shard": entry, "split": self._plan.splits[at]})
        ids_path.unlink(missing_ok=True)
        scratch.remove()

    def _raw(self, ids_path: Path, rows: npt.NDArray[np.int64]) -> RawShard:
        first, end = self._plan.tasks[self._task]
        return RawShard(
            path=ids_path,
            offset=self._module.LAYOUT.header_bytes or 0,
            dtype=self._dtype,
            ends=np.ascontiguousarray(rows[:, 0]),
            sources=[source.path for source in self._plan.sources[first:end]],
            source_of=rows[:, 1] - first,
            number_in_source=rows[:, 2],
            about=self._plan.identity["tokenizer"],
        )

    def _check_room(self, raw: RawShard) -> None:
        layout, n_bytes = self._module.LAYOUT, raw.n_tokens * raw.dtype.itemsize
        for n, limit, unit in (
            (raw.n_tokens, layout.max_tokens, "tokens"),
            (n_bytes, layout.max_bytes, "bytes of ids"),
        ):
            if limit is not None and n > limit:
                raise FormatError(
                    f"a shard of {n} {unit} with its last document; format "
                    f"{self._plan.options.format} holds {limit}: choose a smaller shard_tokens, or "
                    "cut the documents"
                )

    def _file(self, path: Path) -> dict[str, Any]:
        name = path.relative_to(self._plan.folder).as_posix()
        return {"name": name, "bytes": path.stat().st_size, "sha256": file_sha256(path)}

    def _stem(self, at: int) -> Path:
        folder = self._plan.folder / self._plan.splits[at]
        return folder / f"{self._task:05d}-{self._numbers[at]:05d}"

    def _new_scratch(self, at: int) -> Scratch:
        name = f"{self._task:05d}-{self._plan.splits[at]}-{self._numbers[at]:05d}"
        header_bytes = self._module.LAYOUT.header_bytes or 0
        return Scratch(self._plan.progress_folder, name, header_bytes, self._dtype)

    def _reopened(self, at: int, n_tokens: int, n_documents: int) -> Scratch:
        """Give a scratch as it was at the checkpoint, whatever was written since."""
        scratch = self._new_scratch(at)
        scratch.n_tokens, scratch.n_documents = n_tokens, n_documents
        stem = self._stem(at)
        data, *others = [Path(f"{stem}{suffix}") for suffix in self._module.LAYOUT.suffixes]
        if data.exists() and not scratch.ids_path.exists() and n_documents:
            # The shard took its place, but was not put on record: it is the scratch again.
            data.replace(scratch.ids_path)
        for path in (data, *others, *stem.parent.glob(f".{stem.name}*.part")):
            path.unlink(missing_ok=True)
        return scratch


def _reordered(
    scratch: Scratch, rows: npt.NDArray[np.int64], order: npt.NDArray[Any]
) -> tuple[Path, npt.NDArray[np.int64]]:
    """Write the documents of a scratch file in another order, to a file beside it."""
    starts = np.concatenate((np.zeros(1, np.int64), rows[:-1, 0]))
    lengths = rows[:, 0] - starts
    path, size = scratch.ids_path.with_suffix(".shuffled"), scratch.dtype.itemsize
    with scratch.ids_path.open("rb", buffering=0) as source, path.open("wb") as file:
        file.write(bytes(scratch.header_bytes))
        for start, length in zip(starts[order].tolist(), lengths[order].tolist(), strict=True):
            source.seek(scratch.header_bytes + start * size)
            file.write(_exactly(source, length * size))
    ordered = rows[order]
    ordered[:, 0] = np.cumsum(lengths[order])
    return path, ordered


def _exactly(source: Any, n_bytes: int) -> bytes:
    data: bytes = source.read(n_bytes)
    while len(data) < n_bytes:
        more = source.read(n_bytes - len(data))
        if not more:
            raise ResumeError(f"{source.name}: unfinished work was cut off; start anew")
        data += more
    return data

"""The start and the end of a run: is this the same one, and is all of it done."""

import shutil
import warnings
from contextlib import suppress
from pathlib import Path
from typing import Any

from subword.corpus.reading import BadRecords
from subword.corpus.sources import Documents, Url
from subword.errors import ResumeError
from subword.manifest import (
    check_same_run,
    file_sha256,
    journal_records,
    read_manifest,
    write_manifest,
)
from subword.shards.layouts import module_of
from subword.shards.opened import MANIFEST
from subword.tokenizing.blocks import documents_sha256
from subword.tokenizing.plan import Plan
from subword.tokenizing.splits import shuffled

__all__ = ["finish_run", "forget_run", "is_finished", "start_run"]

_IDENTITY = ("kind", "software", "tokenizer", "options")


def is_finished(plan: Plan, documents: Documents | None) -> bool:
    """Say whether the folder holds this run, finished; every source is read to make sure.

    Raises:
        ResumeError: It holds another one, or a source changed since.
    """
    path = plan.folder / MANIFEST
    if not path.is_file():
        return False
    manifest = read_manifest(path)
    found = {name: manifest.get(name) for name in _IDENTITY}
    sources = manifest.get("sources") or []
    found["sources"] = [{"path": s.get("path"), "bytes": s.get("bytes")} for s in sources]
    check_same_run(plan.folder, found, plan.identity)
    for source, entry in zip(plan.sources, sources, strict=True):
        now: dict[str, object]
        if documents is not None:
            now = {"sha256": documents_sha256(plan, documents)}
        elif isinstance(source.place, Url):
            # Not fetched again to be compared.
            now = {"changed": source.changed}
        else:
            now = {"sha256": None if source.changed is None else file_sha256(source.path)}
        if None in now.values() or not now.items() <= entry.items():
            raise ResumeError(
                f"{plan.folder} holds a finished run of {source.path}, which "
                + ("cannot be read twice" if None in now.values() else "changed since")
                + "; choose another directory"
            )
    _clean(plan)
    return True


def start_run(plan: Plan) -> None:
    """Make the folder, or refuse one in which something else lies.

    Raises:
        ResumeError: It holds another run, or files that are of none; or a source changed since
            the run began.
        OSError: It cannot be made.
    """
    plan.folder.mkdir(parents=True, exist_ok=True)
    # Listed before the plan is looked for: another process may be starting the same run.
    others = [path.name for path in plan.folder.iterdir() if path != plan.progress_folder]
    record = plan.progress_folder / "plan.json"
    if not record.exists():
        if others:
            raise ResumeError(
                f"{plan.folder} holds {sorted(others)[0]!r:.40} and is not the output of a run; "
                "give an empty directory, or one that does not exist"
            )
        plan.progress_folder.mkdir(exist_ok=True)
        changed = [source.changed for source in plan.sources]
        write_manifest(record, {"run": plan.identity, "changed": changed})
    _check_plan(plan, read_manifest(record))
    for split in plan.splits:
        (plan.folder / split).mkdir(exist_ok=True)


def finish_run(plan: Plan) -> bool:
    """Write the manifest when every task is done, and remove what was needed to go on.

    How many bad records there were in all is then said by a ``BadRecordsWarning``.

    Returns:
        Whether the run is finished; false where other processes have tasks left.

    Raises:
        OSError: The manifest cannot be written.
    """
    try:
        journals = [journal_records(plan.journal(task)) for task in range(len(plan.tasks))]
        if not all(any("finished" in record for record in journal) for journal in journals):
            return False
        records = [record for journal in journals for record in journal]
        write_manifest(plan.folder / MANIFEST, _manifest(plan, records))
    except FileNotFoundError:
        # A task that no one has begun; or another process finished the run in this moment.
        return (plan.folder / MANIFEST).is_file()
    _clean(plan)
    bad = BadRecords(plan.options.reading.on_bad)
    for record in records:
        bad.add(record.get("bad_records", 0), record.get("bad_places", ()))
    if (warning := bad.warning()) is not None:
        warnings.warn(warning, stacklevel=3)
    return True


def forget_run(plan: Plan) -> None:
    """Let a run that failed before its first checkpoint leave nothing that refuses the next.

    A wrong field, or a wrong path, is put right by the same call with another; only where what is
    done would be lost, another directory has to be chosen. For runs that no other process shares.
    """
    for task in range(len(plan.tasks)):
        if plan.journal(task).exists() and journal_records(plan.journal(task)):
            return
    _clean(plan)
    for split in plan.splits:
        with suppress(OSError):
            (plan.folder / split).rmdir()


def _clean(plan: Plan) -> None:
    """Remove what only an unfinished run needs, and what killed processes left."""
    shutil.rmtree(plan.progress_folder, ignore_errors=True)
    for folder in (plan.folder, *(plan.folder / split for split in plan.splits)):
        for path in folder.glob(".*.part"):
            path.unlink(missing_ok=True)


def _check_plan(plan: Plan, record: dict[str, Any]) -> None:
    check_same_run(plan.folder, record.get("run", {}), plan.identity)
    then = record.get("changed", [])
    changed = [at for at, s in enumerate(plan.sources) if [s.changed] != then[at : at + 1]]
    if not changed:
        return
    known: dict[int, str | None] = {}
    for task in range(len(plan.tasks)):
        if plan.journal(task).exists():
            records = journal_records(plan.journal(task))
            known.update((r["source"], r["sha256"]) for r in records if "source" in r)
    for at in changed:
        path = plan.sources[at].path
        # A file that was only touched is the same file, where its content is on record.
        is_url = isinstance(plan.sources[at].place, Url)
        if is_url or known.get(at) is None or known[at] != file_sha256(path):
            raise ResumeError(
                f"{path} changed since the run in {plan.folder} began; restore it to go on, or "
                "give another directory to start anew"
            )


def _manifest(plan: Plan, records: list[dict[str, Any]]) -> dict[str, Any]:
    sources = {r["source"]: r for r in records if "source" in r}
    about = []
    for at, (source, entry) in enumerate(zip(plan.sources, plan.identity["sources"], strict=True)):
        known = {name: sources[at].get(name, 0) for name in ("sha256", "documents", "bad_records")}
        is_url = isinstance(source.place, Url)
        about.append({**entry, **known, **({"changed": source.changed} if is_url else {})})
    splits = {}
    for at, split in enumerate(plan.splits):
        shards = [r["shard"] for r in records if r.get("split") == split]
        if plan.options.shuffle_seed is not None:
            order = shuffled(len(shards), plan.options.shuffle_seed, (len(plan.tasks), at, 0))
            shards = [shards[number] for number in order.tolist()]
        splits[split] = {
            **_totals(shards),
            "shards": shards,
            "files": _indexes(plan, split, shards),
        }
    return {
        **{name: plan.identity[name] for name in _IDENTITY},
        **_totals(list(splits.values())),
        "sources": about,
        "splits": splits,
    }


def _totals(parts: list[dict[str, Any]]) -> dict[str, int]:
    return {name: sum(part[name] for part in parts) for name in ("tokens", "documents")}


def _indexes(plan: Plan, split: str, shards: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Write what a format keeps besides the shards of a split, and say what it is."""
    write_index = getattr(module_of(plan.options.format), "write_index", None)
    if write_index is None:
        return []
    folder = plan.folder / split
    names = [(Path(s["files"][0]["name"]).name, s["documents"]) for s in shards]
    path = folder / write_index(folder, plan.options.dtype, names)
    name = path.relative_to(plan.folder).as_posix()
    return [{"name": name, "bytes": path.stat().st_size, "sha256": file_sha256(path)}]

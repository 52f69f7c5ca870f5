"""A real Ray cluster of two workers gives the bytes that one process gives."""

import json
import os
import random
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import subword
from ray_cluster import QUIET, alone, cluster  # noqa: F401  # fixtures
from subword import PretokenCounts, counts, counts_on_disk
from subword.engines import ray as engine
from subword.errors import (
    BadRecordsWarning,
    MissingExtraError,
    UnencodableTextError,
)

EOT = "<|endoftext|>"


pytestmark = QUIET


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("ray")
    rng = random.Random(5)
    for number in range(6):
        documents = [
            " ".join(rng.choices(["the", "cat", "sat", "naïve", "\n"], k=rng.randrange(80)))
            for _ in range(rng.randrange(10, 30))
        ]
        (folder / f"{number}.txt").write_bytes(EOT.join(documents).encode())
    return folder


@pytest.fixture(scope="module")
def tok() -> subword.Tokenizer:
    return subword.train_bpe(["the cat sat naïve " * 9], 264, [EOT])


def tree(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


OPTIONS: dict[str, Any] = {
    "shard_tokens": 400,
    "task_bytes": 1,
    "validation": 0.2,
    "shuffle_seed": 2,
}


@pytest.mark.parametrize("format", ["npy", "mds"])
def test_shards_are_those_of_one_process(
    format: str, cluster: Any, folder: Path, tok: subword.Tokenizer, tmp_path: Path
) -> None:
    for name in ("local", "ray"):
        subword.tokenize(
            f"{folder}/*.txt", tok, tmp_path / name, engine=name, format=format, **OPTIONS
        )  # type: ignore[call-overload]
    assert tree(tmp_path / "ray") == tree(tmp_path / "local")


def test_a_run_begun_here_goes_on_there(
    cluster: Any, folder: Path, tok: subword.Tokenizer, tmp_path: Path
) -> None:
    sources = f"{folder}/*.txt"
    subword.tokenize(sources, tok, tmp_path / "whole", **OPTIONS)
    part = subword.tokenize(sources, tok, tmp_path / "out", num_shards=2, shard_index=1, **OPTIONS)
    assert part is None
    subword.tokenize(sources, tok, tmp_path / "out", engine="ray", **OPTIONS)
    assert tree(tmp_path / "out") == tree(tmp_path / "whole")


def dying(shared: Any, task: int) -> None:
    """Do a task, but the first time end the worker in the middle of it, as a lost machine would."""
    from subword.manifest import Journal
    from subword.tokenizing.task import run_task

    plan, mark = shared
    append = Journal.append

    def appended(journal: Journal, record: Any) -> None:
        append(journal, record)
        if task in (1, 4) and "shard" in record and not Path(f"{mark}-{task}").exists():
            Path(f"{mark}-{task}").touch()
            os.kill(os.getpid(), signal.SIGKILL)

    Journal.append = appended  # type: ignore[method-assign]
    try:
        run_task(plan, task)
    finally:
        Journal.append = append  # type: ignore[method-assign]


def test_a_lost_worker_changes_no_byte(
    cluster: Any,
    folder: Path,
    tok: subword.Tokenizer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sources, run = f"{folder}/*.txt", engine.run
    monkeypatch.setattr(
        engine,
        "run",
        lambda _, plan, tasks, **options: run(dying, (plan, tmp_path / "died"), tasks, **options),
    )
    subword.tokenize(sources, tok, tmp_path / "ray", engine="ray", **OPTIONS)
    assert (tmp_path / "died-1").exists()
    assert (tmp_path / "died-4").exists()
    subword.tokenize(sources, tok, tmp_path / "local", **OPTIONS)
    assert tree(tmp_path / "ray") == tree(tmp_path / "local")


class Dying:
    """Work that ends its worker the first time that it has done an item, before that is known."""

    def __init__(self, work: Callable[..., Any], mark: Path) -> None:
        self.work, self.mark = work, mark

    def __call__(self, shared: Any, item: Any) -> Any:
        result = self.work(shared, item)
        mark = self.mark.with_name(f"{self.mark.name}-{self.work.__name__}")
        if not mark.exists():
            mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return result


def remote_function(work: Dying) -> Callable[..., Any]:
    return lambda shared, item: work(shared, item)


@pytest.mark.parametrize("is_lost", [False, True])
def test_counts_are_those_of_one_process(
    is_lost: bool, cluster: Any, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(counts, "_TASK_BYTES", 1)
    if is_lost:
        summed = engine.summed
        monkeypatch.setattr(
            engine,
            "summed",
            lambda work, *rest, **options: summed(
                remote_function(Dying(work, tmp_path / "died")), *rest, **options
            ),
        )
    for options in ({}, {"special_tokens": [EOT], "max_memory": "16MiB"}):
        here = subword.count(f"{folder}/*.txt", **options)  # type: ignore[arg-type]
        seen: list[int] = []
        there = subword.count(
            f"{folder}/*.txt",
            engine="ray",
            progress=seen.append,
            **options,  # type: ignore[arg-type]
        )
        assert there == here
        assert (there.n_bytes, there.n_documents, there.sources) == (
            here.n_bytes,
            here.n_documents,
            here.sources,
        )
        assert seen[-1] == sum(path.stat().st_size for path in folder.glob("*.txt"))
    assert bool(list(tmp_path.glob("died-*"))) == is_lost


@pytest.mark.parametrize("is_lost", [False, True])
def test_tables_on_disk_have_the_bytes_of_one_process(
    is_lost: bool, cluster: Any, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Six tasks make a tree of three levels.
    monkeypatch.setattr(counts_on_disk, "_TREE", 2)
    run, sources = engine.run, f"{folder}/*.txt"
    if is_lost:
        monkeypatch.setattr(
            engine,
            "run",
            lambda work, *rest, **options: run(
                remote_function(Dying(work, tmp_path / "died")), *rest, **options
            ),
        )
    subword.count_to_parquet(sources, tmp_path / "local.parquet")
    summary = subword.count_to_parquet(
        sources, tmp_path / "ray.parquet", engine="ray", checkpoint_bytes=1
    )
    assert tree(tmp_path)["ray.parquet"] == tree(tmp_path)["local.parquet"]
    assert PretokenCounts.load(summary.path) == subword.count(sources)
    died = {path.name for path in tmp_path.glob("died-*")}
    assert died == ({"died-_count_task", "died-_merge"} if is_lost else set())
    assert not list(tmp_path.glob("*.parts"))


def test_a_count_begun_here_goes_on_there(cluster: Any, folder: Path, tmp_path: Path) -> None:
    sources, output = f"{folder}/*.txt", tmp_path / "a.parquet"

    class StoppedError(Exception):
        pass

    def stop(done: int) -> None:
        journal = tmp_path / "a.parquet.parts" / "journal.jsonl"
        if len(journal.read_text().splitlines()) > 3:
            raise StoppedError

    with pytest.raises(StoppedError):
        subword.count_to_parquet(sources, output, checkpoint_bytes=1, progress=stop)
    assert (tmp_path / "a.parquet.parts").is_dir()
    summary = subword.count_to_parquet(sources, output, checkpoint_bytes=1, engine="ray")
    assert 0 < summary.n_resumed < 6
    assert PretokenCounts.load(output) == subword.count(sources)


def test_records_and_bad_ones_on_a_cluster(
    cluster: Any, tok: subword.Tokenizer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(counts, "_TASK_BYTES", 1)
    for number in range(3):
        (tmp_path / f"{number}.jsonl").write_text('{"text": "the cat"}\n{\n{"text": "sat"}\n')
    sources, options = f"{tmp_path}/*.jsonl", {"on_bad": "skip", "engine": "ray"}
    with pytest.warns(BadRecordsWarning, match="3 bad records were skipped"):
        assert subword.count(sources, **options) == subword.count(["the cat", "sat"] * 3)  # type: ignore[arg-type]
    with pytest.warns(BadRecordsWarning, match="3 bad records were skipped"):
        summary = subword.count_to_parquet(sources, tmp_path / "a.parquet", **options)  # type: ignore[arg-type]
    assert summary.n_bad_records == 3
    with pytest.warns(BadRecordsWarning, match="3 bad records were skipped"):
        shards = subword.tokenize(sources, tok, tmp_path / "out", task_bytes=1, **options)  # type: ignore[arg-type]
    assert [tok.decode(ids[:-1]) for ids in shards or []] == ["the cat", "sat"] * 3


def test_the_command_counts_on_a_cluster(cluster: Any, folder: Path, tmp_path: Path) -> None:
    from cli_calls import run

    printed = []
    for options in ([], ["--engine", "ray"], ["--engine", "ray", "-o", tmp_path / "a.parquet"]):
        result = run("count", f"{folder}/*.txt", "--json", *options)
        assert result.exit_code == 0, result.output
        printed.append({**json.loads(result.stdout), "output": None})
    assert printed[0] == printed[1] == printed[2]


def test_what_a_task_refuses_is_told_here(cluster: Any, folder: Path, tmp_path: Path) -> None:
    small = subword.BPETokenizer({97: b"a"}, [], None)
    with pytest.raises(UnencodableTextError, match=r"\.txt: document 0"):
        subword.tokenize(f"{folder}/*.txt", small, tmp_path / "out", engine="ray")
    assert not (tmp_path / "out" / "manifest.json").exists()


def test_documents_stay_where_they_are(tok: subword.Tokenizer, tmp_path: Path) -> None:
    for work in (
        lambda: subword.tokenize(["a"], tok, tmp_path, engine="ray"),
        lambda: subword.count(["a"], engine="ray"),
        lambda: subword.count_to_parquet(["a"], tmp_path / "a.parquet", engine="ray"),
    ):
        with pytest.raises(subword.ArgumentError, match="engine='local'"):
            work()


def test_ray_is_an_extra(
    folder: Path, tok: subword.Tokenizer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(MissingExtraError, match=r"subword\[ray\]"):
        subword.tokenize(f"{folder}/*.txt", tok, tmp_path / "out", engine="ray")
    assert not (tmp_path / "out").exists()

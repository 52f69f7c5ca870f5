"""A real Ray cluster of two workers gives the bytes that one process gives."""

import os
import random
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import subword
from subword.engines import ray as engine
from subword.errors import EngineError, MissingExtraError, UnencodableTextError

EOT = "<|endoftext|>"


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    ray = pytest.importorskip("ray", reason="ray is not installed: pip install 'subword[ray]'")
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, object_store_memory=1 << 27)
    yield ray
    ray.shutdown()


# Ray leaves sockets and files to the collector.
pytestmark = [
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
]


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


def test_counts_are_those_of_one_process(cluster: Any, folder: Path) -> None:
    for special_tokens in ([], [EOT]):
        here = subword.count(f"{folder}/*.txt", special_tokens=special_tokens)
        there = engine.count(f"{folder}/*.txt", special_tokens=special_tokens, task_bytes=1)
        assert there == here
        assert (there.n_bytes, there.n_documents, there.sources) == (
            here.n_bytes,
            here.n_documents,
            here.sources,
        )


def test_what_a_task_refuses_is_told_here(cluster: Any, folder: Path, tmp_path: Path) -> None:
    small = subword.BPETokenizer({97: b"a"}, [], None)
    with pytest.raises(UnencodableTextError, match=r"\.txt: document 0"):
        subword.tokenize(f"{folder}/*.txt", small, tmp_path / "out", engine="ray")
    assert not (tmp_path / "out" / "manifest.json").exists()


def test_documents_stay_where_they_are(tok: subword.Tokenizer, tmp_path: Path) -> None:
    with pytest.raises(subword.ArgumentError, match="engine='local'"):
        subword.tokenize(["a"], tok, tmp_path, engine="ray")


def test_ray_is_an_extra(
    folder: Path, tok: subword.Tokenizer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(MissingExtraError, match=r"subword\[ray\]"):
        subword.tokenize(f"{folder}/*.txt", tok, tmp_path / "out", engine="ray")
    assert not (tmp_path / "out").exists()


def test_a_cluster_that_is_not_there(
    folder: Path, tok: subword.Tokenizer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ray = pytest.importorskip("ray")
    was_running = ray.is_initialized()
    if was_running:
        ray.shutdown()
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    with pytest.raises(EngineError, match="no Ray cluster to be reached"):
        subword.tokenize(f"{folder}/*.txt", tok, tmp_path / "out", engine="ray")
    assert not (tmp_path / "out").exists()

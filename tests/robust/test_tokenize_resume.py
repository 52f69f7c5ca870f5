"""A run that is killed at any moment goes on to the same bytes; a full disk leaves no false whole."""

import os
import random
import shutil
import subprocess
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import subword
from subword.errors import ResumeError
from subword.formats import save
from subword.manifest import Journal
from subword.tokenizing import task

EOT = "<|endoftext|>"
SOURCES = "corpus/*.txt"

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="kills forks of this process")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("resume")
    (folder / "corpus").mkdir()
    rng = random.Random(5)
    for number in range(3):
        documents = [
            " ".join(rng.choices(["the", "cat", "sat", "naïve", "\n"], k=rng.randrange(80)))
            for _ in range(rng.randrange(10, 30))
        ]
        (folder / "corpus" / f"{number}.txt").write_bytes(EOT.join(documents).encode())
    tok = subword.train_bpe(["the cat sat naïve " * 9], 264, [EOT])
    save(tok, folder / "tokenizer.json")
    return folder


@pytest.fixture
def tok(folder: Path) -> subword.Tokenizer:
    return subword.load(folder / "tokenizer.json")


@pytest.fixture(autouse=True)
def inside(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    # Small enough that there are checkpoints between shards.
    monkeypatch.setattr(task, "_CHECKPOINT_BYTES", 512)
    # A kill ends the process and not the machine: what was written is there, on the disk or not.
    monkeypatch.setattr(os, "fsync", lambda _: None)


def tree(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


OPTIONS: dict[str, dict[str, Any]] = {
    "npy": {"validation": 0.4},
    "npy shuffled": {"shuffle_seed": 3, "validation": 0.2},
    "megatron": {"format": "megatron", "task_bytes": 1},
    "mds": {"format": "mds", "shuffle_seed": 3, "task_bytes": 1},
    "parquet": {"format": "parquet", "validation": 0.4},
    "dolma of documents": {"format": "dolma", "documents": True, "validation": 0.4},
}


def run(tok: subword.Tokenizer, out: Path, options: dict[str, Any]) -> None:
    options = {"shard_tokens": 1000, "n_threads": 1, **options}
    sources: Any = SOURCES
    if options.pop("documents", None):
        sources = [
            text
            for path in sorted(Path("corpus").iterdir())
            for text in path.read_text().split(EOT)
        ]
    subword.tokenize(sources, tok, out, **options)


def killed_at(step: int, work: Callable[[], None]) -> int:
    """Do the work in a fork that dies before its ``step``-th change of the disk.

    Gives the number of steps when the work came to its end before, else -1.
    """
    with warnings.catch_warnings():
        # Newer Pythons warn of forks beside threads; what runs in the fork starts its own.
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child:
        _, status = os.waitpid(child, 0)
        return -1 if os.waitstatus_to_exitcode(status) == 9 else os.waitstatus_to_exitcode(status)
    n_steps = 0

    def counted(change: Any) -> Any:
        def changed(*arguments: Any, **options: Any) -> Any:
            nonlocal n_steps
            n_steps += 1
            if n_steps == step:
                os._exit(9)
            return change(*arguments, **options)

        return changed

    code = 1
    try:
        os.fsync, shutil.rmtree = counted(os.fsync), counted(shutil.rmtree)
        for name in ("replace", "unlink", "mkdir"):
            setattr(Path, name, counted(getattr(Path, name)))
        work()
        code = 0
    finally:
        os._exit(code)


@pytest.mark.parametrize("name", OPTIONS)
def test_a_run_killed_before_any_change_of_the_disk_goes_on(
    name: str, tok: subword.Tokenizer, tmp_path: Path, slow: bool
) -> None:
    options = OPTIONS[name]
    if options.get("format") == "parquet":
        pytest.importorskip("pyarrow")
    run(tok, tmp_path / "whole", options)
    wanted = tree(tmp_path / "whole")
    # Each kind of run has its own sixth of the steps; all of them where there is time.
    step, stride, ended = (1, 1, -1) if slow else (1 + list(OPTIONS).index(name), 6, -1)
    while ended != 0:
        out = tmp_path / f"killed-{step}"
        ended = killed_at(step, lambda out=out: run(tok, out, options))  # type: ignore[misc]
        assert ended in (-1, 0)
        assert (out / "manifest.json").exists() <= (tree(out).items() >= wanted.items())
        # Killed again a little later, then left to end.
        killed_at(1 + step % 7, lambda out=out: run(tok, out, options))  # type: ignore[misc]
        run(tok, out, options)
        assert tree(out) == wanted, step
        shutil.rmtree(out)
        step += stride
    assert step > 20


class StoppedError(BaseException):
    """What ends a run in its middle."""


@pytest.fixture
def unfinished(tok: subword.Tokenizer, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Leave a run that ended in the middle of a source, of its second file where it has two."""

    def leave(sources: Any, out: Path, **options: Any) -> None:
        append = Journal.append
        source = 1 if isinstance(sources, str) else 0

        def appended(journal: Journal, record: Any) -> None:
            append(journal, record)
            state = record.get("state", {})
            if state.get("source") == source and state["documents"]:
                raise StoppedError

        with monkeypatch.context() as patch:
            patch.setattr(Journal, "append", appended)
            with pytest.raises(StoppedError):
                subword.tokenize(sources, tok, out, shard_tokens=400, n_threads=1, **options)

    return leave


def test_what_changed_is_noticed_and_refused(
    tok: subword.Tokenizer, tmp_path: Path, unfinished: Callable[..., None]
) -> None:
    shutil.copytree("corpus", tmp_path / "corpus")
    sources, out = f"{tmp_path}/corpus/*.txt", tmp_path / "out"
    unfinished(sources, out)
    before = tree(out)
    with pytest.raises(ResumeError, match=r"options\.validation was 0\.0 and is now 0\.1"):
        subword.tokenize(sources, tok, out, shard_tokens=400, validation=0.1)
    with pytest.raises(ResumeError, match=r"tokenizer\.sha256"):
        subword.tokenize(
            sources, tok.with_special_tokens(["<x>"]), out, shard_tokens=400, separator=EOT
        )
    # A file that is done, one that is begun, one that waits.
    for name in ("0.txt", "1.txt", "2.txt"):
        path = tmp_path / "corpus" / name
        data, status = path.read_bytes(), path.stat()
        path.write_bytes(data[:-1] + b"?")
        with pytest.raises(ResumeError, match=f"{name} changed since the run"):
            subword.tokenize(sources, tok, out, shard_tokens=400)
        path.write_bytes(data)
        os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert tree(out) == before
    # A file that is done and was only touched is the same file.
    (tmp_path / "corpus" / "0.txt").touch()
    shards = subword.tokenize(sources, tok, out, shard_tokens=400)
    assert shards is not None
    whole = subword.tokenize(sources, tok, tmp_path / "whole", shard_tokens=400)
    assert tree(out) == tree(tmp_path / "whole")
    assert whole is not None


def test_other_documents_than_those_of_the_killed_run_are_refused(
    tok: subword.Tokenizer, tmp_path: Path, unfinished: Callable[..., None]
) -> None:
    documents = [f"the cat {n}" for n in range(200)]
    out = tmp_path / "out"
    unfinished(documents, out)
    # What was seen before the last block is known by its hash, the rest when all is done.
    with pytest.raises(ResumeError, match="other documents"):
        subword.tokenize(documents[:3], tok, out, shard_tokens=400)
    shards = subword.tokenize(documents, tok, out, shard_tokens=400)
    assert [tok.decode(ids[:-1]) for ids in shards or []] == documents


def test_unfinished_work_that_was_lost_is_refused(
    tok: subword.Tokenizer, tmp_path: Path, unfinished: Callable[..., None]
) -> None:
    out = tmp_path / "out"
    unfinished(SOURCES, out, validation=0.4)
    cut = [path for path in (out / "progress").glob("*.ids") if path.stat().st_size > 128]
    assert cut
    for path in cut:
        path.write_bytes(b"")
    with pytest.raises(ResumeError, match="are on record"):
        subword.tokenize(SOURCES, tok, out, shard_tokens=400, validation=0.4)


@pytest.fixture
def small_disk(tmp_path: Path) -> Any:
    """A file system of 512 KiB, where the tests may mount one."""
    place = tmp_path / "disk"
    place.mkdir()
    mount = shutil.which("mount")
    command = [mount or "mount", "-t", "tmpfs", "-o", "size=512k", "tmpfs", str(place)]
    if mount is None or subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("no small file system can be mounted here")
    yield place
    subprocess.run(["umount", str(place)], check=True)  # noqa: S607


@pytest.mark.parametrize("format", ["npy", "megatron", "parquet", "mds"])
def test_a_disk_that_fills(
    format: str,
    tok: subword.Tokenizer,
    tmp_path: Path,
    small_disk: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if format == "parquet":
        pytest.importorskip("pyarrow")
    monkeypatch.setattr(task, "_CHECKPOINT_BYTES", 1 << 18)
    many, rng = tmp_path / "many.txt", random.Random(3)
    many.write_text(EOT.join(rng.randbytes(500).hex() for _ in range(1000)))
    options: dict[str, Any] = {"format": format, "shard_tokens": 50_000}
    out = small_disk / "out"
    with pytest.raises(OSError, match="No space left on device") as refused:
        subword.tokenize(many, tok, out, **options)
    assert refused.value.errno == 28
    assert not (out / "manifest.json").exists()
    # What is there is cut or whole, and never taken for more: with room the run goes on.
    roomy = tmp_path / "roomy"
    shutil.copytree(out, roomy)
    subword.tokenize(many, tok, roomy, **options)
    subword.tokenize(many, tok, tmp_path / "whole", **options)
    assert tree(roomy) == tree(tmp_path / "whole")

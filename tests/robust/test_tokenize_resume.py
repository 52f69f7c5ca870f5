"""A run that is killed at any moment goes on to the same bytes; a full disk leaves no false whole."""

import os
import random
import shutil
import signal
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import subword
from subword.errors import ResumeError
from subword.formats import save
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
    monkeypatch.setattr(task, "_CHECKPOINT_BYTES", 64)


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
    options = {"shard_tokens": 400, "n_threads": 1, **options}
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


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
def test_a_run_killed_before_any_change_of_the_disk_goes_on(
    options: dict[str, Any], tok: subword.Tokenizer, tmp_path: Path
) -> None:
    if options.get("format") == "parquet":
        pytest.importorskip("pyarrow")
    run(tok, tmp_path / "whole", options)
    wanted = tree(tmp_path / "whole")
    step, ended = 1, -1
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
        step += 1 if step < 12 else 3
    assert step > 20


def killed_anywhere(command: list[str], out: Path, seconds: float) -> None:
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    time.sleep(seconds)
    process.send_signal(signal.SIGKILL)
    _, said = process.communicate()
    assert process.returncode in (0, -signal.SIGKILL), said


def test_kill_9_at_random_moments(folder: Path, tmp_path: Path) -> None:
    big = tmp_path / "big.txt"
    texts = [path.read_bytes() for path in sorted((folder / "corpus").iterdir())]
    rng = random.Random(7)
    big.write_bytes(EOT.encode().join(rng.choices(texts, k=3000)))
    command = [
        sys.executable, "-c", "from subword.cli import main; main()", "tokenize",
        "tokenizer.json", str(big), "--shard-tokens", "300000", "--validation", "0.1",
        "--shuffle-seed", "1", "--threads", "2", "-o",
    ]  # fmt: skip
    started = time.monotonic()
    subprocess.run([*command, str(tmp_path / "whole")], check=True, capture_output=True)
    seconds = time.monotonic() - started
    wanted = tree(tmp_path / "whole")
    out = tmp_path / "killed"
    for _ in range(10):
        killed_anywhere([*command, str(out)], out, rng.uniform(0.3, 1) * seconds)
    subprocess.run([*command, str(out)], check=True, capture_output=True)
    assert tree(out) == wanted


def unfinished(tok: subword.Tokenizer, out: Path, sources: str, **options: Any) -> None:
    """Leave a run that was killed in the middle of its second file."""
    for step in range(20, 200):
        shutil.rmtree(out, ignore_errors=True)
        work = lambda: subword.tokenize(sources, tok, out, shard_tokens=400, n_threads=1, **options)  # noqa: E731
        assert killed_at(step, work) == -1  # type: ignore[arg-type]
        journal = out / "progress" / "task-00000.jsonl"
        if journal.exists() and b'"source":1,' in journal.read_bytes().splitlines()[-1]:
            return
    pytest.fail("no kill left the run in its second file")


def test_what_changed_is_noticed_and_refused(tok: subword.Tokenizer, tmp_path: Path) -> None:
    shutil.copytree("corpus", tmp_path / "corpus")
    sources, out = f"{tmp_path}/corpus/*.txt", tmp_path / "out"
    unfinished(tok, out, sources)
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
    tok: subword.Tokenizer, tmp_path: Path
) -> None:
    documents = [f"the cat {n}" for n in range(200)]
    out = tmp_path / "out"
    work = lambda: subword.tokenize(documents, tok, out, shard_tokens=100, n_threads=1)  # noqa: E731
    assert killed_at(40, work) == -1  # type: ignore[arg-type]
    for other in (["x", *documents[1:]], documents[:3]):
        with pytest.raises(ResumeError):
            subword.tokenize(other, tok, out, shard_tokens=100)
    assert work() is not None


def test_unfinished_work_that_was_lost_is_refused(tok: subword.Tokenizer, tmp_path: Path) -> None:
    out = tmp_path / "out"
    unfinished(tok, out, SOURCES, validation=0.4)
    cut = [path for path in (out / "progress").glob("*.ids") if path.stat().st_size > 128]
    assert cut
    for path in cut:
        path.write_bytes(b"")
    with pytest.raises(ResumeError, match="are on record"):
        subword.tokenize(SOURCES, tok, out, shard_tokens=400, validation=0.4)


@pytest.fixture
def small_disk(tmp_path: Path) -> Any:
    """A file system of 1 MiB, where the tests may mount one."""
    place = tmp_path / "disk"
    place.mkdir()
    mount = shutil.which("mount")
    command = [mount or "mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(place)]
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
    text = Path("corpus/0.txt").read_bytes()
    many = tmp_path / "many.txt"
    many.write_bytes(EOT.encode().join([text] * 400))
    options: dict[str, Any] = {"format": format, "shard_tokens": 100_000}
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

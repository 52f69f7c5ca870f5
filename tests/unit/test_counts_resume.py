"""Counting that was stopped goes on to the same bytes, or says why not."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import subword
from counts_samples import PEAK, corpus
from subword import CountsError, PretokenCounts, count_to_parquet
from subword.errors import CorpusError, ResumeError


class StoppedError(Exception):
    pass


def stopped_after(n_finished: int, paths: list[Path], output: Path, **options: Any) -> Path:
    """Count until so many inputs are finished, then stop with an exception; gives the parts."""
    parts = output.with_name(f"{output.name}.parts")

    def watch(_done: int) -> None:
        journal = parts / "journal.jsonl"
        if journal.exists() and len(journal.read_text().splitlines()) > n_finished:
            raise StoppedError

    with pytest.raises(StoppedError):
        count_to_parquet(paths, output, checkpoint_bytes=1, progress=watch, **options)
    return parts


def test_what_is_finished_is_not_counted_again(tmp_path: Path) -> None:
    paths = corpus(tmp_path / "in")
    parts = stopped_after(3, paths, tmp_path / "a.parquet")
    assert not (tmp_path / "a.parquet").exists()
    named = {
        run
        for line in (parts / "journal.jsonl").read_text().splitlines()[1:]
        for run in json.loads(line)["runs"]
    }
    assert {path.name for path in parts.glob("*.run")} == named
    (parts / "run-000009-000-000000.run").write_bytes(b"of a kill")
    summary = count_to_parquet(paths, tmp_path / "a.parquet", checkpoint_bytes=1)
    assert summary.n_resumed == 3
    count_to_parquet(paths, tmp_path / "b.parquet")
    assert (tmp_path / "a.parquet").read_bytes() == (tmp_path / "b.parquet").read_bytes()


def test_a_run_that_finished_nothing_leaves_nothing(tmp_path: Path) -> None:
    path = tmp_path / "a.gz"
    path.write_bytes(b"\x1f\x8b\x08\x00 no gzip")
    with pytest.raises(CorpusError):
        count_to_parquet(path, tmp_path / "a.parquet")
    assert list(tmp_path.iterdir()) == [path]


CHANGES: dict[str, Any] = {
    "pattern": {"pattern": "cl100k"},
    "special_tokens": {"special_tokens": ["x"], "documents": "file"},
    "documents": {"documents": "line"},
    "min_count": {"min_count": 2},
    "on_bad": {"on_bad": "skip"},
}


@pytest.mark.parametrize("option", CHANGES)
def test_another_run_is_refused(tmp_path: Path, option: str) -> None:
    paths = corpus(tmp_path / "in")
    stopped_after(2, paths, tmp_path / "a.parquet")
    with pytest.raises(ResumeError, match=option):
        count_to_parquet(paths, tmp_path / "a.parquet", **CHANGES[option])
    with pytest.raises(ResumeError, match="inputs"):
        count_to_parquet(paths[:-1], tmp_path / "a.parquet")


def test_an_input_that_changed_is_refused_and_a_copy_is_not(tmp_path: Path) -> None:
    paths = corpus(tmp_path / "in")
    parts = stopped_after(2, paths, tmp_path / "a.parquet")
    before, text = paths[0].stat(), paths[0].read_bytes()
    paths[0].write_bytes(b"x" + text[1:])
    os.utime(paths[0], ns=(before.st_atime_ns, before.st_mtime_ns))
    with pytest.raises(ResumeError, match="has changed since it was counted"):
        count_to_parquet(paths, tmp_path / "a.parquet")
    assert parts.is_dir()
    paths[0].write_bytes(text)
    assert count_to_parquet(paths, tmp_path / "a.parquet").n_resumed == 2
    assert PretokenCounts.load(tmp_path / "a.parquet") == subword.count(paths)


def test_a_damaged_run_is_found_out(tmp_path: Path) -> None:
    paths = corpus(tmp_path / "in")
    parts = stopped_after(2, paths, tmp_path / "a.parquet")
    run = next(parts.glob("*.run"))
    data = bytearray(run.read_bytes())
    data[len(data) // 2] ^= 1
    run.write_bytes(data)
    with pytest.raises(CountsError, match="damaged"):
        count_to_parquet(paths, tmp_path / "a.parquet")
    assert not (tmp_path / "a.parquet").exists()


FILL = """
import resource, sys, subword
limit = int(sys.argv[3])
resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
import signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
try:
    subword.count_to_parquet(sys.argv[1], sys.argv[2])
except OSError as error:
    print(type(error).__name__, error.errno, error.filename)
"""


def test_a_disk_that_takes_no_more_is_an_error_and_leaves_no_table(tmp_path: Path) -> None:
    paths = corpus(tmp_path / "in", 3)
    for limit in (2_000, 60_000):
        command = [
            sys.executable,
            "-c",
            FILL,
            str(tmp_path / "in" / "*.txt"),
            str(tmp_path / "a.parquet"),
            str(limit),
        ]
        result = subprocess.run(command, capture_output=True, text=True, check=True)
        assert result.stdout.startswith("OSError 27"), result.stdout + result.stderr
        assert not (tmp_path / "a.parquet").exists()
    count_to_parquet(paths, tmp_path / "a.parquet")
    assert PretokenCounts.load(tmp_path / "a.parquet") == subword.count(paths)


def test_a_small_disk_that_fills(tmp_path: Path) -> None:
    mount = shutil.which("mount")
    disk = tmp_path / "disk"
    disk.mkdir()
    paths = corpus(tmp_path / "in", 4, 20_000)
    command = [str(mount), "-t", "tmpfs", "-o", "size=300k", "none", str(disk)]
    if mount is None or subprocess.run(command, capture_output=True).returncode:
        pytest.skip("no file system can be mounted here")
    try:
        with pytest.raises(OSError, match="No space left"):
            count_to_parquet(paths, disk / "a.parquet")
        assert not (disk / "a.parquet").exists()
    finally:
        subprocess.run([str(shutil.which("umount")), str(disk)], check=True)


def test_documents_of_no_file_are_counted_to_disk(tmp_path: Path) -> None:
    summary = count_to_parquet(({"text": t} for t in ["a b", "b c"]), tmp_path / "a.parquet")
    assert PretokenCounts.load(summary.path) == subword.count(["a b", "b c"])
    assert [path.name for path in tmp_path.iterdir()] == ["a.parquet"]


def test_mixed_real_text_stays_within_its_memory(shared: Path, slow: bool, tmp_path: Path) -> None:
    """The figure that the documentation gives; the corpus is built once by the benchmarks."""
    if not slow:
        pytest.skip("SUBWORD_SLOW=1 asks for it")
    from benchmarks.corpora import build_corpus

    source = build_corpus("mixed").documents
    output = tmp_path / "a.parquet"
    command = [sys.executable, "-c", PEAK, str(source), str(output), "256MiB"]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    assert int(printed) < 400
    assert PretokenCounts.load(output) == subword.count(source, special_tokens=["<|endoftext|>"])

"""The ends of pipes, disks that fill up, Ctrl-C, terminals."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from cli_calls import TEXT, folder, inside, process  # noqa: F401  # fixtures
from subword.cli.terminal import progress

MAIN = "from subword.cli import main; main()"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full on this system")
@pytest.mark.parametrize(
    "arguments",
    [["count", "corpus.txt"], ["encode", "tokenizer.json", "corpus.txt"], ["decode",
     "tokenizer.json", "116"], ["inspect", "tokenizer.json", "--json"], ["encode",
     "tokenizer.json", "corpus.txt", "-o", "/dev/full"]],
)  # fmt: skip
def test_a_full_disk_is_one_line_and_exit_1(arguments: list[str]) -> None:
    with open("/dev/full", "wb") as full, process(*arguments, stdout=full) as started:  # noqa: PTH123
        _, error = started.communicate()
    assert started.returncode == 1
    assert error.decode().startswith("subword: ")
    assert "No space left" in error.decode()
    assert error.count(b"\n") == 1


@pytest.mark.skipif(sys.platform == "win32", reason="no limit on the size of files")
def test_a_disk_that_fills_up_leaves_no_half_file(folder: Path) -> None:
    limit = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (300, 300))"
    command = [sys.executable, "-c", f"{limit}; {MAIN}", "encode", "tokenizer.json"]
    before = sorted(folder.iterdir())
    for output in ("half.ids", "tokenizer.json"):
        old = (folder / "tokenizer.json").read_bytes()
        ended = subprocess.run([*command, "corpus.txt", "-o", output], capture_output=True)
        assert ended.returncode == 1
        assert ended.stderr.startswith(b"subword: ")
        assert sorted(folder.iterdir()) == before
        assert (folder / "tokenizer.json").read_bytes() == old


def test_a_closed_pipe_ends_quietly(folder: Path) -> None:
    (folder / "long.txt").write_text(TEXT * 3000, encoding="utf-8")
    for arguments in (["encode", "tokenizer.json", "long.txt"], ["count", "long.txt"]):
        with process(*arguments) as started:
            assert started.stdout is not None
            assert started.stderr is not None
            if arguments[0] == "encode":
                started.stdout.read(10)
            started.stdout.close()
            error = started.stderr.read()
        assert (started.returncode, error) == (0, b"")


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGINT to send")
def test_ctrl_c_is_exit_130_without_a_word(folder: Path) -> None:
    with process("encode", "tokenizer.json", "-") as started:
        assert started.stdin is not None
        assert started.stdout is not None
        started.stdin.write((TEXT * 40).encode())
        started.stdin.flush()
        started.stdout.read(10)  # so it is at work
        started.send_signal(signal.SIGINT)
        _, error = started.communicate()
    assert (started.returncode, error) == (130, b"")


def test_progress_is_off_when_standard_error_is_no_terminal(tmp_path: Path) -> None:
    with progress("counting", "bytes") as report:
        assert report is None


@pytest.fixture
def terminal() -> Any:
    """Give both ends of a terminal."""
    pty = pytest.importorskip("pty")
    ends = pty.openpty()
    yield ends
    for end in ends:
        os.close(end)


def read_all(end: int) -> str:
    """Read what a terminal has shown so far."""
    os.set_blocking(end, False)
    parts = []
    try:
        while part := os.read(end, 1 << 16):
            parts.append(part)
    except BlockingIOError:
        pass
    return b"".join(parts).decode()


def test_a_bar_appears_on_a_terminal_after_a_second(terminal: tuple[int, int]) -> None:
    outer, inner = terminal
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "100"}
    with process("encode", "tokenizer.json", "-", stderr=inner, env=environment) as started:
        assert started.stdin is not None
        seen = ""
        for _ in range(600):  # however long a busy machine takes to start it
            started.stdin.write(b"the cat ")
            started.stdin.flush()
            time.sleep(0.1)
            seen += read_all(outer)
            if "encoding" in seen:
                break
        ids, _ = started.communicate()
    assert started.returncode == 0
    assert ids
    assert "encoding" in seen


def test_colours_on_a_terminal_and_none_under_no_color(terminal: tuple[int, int]) -> None:
    outer, inner = terminal
    plain = {key: value for key, value in os.environ.items() if key not in ("NO_COLOR", "CI")}
    shows = []
    for extra in ({}, {"NO_COLOR": "1"}):
        environment = plain | {"TERM": "xterm-256color", "COLUMNS": "100"} | extra
        arguments = ("inspect", "tokenizer.json", "--text", "the cat", "--longest", "0")
        with process(*arguments, stdout=inner, env=environment) as started:
            _, error = started.communicate()
        assert (started.returncode, error) == (0, b"")
        shows.append(read_all(outer))
    coloured, bare = shows
    background = "\x1b[30;10"
    assert background in coloured
    assert background not in bare
    assert "|" in bare

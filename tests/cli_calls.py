"""A folder with a corpus and a tokenizer, and calls of the commands in it."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import subword
from subword.cli import app

COMMAND = [sys.executable, "-m", "subword"]


TEXT = "The cat sat on the mat.\nThe hat, naïve 你好 🌍, sat on the cat.\n" * 8


SPECIAL = "<|endoftext|>"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("cli")
    (folder / "corpus.txt").write_text(TEXT + SPECIAL + TEXT, encoding="utf-8")
    (folder / "empty.txt").write_text("")
    (folder / "bytes.bin").write_bytes(b"caf\xe9 \xff\x00 " * 3)
    tok = subword.train_bpe(folder / "corpus.txt", 280, [SPECIAL])
    subword.save(tok, folder / "tokenizer.json")
    return folder


@pytest.fixture
def tok(folder: Path) -> subword.Tokenizer:
    return subword.load(folder / "tokenizer.json")


@pytest.fixture(autouse=True)
def inside(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)


def run(*arguments: object, stdin: bytes | None = None) -> Any:
    return CliRunner().invoke(app, [str(argument) for argument in arguments], input=stdin)


def refused(*arguments: object, stdin: bytes | None = None) -> str:
    """Run what is refused: exit 1, one line on standard error, nothing on standard output."""
    result = run(*arguments, stdin=stdin)
    assert (result.exit_code, result.stdout) == (1, ""), result.output
    assert result.stderr.startswith("subword: ")
    assert result.stderr.count("\n") == 1
    return result.stderr


def process(*arguments: object, **options: Any) -> subprocess.Popen[bytes]:
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen([*COMMAND, *map(str, arguments)], **(pipes | options))

"""What the commands refuse: one line, and a status."""

import gzip
import os
import shlex
from pathlib import Path
from typing import Any

import pytest

from cli_calls import folder, inside, refused, run  # noqa: F401  # fixtures

BAD_INPUT = {
    "count missing.txt": "missing.txt: no such file",
    "count 'no*.match'": "no file matches",
    "count .": "a directory",
    "count empty.txt": "hold no text",
    "count corpus.txt --pattern '('": "does not compile",
    "count corpus.txt --threads 0": "n_threads",
    "count corpus.txt --special-token ''": "special token",
    "count corpus.txt --documents ''": "separator",
    "count corpus.txt -o .": "a directory",
    "count corpus.txt -o nowhere/c.parquet": "make it first",
    "count - -": "twice",
    "train bpe missing.txt --vocab-size 300 -o x.json": "no such file",
    "train bpe corpus.txt --vocab-size 10 -o x.json": "vocab_size is 10",
    "train bpe empty.txt --vocab-size 300 -o x.json": "no text",
    "train bpe corpus.txt --vocab-size 300 --min-frequency 0 -o x.json": "min_frequency",
    "train bpe corpus.txt --vocab-size 256 --special-token '<s>' -o x.json": "need 257",
    "train bpe corpus.txt --vocab-size 300 --special-token ab --special-token ab -o x": "twice",
    "train bpe corpus.txt --vocab-size 300 -o x.odd": "'.odd'",
    "train bpe corpus.txt --vocab-size 300 -o x --format odd": "'odd'",
    "train bpe corpus.txt --vocab-size 300 -o no/x.json": "make it first",
    "encode missing.json corpus.txt": "missing.json",
    "encode corpus.txt corpus.txt": "corpus.txt",
    "encode tokenizer.json missing.txt": "no such file",
    "encode tokenizer.json corpus.txt --text x": "one of them",
    "decode tokenizer.json 280": "280",
    "decode tokenizer.json 1 99999999999999999999": "99999999999999999999",
    "decode tokenizer.json 1 2x": "id 1 is '2x'",
    "decode tokenizer.json 1.5": "whole numbers",
    "inspect missing.json": "missing.json",
    "inspect tokenizer.json .": "a directory",
}


@pytest.mark.parametrize("arguments", BAD_INPUT)
def test_bad_input_is_one_line_and_exit_1(arguments: str, folder: Path) -> None:
    before = sorted(folder.iterdir())
    assert BAD_INPUT[arguments] in refused(*shlex.split(arguments))
    assert sorted(folder.iterdir()) == before


@pytest.mark.parametrize("command", [["count"], ["encode", "tokenizer.json"]])
def test_a_truncated_gzip_is_refused(command: list[str], folder: Path) -> None:
    (folder / "cut.gz").write_bytes(gzip.compress(os.urandom(3000))[:2000])
    result = run(*command, "cut.gz", "-o", "never.out")
    assert result.exit_code == 1
    assert "cut.gz" in result.stderr
    assert not (folder / "never.out").exists()


def test_wrong_arguments_are_refused_before_the_corpus_is_read(monkeypatch: Any) -> None:
    def read(*_arguments: object, **_options: object) -> None:
        raise AssertionError("the corpus was read")

    monkeypatch.setattr("subword.cli.training.count_files", read)
    train = ("train", "bpe", "corpus.txt", "-o")
    refused(*train, "x.json", "--vocab-size", 256, "--special-token", "<s>")
    refused(*train, "x.json", "--vocab-size", 300, "--threads", 0)
    refused(*train, "x.json", "--vocab-size", 300, "--pattern", "(")
    refused(*train, "x.odd", "--vocab-size", 300)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes on this system")
def test_a_tokenizer_is_not_saved_over_a_pipe(folder: Path) -> None:
    os.mkfifo(folder / "pipe.json")
    arguments = ("train", "bpe", "corpus.txt", "--vocab-size", 270, "-o", "pipe.json")
    assert "device or pipe" in refused(*arguments)


def test_ids_that_do_not_exist_are_named_with_their_place() -> None:
    many = b"116 " * 70_000 + b"999"
    result = run("decode", "tokenizer.json", stdin=many)
    assert result.exit_code == 1
    assert "999" in result.stderr
    assert "after" in result.stderr
    assert refused("decode", "tokenizer.json", stdin=b"7" * 1_000_000).count("7") < 60


def test_words_that_end_within_one_are_refused() -> None:
    result = run("decode", "tokenizer.json", "--dtype", "uint32", stdin=b"t\0\0\0t")
    assert (result.exit_code, result.stdout) == (1, "t")
    assert "1 bytes are left over" in result.stderr


WRONG_USAGE = [
    ["nonsense"],
    ["count"],
    ["count", "--top", "-1", "corpus.txt"],
    ["train", "bpe", "corpus.txt", "-o", "x"],
    ["train", "magic", "corpus.txt"],
    ["encode", "tokenizer.json", "--format", "xml"],
]


@pytest.mark.parametrize("arguments", WRONG_USAGE, ids=" ".join)
def test_wrong_usage_is_exit_2(arguments: list[str]) -> None:
    result = run(*arguments)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr


def test_memory_that_cannot_be_had_is_a_refusal(monkeypatch: pytest.MonkeyPatch) -> None:
    def exhausted(*_arguments: object, **_options: object) -> None:
        raise MemoryError

    monkeypatch.setattr("subword.cli.count.count", exhausted)
    assert "out of memory" in refused("count", "corpus.txt")

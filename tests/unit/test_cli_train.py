"""``subword train``, one command a method: each is the API's training, or one line that says no."""

import json
import shlex
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import subword
from subword.cli import app

TEXT = "the cat in the hat sat on the mat\nlow lower lowest\n喜欢 喜欢 苹果\n" * 3

TRAINED: dict[str, tuple[str, Any]] = {
    "characters of bpe": (
        "bpe --vocab-size 45 --alphabet characters --unk-token [UNK] --ties first",
        lambda: subword.train_bpe(
            "c.txt", 45, alphabet="characters", unk_token="[UNK]", ties="first"
        ),
    ),
    "bpe with ends of words": (
        "bpe --vocab-size 36 --alphabet characters --end-of-word-suffix </w>",
        lambda: subword.train_bpe("c.txt", 36, alphabet="characters", end_of_word_suffix="</w>"),
    ),
    "bpe with bytes to fall back on": (
        "bpe --vocab-size 300 --alphabet characters --byte-fallback --special-token <s>",
        lambda: subword.train_bpe("c.txt", 300, ["<s>"], alphabet="characters", byte_fallback=True),
    ),
    "wordpiece": (
        "wordpiece --vocab-size 45 --score frequency --min-frequency 2 --extra-alphabet zé",
        lambda: subword.train_wordpiece(
            "c.txt", 45, score="frequency", min_frequency=2, extra_alphabet="zé"
        ),
    ),
    "wordpiece without a prefix": (
        "wordpiece --vocab-size 36 --prefix '' --special-token ? --unk-token ?",
        lambda: subword.train_wordpiece("c.txt", 36, ["?"], prefix="", unk_token="?"),
    ),
    "unigram": (
        "unigram --vocab-size 33 --no-byte-fallback --special-token <s> --max-piece-length 4",
        lambda: subword.train_unigram(
            "c.txt", 33, ["<s>"], byte_fallback=False, max_piece_length=4
        ),
    ),
    "characters": (
        "characters --special-token <s>",
        lambda: subword.train_characters("c.txt", special_tokens=["<s>"]),
    ),
    "words": (
        "words --vocab-size 9 --pattern gpt2 --min-frequency 2",
        lambda: subword.train_words("c.txt", 9, pattern="gpt2", min_frequency=2),
    ),
}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "c.txt").write_text(TEXT, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def saved(monkeypatch: pytest.MonkeyPatch) -> list[subword.Tokenizer]:
    """What would be written: which formats can hold what is their own tests' matter."""
    kept: list[subword.Tokenizer] = []

    def save(tokenizer: subword.Tokenizer, *_where: object) -> None:
        kept.append(tokenizer)

    monkeypatch.setattr("subword.cli.training.save", save)
    return kept


def run(command: str, *more: str) -> Any:
    arguments = shlex.split(command)
    return CliRunner().invoke(app, ["train", arguments[0], "c.txt", *arguments[1:], *more])


@pytest.mark.parametrize("name", TRAINED)
def test_it_is_the_apis_training(name: str, saved: list[subword.Tokenizer]) -> None:
    command, train = TRAINED[name]
    result = run(command, "-o", "t.json", "--json")
    assert (result.exit_code, result.stderr) == (0, "")
    expected = train()
    assert saved[-1] == expected
    printed = json.loads(result.stdout)
    assert printed["vocab_size"] == expected.vocab_size
    assert printed["stopped_early"] is False
    assert printed["n_bytes"] == len(TEXT.encode())


def test_it_trains_from_a_table_of_counts(saved: list[subword.Tokenizer]) -> None:
    pytest.importorskip("pyarrow", reason="tables are Parquet")
    counts = subword.count("c.txt", pattern="gpt2", special_tokens=["<s>"])
    counts.save("t.parquet")
    train = ("train", "words", "t.parquet", "--vocab-size", "9", "-o", "t.json")
    result = CliRunner().invoke(app, train)
    assert (result.exit_code, result.stderr) == (0, "")
    assert saved[-1] == subword.train_words(counts, 9)
    result = CliRunner().invoke(app, [*train, "--pattern", "cl100k"])
    assert result.exit_code == 1
    assert "the counts were made with" in result.stderr


REFUSED = {
    "wordpiece --vocab-size 7": "vocab_size is 7",
    "wordpiece --vocab-size 60 --unk-token nope": "no special token",
    "wordpiece --vocab-size 60 --character-coverage 2": "character_coverage is 2",
    "unigram --vocab-size 100": "vocab_size is 100",
    "unigram --vocab-size 270": "required characters",
    "unigram --vocab-size 500 --shrinking-factor 1": "shrinking_factor",
    "unigram --vocab-size 500 --threads 0": "n_threads",
    "words --vocab-size 1": "vocab_size is 1",
    "words --vocab-size 9 --min-frequency 0": "min_frequency",
    "characters --vocab-size 1": "vocab_size is 1",
    "bpe --vocab-size 300 --unk-token ?": "needs alphabet",
    "bpe --vocab-size 10 --alphabet characters": "characters need",
    "bpe --vocab-size 99 --alphabet characters --byte-fallback --end-of-word-suffix x": "is on",
}


@pytest.mark.parametrize("command", REFUSED)
def test_refused_in_one_line(command: str, saved: list[subword.Tokenizer]) -> None:
    result = run(command, "-o", "t.json")
    assert result.exit_code == 1
    assert REFUSED[command] in result.stderr
    assert result.stderr.count("\n") == 1
    assert result.stderr.startswith("subword: ")
    assert result.stdout == ""


def test_what_was_left_out_is_said_in_one_line(saved: list[subword.Tokenizer]) -> None:
    result = run("characters --vocab-size 5 --json", "-o", "t.json")
    assert result.exit_code == 0
    assert "characters outside the alphabet were left out" in result.stderr
    assert result.stderr.count("\n") == 1
    result = run("words --vocab-size 5000 --json", "-o", "t.json")
    assert "no word is left" in result.stderr
    assert json.loads(result.stdout)["stopped_early"] is True

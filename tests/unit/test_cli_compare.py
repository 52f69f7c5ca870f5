"""``subword compare``."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import subword
from subword.cli import app

TEXT = "the cat in the hat, the cat in the hat\n" * 4


@pytest.fixture(autouse=True)
def inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("text.txt").write_text(TEXT)
    subword.save(subword.train_bpe([TEXT], 262), "small.json")
    subword.save(subword.train_bpe([TEXT], 266), "large.json")


def run(*arguments: str) -> Any:
    return CliRunner().invoke(app, ["compare", *arguments])


@pytest.mark.parametrize("texts", [("--source", "text.txt"), ("--text", TEXT)])
def test_sizes_and_ratios_are_those_of_the_library(texts: tuple[str, str]) -> None:
    result = run("small.json", "large.json", *texts, "--json")
    assert result.exit_code == 0, result.output
    small, large = json.loads(result.stdout)["tokenizers"]
    counts = [subword.load(f"{name}.json").count_tokens(TEXT) for name in ("small", "large")]
    assert [small["n_tokens"], large["n_tokens"]] == counts
    assert small["ratio"] == 1
    assert large["ratio"] == round(counts[1] / counts[0], 4)
    assert large["bytes_per_token"] == round(len(TEXT) / counts[1], 3)


def test_a_table_has_a_row_for_each() -> None:
    result = run("small.json", "large.json", "small.json", "--source", "text.txt")
    assert result.exit_code == 0
    assert result.stdout.count("small.json") == 2
    assert result.stdout.count("large.json") == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("small.json", "--text", "x"), "two or more"),
        (("small.json", "large.json"), "--source or --text"),
        (("small.json", "large.json", "--text", "x", "-s", "text.txt"), "--source or --text"),
        (("small.json", "large.json", "-s", "-"), "standard input"),
        (("small.json", "none.json", "--text", "x"), "none.json"),
        (("small.json", "large.json", "-s", "none.txt"), "none.txt"),
    ],
)
def test_what_cannot_be_compared_is_refused(arguments: tuple[str, ...], message: str) -> None:
    result = run(*arguments)
    assert result.exit_code == 1
    assert result.stderr.count("\n") == 1
    assert message in result.stderr

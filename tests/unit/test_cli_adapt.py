"""The commands that change a tokenizer."""

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import subword
from subword.cli import app


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with two tokenizers and a text."""
    monkeypatch.chdir(tmp_path)
    subword.save(subword.train_bpe({"low": 5, "lower": 2}, 260, ["<s>"]), "old.json")
    subword.save(subword.train_bpe({"los": 5, "lose": 2}, 258), "other.json")
    Path("slow.txt").write_text("slow slower slowest\n" * 3)
    return tmp_path


def run(*arguments: object) -> str:
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exit_code == 0, result.output
    return result.stdout


def test_extend_writes_tokenizer_map_and_report(folder: Path) -> None:
    arguments = ("extend", "old.json", "slow.txt", "--tokens", 2, "--text", "slow.txt", "-o", "new")
    report = json.loads(run(*arguments, "--json"))
    assert (report["n_added"], report["old_size"], report["new_size"]) == (2, 260, 262)
    assert report == json.loads(Path("new/report.json").read_text())
    assert {path.name for path in Path("new").iterdir()} == {
        "id_map.json",
        "report.json",
        "tokenizer.json",
    }
    tok = subword.load("new/tokenizer.json")
    assert len(tok.encode(" slowest")) < len(subword.load("old.json").encode(" slowest"))
    assert "coarsening" in run("extend", "old.json", "--token", "slow", "-o", "given")


def test_extend_reads_count_tables(folder: Path) -> None:
    pytest.importorskip("pyarrow")
    subword.count("slow.txt", special_tokens=["<s>"]).save("slow.parquet")
    tables = run("extend", "old.json", "slow.parquet", "--tokens", 2, "-o", "a", "--json")
    texts = run("extend", "old.json", "slow.txt", "--tokens", 2, "-o", "b", "--json")
    assert tables == texts


def test_merge_and_prune(folder: Path) -> None:
    run("merge", "old.json", "other.json", "-o", "both")
    both = subword.load("both/tokenizer.json")
    assert both.merges[-2:] == [(b"o", b"s"), (b"l", b"os")]
    run("prune", "both/tokenizer.json", "--token", "los", "--token", "os", "-o", "back")
    assert subword.load("back/tokenizer.json") == subword.load("old.json")
    report = json.loads(
        run("prune", "old.json", "slow.txt", "--vocab-size", 258, "-o", "s", "--json")
    )
    assert report["n_removed"] == 2


def test_init_embeddings(folder: Path) -> None:
    numpy_files = pytest.importorskip("safetensors.numpy")
    run("extend", "old.json", "--token", "slow", "-o", "new")
    numpy_files.save_file({"wte.weight": np.ones((260, 4), np.float32)}, "model.safetensors")
    arguments = ("init-embeddings", "model.safetensors", "new/id_map.json", "-o", "made")
    numbers = json.loads(run(*arguments, "--json"))
    assert numbers["n_new_rows"] == 261
    assert numpy_files.load_file("made/model.safetensors")["wte.weight"].shape == (261, 4)


def test_a_donor_and_the_tokenizer_files(folder: Path) -> None:
    numpy_files = pytest.importorskip("safetensors.numpy")
    run("extend", "old.json", "--token", "slow", "--first-id", 300, "-o", "new")
    Path("model").mkdir()
    rows = np.random.default_rng(0).normal(size=(300, 4)).astype(np.float32)
    numpy_files.save_file({"wte.weight": rows}, "model/model.safetensors")
    Path("donor").mkdir()
    numpy_files.save_file({"wte.weight": rows[:260]}, "donor/model.safetensors")
    subword.save(subword.load("old.json"), "donor/tokenizer.json")
    whole = ("init-embeddings", "model", "new/id_map.json", "-o", "made", "--method", "omp")
    donor = ("--donor", "donor", "--n-atoms", 4)
    result = CliRunner().invoke(app, [str(part) for part in (*whole, *donor)])
    assert result.exit_code == 1 and "--donor needs --tokenizer" in result.stderr
    run(*whole, *donor, "--tokenizer", "new/tokenizer.json")
    assert numpy_files.load_file("made/model.safetensors")["wte.weight"].shape == (301, 4)
    assert subword.load("made/tokenizer.json") == subword.load("new/tokenizer.json")


@pytest.mark.parametrize(
    "arguments",
    [
        ("extend", "old.json", "-o", "x"),
        ("extend", "old.json", "slow.txt", "--tokens", 0, "-o", "x"),
        ("extend", "old.json", "--token", "low", "-o", "x"),
        ("extend", "old.json", "slow.txt", "--tokens", 2, "--allow", "gravity", "-o", "x"),
        ("extend", "old.json", "slow.txt", "--tokens", 2, "--name", "a/b", "-o", "x"),
        ("prune", "old.json", "slow.txt", "--vocab-size", 9, "-o", "x"),
        ("merge", "old.json", "missing.json", "-o", "x"),
        ("init-embeddings", "missing.safetensors", "old.json", "-o", "x"),
    ],
)
def test_what_is_refused_says_so_on_one_line(arguments: tuple[object, ...], folder: Path) -> None:
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exit_code == 1
    assert result.stderr.count("\n") == 1
    assert not Path("x").exists()

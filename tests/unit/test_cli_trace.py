"""``subword trace``: what it prints, and how it refuses."""

import json

import pytest
from typer.testing import CliRunner

from subword.bpe_models import bpe_from_tokens
from subword.cli.trace import app
from subword.tokenizer import Tokenizer

LOWS = ["--word=low=5", "--word=lower=2", "--word=widest=3", "--word=newest=6"]


def run(*arguments, stdin=None):
    return CliRunner().invoke(app, list(arguments), input=stdin)


def printed(*arguments, stdin=None):
    result = run(*arguments, stdin=stdin)
    assert (result.exit_code, result.stderr) == (0, "")
    return result.stdout


def test_bpe_prints_tables():
    said = printed(
        "bpe", "--text=the cat in the hat", "--merges=3", "--pattern=none", "--ties=first"
    )
    assert "merge 3 makes the␠, id 258" in said
    assert "ties='first' takes the pair seen first" in said
    assert "the␠|c|a|t|␠|i|n|␠|the␠|h|a|t" in said


def test_bpe_as_json():
    learnt = json.loads(printed("bpe", *LOWS, "--merges=12", "--json"))
    pairs = [" ".join(step["candidates"][0]["pair"]) for step in learnt["steps"]]
    assert pairs[:3] == ["s t", "e st", "o w"]
    assert len(pairs) == 12


def test_bpe_over_characters_of_a_file(tmp_path):
    path = tmp_path / "text.txt"
    path.write_text("我 喜欢 吃 苹果 喜欢", encoding="utf-8")
    said = printed(
        "bpe", str(path), "--alphabet=characters", "--pattern=whitespace", "--vocab-size=8"
    )
    assert "喜 + 欢" in said


def test_wordpiece_prints_exact_scores():
    words = ["--word=hug=10", "--word=pug=5", "--word=pun=12", "--word=bun=4", "--word=hugs=5"]
    said = printed("wordpiece", *words, "--merges=1")
    assert "1/20" in said
    assert "1/36" in said
    assert "merge 1 makes ##gs" in said
    assert json.loads(printed("wordpiece", *words, "--json"))["score"] == "likelihood"


def test_unigram_reads_standard_input():
    said = printed("unigram", "--vocab-size=9", stdin="hug hug pug pun hugs")
    assert "prune" in said or "estimate" in said
    learnt = json.loads(printed("unigram", "-", "--vocab-size=9", "--json", stdin="hug pug hugs"))
    assert learnt["vocab_size"] == 9


def test_encode(monkeypatch, tmp_path):
    vocab = dict(enumerate([b"a", b"b", b" ", b"ab", b" ab"]))
    tok = Tokenizer(bpe_from_tokens(vocab, [(b"a", b"b"), (b" ", b"ab")]), {"<s>": 5}, (r" ?\S+",))
    path = tmp_path / "small.json"
    monkeypatch.setattr("subword.formats.load", {path: tok}.__getitem__, raising=False)
    said = printed("encode", str(path), "--text=ab ab")
    assert "ids: 3 4" in said
    assert "␠ + ab" in said
    assert "2.50 bytes per token" in said
    encoded = json.loads(printed("encode", str(path), "--json", stdin="ab<s> ab"))
    assert encoded["ids"] == tok.encode("ab<s> ab")
    assert run("encode", str(path), "--text=a<s>", "--special=forbid").exit_code == 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["bpe", "--word=low"], "expected WORD=COUNT"),
        (["bpe", "--word=low=5", "--text=a"], "one of them"),
        (["bpe", "nowhere.txt"], "nowhere.txt"),
        (["bpe", "--text=a", "--vocab-size=3"], "vocab_size is 3"),
        (["bpe", "--text="], "no word"),
        (["bpe", "x.txt", "--text=a"], "one of them"),
        (["unigram", "--text=abc", "--vocab-size=1"], "3 required"),
        (["wordpiece", "--text=a", "--merges=-1"], "-1"),
    ],
)
def test_refused_in_one_line(arguments, said):
    result = run(*arguments)
    assert (result.exit_code, result.stdout) == (1, "")
    assert said in result.stderr
    assert result.stderr.count("\n") == 1


def test_large_input_is_refused():
    result = run("bpe", stdin="a " * 60_000)
    assert result.exit_code == 1
    assert "excerpt" in result.stderr


def test_usage():
    assert run("bpe", "--ties=last", "--text=a").exit_code == 2
    assert run("unigram", "--text=a").exit_code == 2

"""What a file is, and what is odd about it."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

import subword
from subword.cli import app
from subword.formats.facts import facts, oddities
from subword.models import Bpe, Piece, Unigram, WordPiece
from subword.normalizers import Bert
from subword.special_tokens import TokenFlags

BYTES = {byte: bytes([byte]) for byte in range(256)}
NOT_UTF8 = {"n": 128, "first": list(range(128, 148))}


def test_a_sound_tokenizer_has_nothing_odd_but_its_bytes() -> None:
    tok = subword.train_bpe(["the cat in the hat " * 9], 265, ["<end>"])
    assert oddities(tok)["not_utf8"]["n"] == 128
    assert set(oddities(tok)) == {"not_utf8"}


def test_every_oddity_is_found_where_it_is() -> None:
    vocab = {at: token for at, token in BYTES.items() if at not in (7, 9)}
    # 300 is made by no merge; "a b" (301) is cut by the pattern.
    vocab |= {260: b"ab", 300: b"xyz", 261: b" b", 301: b"a b"}
    ids = {token: at for at, token in vocab.items()}
    merges = [(ids[b"a"], ids[b"b"]), (ids[b" "], ids[b"b"]), (ids[b"a"], ids[b" b"])]
    # The token aaa is made in two ways.
    vocab |= {262: b"aa", 263: b"aaa"}
    merges += [(ids[b"a"], ids[b"a"]), (262, ids[b"a"]), (ids[b"a"], 262)]
    tok = subword.Tokenizer(
        Bpe(vocab, merges), {"<end>": 302}, subword.BPETokenizer(BYTES, []).pattern
    )
    found = oddities(tok)
    assert found["unreachable"] == {"n": 2, "first": [300, 301]}
    assert found["duplicate_merges"] == {"n": 1, "first": [5]}
    assert found["missing_bytes"] == {"n": 2, "first": [7, 9]}
    assert found["gaps"]["first"] == [7, 9, *range(256, 260), *range(264, 278)]
    assert found["gaps"]["n"] == 2 + 4 + 36
    assert found["not_utf8"] == NOT_UTF8


def test_a_piece_that_better_ones_spell_is_unreachable() -> None:
    pieces = [Piece(b"<unk>", 0, "unknown"), Piece(b"a", -1), Piece(b"b", -1), Piece(b"ab", -9)]
    assert oddities(subword.Tokenizer(Unigram(pieces)))["unreachable"] == {"n": 1, "first": [3]}


def test_facts_of_a_tokenizer_with_every_part() -> None:
    words = ["[UNK]", "[CLS]", "[SEP]", "the", "##s"]
    vocab = {at: word.encode() for at, word in enumerate(words)}
    tok = subword.Tokenizer(
        WordPiece(vocab),
        {"[UNK]": 0, "[CLS]": 1, "[SEP]": 2},
        normalizer=(Bert(),),
        token_flags={"[SEP]": TokenFlags(lstrip=True)},
        template=subword.Template.parse("[CLS] A [SEP]", "[CLS] A [SEP] B:1 [SEP]:1"),
        roles={"unk": "[UNK]"},
    )
    found = facts(tok)
    assert found["model"] == "WordPiece"
    assert found["model_settings"]["prefix"] == "##"
    assert (found["template"], found["pair_template"]) == (
        "[CLS] A [SEP]",
        "[CLS] A [SEP] B:1 [SEP]:1",
    )
    assert found["token_flags"]["[SEP]"] == ["special", "lstrip"]
    assert found["roles"] == {"unk": "[UNK]"}
    assert "Bert" in found["normalizer"][0]
    assert json.loads(json.dumps(found)) == found
    assert oddities(tok) == {}


@pytest.mark.parametrize("name", ["tok.json", "tok.yaml"])
def test_the_command_says_what_a_file_is(name: str, tmp_path: Path) -> None:
    tok = subword.train_bpe(["the cat in the hat " * 9], 265, ["<end>"], ties="hf")
    subword.save(tok, tmp_path / name)
    printed = CliRunner().invoke(app, ["inspect", str(tmp_path / name), "--json"])
    found = json.loads(printed.stdout)
    assert found["format"] == {"tok.json": "tokenizer_json", "tok.yaml": "yaml"}[name]
    assert (found["ties"], found["pattern"], found["vocab_size"]) == ("hf", "gpt2", 265)
    assert found["oddities"]["not_utf8"]["n"] == 128
    printed = CliRunner().invoke(app, ["inspect", str(tmp_path / name)])
    assert printed.exit_code == 0
    assert "tokens that are not UTF-8" in printed.stdout
    assert "<end>" in printed.stdout

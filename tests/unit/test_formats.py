"""Formats: what is written is read back equal; what is damaged is refused with its place."""

import base64
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import subword
from subword import BPETokenizer, FormatError, Tokenizer, load, save
from subword.models import Bpe

CORPUS = ["the cat in the hat", "naïve café 🙂🙂", "x = [1, 22, 333]\n\n\tif x:", "\x00\xff ￿"]


@pytest.fixture(scope="module")
def tok() -> Tokenizer:
    return subword.train_bpe([*CORPUS, b"\xff\xfe\xff\xfe"] * 2, 290, ["<|end|>", "<|a b|>"])


WAYS: dict[str, Callable[[Path], Path]] = {
    "tokenizer_json": lambda folder: folder / "tokenizer.json",
    "yaml": lambda folder: folder / "tok.yaml",
    "vocab_merges": lambda folder: folder,
}


@pytest.mark.parametrize("way", WAYS)
def test_a_tokenizer_survives_saving(way: str, tok: Tokenizer, tmp_path: Path) -> None:
    path = WAYS[way](tmp_path)
    save(tok, path, way)
    options = {} if way != "vocab_merges" else {"special_tokens": list(tok.special_tokens)}
    loaded = load(path, way, **options)
    for text in [*CORPUS, "a<|end|>b<|a b|>", ""]:
        assert loaded.encode(text) == tok.encode(text)
        assert loaded.decode(tok.encode(text)) == text
    assert loaded.encode(b"\xff\xfe a") == tok.encode(b"\xff\xfe a")
    if way != "vocab_merges":
        assert loaded == tok
        assert loaded.merge_counts == tok.merge_counts


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(
    tokens=st.lists(st.binary(min_size=2, max_size=6), unique=True, max_size=12),
    special=st.lists(st.text(min_size=2, max_size=5), unique=True, max_size=3),
)
def test_yaml_holds_every_byte(tokens: list[bytes], special: list[str], tmp_path: Path) -> None:
    vocab = {byte: bytes([byte]) for byte in range(256)} | dict(enumerate(tokens, 300))
    names = [token for token in special if token.encode() not in tokens]
    ids = {token: 256 + at for at, token in enumerate(names)}
    made = Tokenizer(Bpe(vocab, ()), ids, (r"\s+|\S+",))
    save(made, tmp_path / "t.yaml")
    assert load(tmp_path / "t.yaml") == made


def test_rank_files_need_their_pattern(tmp_path: Path) -> None:
    path = tmp_path / "own.tiktoken"
    ranks = [bytes([byte]) for byte in range(256)] + [b"ab", b"abc"]
    lines = [base64.b64encode(token) + b" %d" % rank for rank, token in enumerate(ranks)]
    path.write_bytes(b"\n".join(lines) + b"\n")
    with pytest.raises(FormatError, match="pattern"):
        load(path)
    loaded = load(path, pattern="gpt2", special_tokens={"<|end|>": 300})
    assert loaded.encode("abc<|end|>") == [257, 300]
    save(loaded, tmp_path / "again.tiktoken")
    assert (tmp_path / "again.tiktoken").read_bytes() == path.read_bytes()


@pytest.mark.parametrize(
    ("content", "place"),
    [
        (b"YQ== 0\nnot base64 1\n", ":2"),
        (b"YQ== 0\nYg== one\n", ":2"),
        (b"YQ== 0\nYg==\n", ":2"),
        (b"YQ== 0\nYg== 0\n", "rank"),
        (b"YQ== 0\nYQ== 1\n", "token"),
        (b"YQ== -1\n", ":1"),
        (b"", "broken"),
    ],
)
def test_damaged_rank_files_are_refused(content: bytes, place: str, tmp_path: Path) -> None:
    path = tmp_path / "broken.tiktoken"
    path.write_bytes(content)
    with pytest.raises(FormatError, match=place):
        load(path, "tiktoken", pattern="gpt2")


def damaged(document: dict[str, Any], *keys: str, value: Any) -> str:
    document = json.loads(json.dumps(document))
    inner = document
    for key in keys[:-1]:
        inner = inner[key]
    inner[keys[-1]] = value
    return json.dumps(document)


def test_damaged_tokenizer_json_is_refused_by_field(tok: Tokenizer, tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    save(tok, path)
    text = path.read_text(encoding="utf-8")
    document = json.loads(text)
    variants = {
        "": text[: len(text) // 2],
        "surprise": damaged(document, "model", "surprise", value=1),
        "normalizer": damaged(document, "normalizer", value={"type": "Unheard"}),
        "dropout": damaged(document, "model", "dropout", value=0.5),
        "merge": damaged(document, "model", "merges", value=[["never", "seen"]]),
        "ids": damaged(document, "model", "vocab", value={"a": 0, "b": 0}),
        "twice": text.replace('"version"', '"truncation": null, "version"', 1),
        "nest": "[" * 100_000,
        "UTF-8": "\ud800",
        "object": "[]",
    }
    for word, content in variants.items():
        path.write_bytes(content.encode("utf-8", "surrogatepass"))
        with pytest.raises((FormatError, subword.SubwordError)) as raised:
            load(path, "tokenizer_json")
        assert "tokenizer.json" in str(raised.value) or word, raised.value


def test_merges_are_read_in_the_old_form_and_the_new(tok: Tokenizer, tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    save(tok, path)
    document = json.loads(path.read_text(encoding="utf-8"))
    merges = document["model"]["merges"]
    assert all(isinstance(merge, list) for merge in merges)
    document["model"]["merges"] = [" ".join(merge) for merge in merges]
    path.write_text(json.dumps(document), encoding="utf-8")
    assert load(path) == tok


def test_the_course_reads_both_shapes_of_vocabulary(tmp_path: Path) -> None:
    merges = tmp_path / "merges.txt"
    merges.write_text("#version: 0.2\na b\nĠ ab\n", encoding="utf-8")
    tokens = ["a", "b", "Ġ", "ab", "Ġab", "<|end|>"]
    by_token, by_id = tmp_path / "by_token.json", tmp_path / "by_id.json"
    by_token.write_text(json.dumps({token: at for at, token in enumerate(tokens)}))
    by_id.write_text(json.dumps({str(at): token for at, token in enumerate(tokens)}))
    made = [BPETokenizer.from_files(path, merges, ["<|end|>"]) for path in (by_token, by_id)]
    assert made[0] == made[1]
    assert made[0].encode("ab ab<|end|>") == [3, 4, 5]


@pytest.mark.parametrize("line", ["a", "a b c", "a never", "é\u0400 b"])
def test_damaged_merges_are_refused_with_their_line(line: str, tmp_path: Path) -> None:
    vocab, merges = tmp_path / "vocab.json", tmp_path / "merges.txt"
    vocab.write_text(json.dumps({"a": 0, "b": 1, "ab": 2}))
    merges.write_text(f"a b\n{line}\n", encoding="utf-8")
    with pytest.raises(subword.SubwordError, match=r"merges\.txt:2|merge 1"):
        BPETokenizer.from_files(vocab, merges)


def test_a_format_that_cannot_hold_a_tokenizer_says_so(tmp_path: Path) -> None:
    path = tmp_path / "t.tiktoken"
    with pytest.raises(FormatError, match="WordPiece"):
        save(subword.WordPieceTokenizer(["[UNK]", "a"]), path)
    assert not path.exists()
    unimplied = BPETokenizer({0: b"a", 1: b"b", 2: b"ab"}, [])
    with pytest.raises(FormatError):
        save(unimplied, tmp_path / "t.tiktoken")


def test_unknown_formats_and_names_are_refused(tok: Tokenizer, tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="tokenizer_json"):
        save(tok, tmp_path / "x.bin")
    with pytest.raises(FormatError, match="expected one of"):
        load(tmp_path / "x.bin", "pickle")
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "absent.json")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_without_permission_keeps_nothing_half_written(
    tok: Tokenizer, tmp_path: Path
) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(OSError):
        save(tok, tmp_path / "tokenizer.json")
    assert list(tmp_path.iterdir()) == []


def test_a_failed_write_leaves_the_old_file(
    tok: Tokenizer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "tokenizer.json"
    save(tok, path)
    before = path.read_bytes()

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        save(tok.truncate(280), path)
    assert path.read_bytes() == before
    assert [entry.name for entry in tmp_path.iterdir()] == ["tokenizer.json"]

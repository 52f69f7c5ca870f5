"""Conversions: what they prove, what they refuse, and what they leave behind."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

import subword
from subword.cli import app
from subword.errors import FormatError
from subword.formats.check_texts import ADVERSARIAL_TEXTS, check_texts
from subword.formats.own_libraries import OwnLibrary

TEXT = "the cat in the hat, it's naïve 你好 hello world  \n\n def f(x): return 12345 don't" * 20
END = "<|endoftext|>"
OWN = "subword.formats.convert.own_library"


@pytest.fixture(scope="module")
def tok() -> subword.Tokenizer:
    return subword.train_bpe([TEXT], 290, [END])


@pytest.fixture
def source(tok: subword.Tokenizer, tmp_path: Path) -> Path:
    subword.save(tok, tmp_path / "source.json")
    return tmp_path / "source.json"


def without_library(*_: object) -> str:
    return "none here"


def off_by_one(tok: subword.Tokenizer, only: str | None = None):
    """A library that gives one wrong id, in every text or in one."""

    def encode(text: str) -> list[int]:
        ids = tok.encode(text)
        if len(ids) > 2 and only in (None, text):
            ids[2] += 1
        return ids

    return lambda *_: OwnLibrary("other 1.0", encode)


def files(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize(
    ("name", "format_"),
    [
        ("out.json", None),
        ("out.yaml", None),
        ("out.tiktoken", None),
        ("folder", "vocab_merges"),
    ],
)
def test_equal_ids_are_reported_and_written(
    name: str, format_: str | None, source: Path, tok: subword.Tokenizer
) -> None:
    target = source.parent / name
    report = subword.convert(source, target, to_format=format_, check=TEXT)
    assert report.is_written
    assert report.n_differences == 0
    assert report.readers[0] == "subword"
    assert report.n_texts == len(ADVERSARIAL_TEXTS) + 3 + 1
    texts = [*check_texts([END]), TEXT]
    assert report.n_tokens == sum(len(tok.encode(text)) for text in texts)
    again = subword.load(target, report.to_format, **report.outside)
    assert all(again.encode(text) == tok.encode(text) for text in texts)


def test_a_rank_file_says_what_it_does_not_hold(source: Path) -> None:
    report = subword.convert(source, source.parent / "out.tiktoken")
    assert sorted(report.outside) == ["pattern", "special_tokens"]
    assert "load needs: pattern=, special_tokens=" in str(report)


def test_a_difference_is_refused_and_nothing_is_left(
    source: Path, tok: subword.Tokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = files(source.parent)
    monkeypatch.setattr(OWN, off_by_one(tok))
    with pytest.raises(FormatError, match=r"other 1\.0 gives .* from token 2 on, character") as no:
        subword.convert(source, source.parent / "out.json")
    assert "out.json: not written" in str(no.value)
    assert "allow_different" in str(no.value)
    assert files(source.parent) == before


def test_what_was_at_the_target_stays(
    source: Path, tok: subword.Tokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = source.parent / "out.json"
    target.write_text("older", encoding="utf-8")
    monkeypatch.setattr(OWN, off_by_one(tok))
    with pytest.raises(FormatError):
        subword.convert(source, target)
    assert target.read_text(encoding="utf-8") == "older"


def test_a_difference_in_the_users_text_alone_is_found_at_its_place(
    source: Path, tok: subword.Tokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "hello world, hello cat"
    monkeypatch.setattr(OWN, off_by_one(tok, only=text))
    assert subword.convert(source, source.parent / "out.json").n_differences == 0
    report = subword.convert(
        source, source.parent / "out.json", check=["the", text], allow_different=True
    )
    (difference,) = report.differences
    assert (difference.kind, difference.text, difference.at) == ("ids", text, 2)
    ids = tok.encode(text)
    assert difference.expected == tuple(ids[2:10])
    assert difference.got == (ids[2] + 1, *ids[3:10])
    start, end = difference.char_span
    assert text[start:end].encode() == tok.token_bytes(ids[2])
    assert report.is_written
    assert subword.load(source.parent / "out.json") == tok


def test_differences_are_counted_beyond_those_shown(
    source: Path, tok: subword.Tokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(OWN, off_by_one(tok))
    report = subword.convert(source, source.parent / "out.json", allow_different=True)
    n_long = sum(len(tok.encode(text)) > 2 for text in check_texts([END]))
    assert (len(report.differences), report.n_differences) == (20, n_long)
    assert len(str(report).splitlines()) == len(report.rows()) + 20


@pytest.mark.parametrize("stage", ["file", "text"])
def test_a_library_that_refuses_is_a_difference(
    stage: str, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> object:
        raise RuntimeError("no such thing")

    monkeypatch.setattr(
        OWN, refuse if stage == "file" else lambda *_: OwnLibrary("other 1.0", refuse)
    )
    with pytest.raises(FormatError, match=r"refuses .*RuntimeError: no such thing"):
        subword.convert(source, source.parent / "out.json")
    assert files(source.parent) == {"source.json"}


def test_a_reader_without_a_library_says_why(source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(OWN, without_library)
    report = subword.convert(source, source.parent / "out.json")
    assert (report.readers, report.not_read_by) == (("subword",), "none here")


def test_parts_that_a_format_lacks_are_refused_by_name(
    tok: subword.Tokenizer, tmp_path: Path
) -> None:
    full = tok.replace(roles={"eos": END}, chat_template="{{ messages }}")
    subword.save(full, tmp_path / "source.json")
    with pytest.raises(FormatError, match="roles"):
        subword.convert(tmp_path / "source.json", tmp_path / "out.tiktoken")
    assert files(tmp_path) == {"source.json"}
    report = subword.convert(
        tmp_path / "source.json", tmp_path / "out.tiktoken", allow_different=True
    )
    lost = {difference.text for difference in report.differences if difference.kind == "field"}
    assert lost == {"roles", "chat_template"}
    again = subword.load(tmp_path / "out.tiktoken", **report.outside)
    assert again.encode(TEXT + END) == tok.encode(TEXT + END)


def test_texts_that_the_vocabulary_cannot_spell_are_refused_before_and_after(
    tmp_path: Path,
) -> None:
    letters = {at: bytes([byte]) for at, byte in enumerate(b"abc \n")}
    subword.save(subword.BPETokenizer(letters, []), tmp_path / "source.json")
    report = subword.convert(tmp_path / "source.json", tmp_path / "out.yaml", check=["abc"])
    n_spelt = sum(set(text) <= set("abc \n") for text in ADVERSARIAL_TEXTS)
    assert report.n_refused == len(ADVERSARIAL_TEXTS) - n_spelt
    assert report.n_differences == 0


def test_a_model_that_a_format_has_not_is_refused_with_the_name_that_was_asked_for(
    source: Path,
) -> None:
    with pytest.raises(FormatError, match=r"out\.model: .*Bpe") as no:
        subword.convert(source, source.parent / "out.model")
    assert str(source.parent / "out.model") in str(no.value)


def test_every_adversarial_text_is_one_of_its_own() -> None:
    assert len(set(ADVERSARIAL_TEXTS)) == len(ADVERSARIAL_TEXTS)
    whole = "".join(ADVERSARIAL_TEXTS)
    for needed in "\x00\x85\xa0\u3000\r\u200d\u0301\u0661\u05e9\U0001f468\u202e\ufeff":
        assert needed in whole
    assert check_texts([]) == list(ADVERSARIAL_TEXTS)


# the command


def test_the_command_prints_who_read_the_file(source: Path) -> None:
    target = source.parent / "out.yaml"
    (source.parent / "text.txt").write_text(TEXT * 50, encoding="utf-8")
    arguments = ["convert", str(source), str(target), "--check", str(source.parent / "text.txt")]
    done = CliRunner().invoke(app, [*arguments, "--json"])
    assert done.exit_code == 0, done.output
    printed = json.loads(done.stdout)
    assert printed["n_differences"] == 0
    assert printed["n_texts"] > len(ADVERSARIAL_TEXTS) + 3
    assert printed["is_written"] is True
    assert printed["outside"] == []
    done = CliRunner().invoke(app, arguments)
    assert "read back by" in done.stdout
    assert target.exists()


def test_the_command_refuses_with_exit_1_unless_it_is_allowed(
    source: Path, tok: subword.Tokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(OWN, off_by_one(tok))
    target = source.parent / "out.json"
    done = CliRunner().invoke(app, ["convert", str(source), str(target)])
    assert done.exit_code == 1
    assert done.stderr.startswith("subword: ")
    assert done.stderr.count("\n") == 1
    assert not target.exists()
    done = CliRunner().invoke(app, ["convert", str(source), str(target), "--allow-different"])
    assert done.exit_code == 0
    assert "other 1.0 gives" in done.stdout
    assert target.exists()

"""vocab.json and merges.txt."""

import json

import pytest

from subword.bpe_models import bpe_from_ranks
from subword.errors import FormatError, SourceNotFoundError, SubwordError
from subword.formats import load, vocab_files, vocab_merges
from subword.models import Bpe
from subword.named import BPETokenizer
from subword.patterns import resolve_pattern
from subword.tokenizer import Tokenizer
from subword.training.bpe import train_bpe

TEXT = "the cat in the hat, the  \n\n naïve 你好 hat\u00a0cat " * 5


@pytest.fixture
def files(tmp_path):
    def write(vocab, merges):
        paths = tmp_path / "vocab.json", tmp_path / "merges.txt"
        text = vocab if isinstance(vocab, str) else json.dumps(vocab)
        paths[0].write_text(text, encoding="utf-8")
        paths[1].write_bytes(merges)
        return paths

    return write


@pytest.mark.parametrize("vocab", [{"a": 0, "Ġ": 1, "aĠ": 7}, {"0": "a", "1": "Ġ", "7": "aĠ"}])
def test_either_way_round_is_told_by_the_keys(vocab, files):
    assert vocab_files.read_files(*files(vocab, b"a \xc4\xa0")) == (
        {0: b"a", 1: b" ", 7: b"a "},
        [(b"a", b" ")],
    )


def test_digits_as_tokens_are_not_ids(files):
    vocab, _ = vocab_files.read_files(*files({"0": 5, "1": 6}, b""))
    assert vocab == {5: b"0", 6: b"1"}


def test_other_spellings_are_utf8(files):
    paths = files({"two words": 0, "中": 1, "é": 2}, b"")
    assert vocab_files.read_files(*paths)[0] == {0: b"two words", 1: "中".encode(), 2: b"\xe9"}


@pytest.mark.parametrize("merges", [b"", b"#version: 0.2\n", b"#version: 0.2", b"#version 1\r\n"])
def test_no_merges(merges, files):
    assert vocab_files.read_files(*files({"a": 0}, merges)) == ({0: b"a"}, [])


@pytest.mark.parametrize("merges", [b"a b", b"a b\n", b"#version: 0.2\na b\n", b"a b\r\n"])
def test_header_and_last_newline_are_optional(merges, files):
    assert vocab_files.read_files(*files({"a": 0, "b": 1, "ab": 2}, merges))[1] == [(b"a", b"b")]


@pytest.mark.parametrize(
    ("merges", "line"),
    [
        (b"a b\n\na b", 2),
        (b"a b c", 1),
        (b"ab", 1),
        (b"a  b", 1),
        (b" a", 1),
        (b"#version\na b\n#version\n", 3),
        ("a\u3000b".encode(), 1),
        (b"a\tb", 1),
        (b"a \xff", 1),
        (b"a b\na \xe4\xbd\xa0", 2),
    ],
)
def test_damaged_merges_are_named_by_line(merges, line, files):
    with pytest.raises(FormatError, match=rf"merges\.txt:{line}\b"):
        vocab_files.read_files(*files({"a": 0}, merges))


@pytest.mark.parametrize(
    "vocab",
    [
        "",
        "[]",
        "7",
        '{"a": 0',
        '{"a": 0, "a": 1}',
        '{"a": 0, "b": 0}',
        '{"a": true}',
        '{"a": 1.0}',
        '{"a": -1}',
        '{"a": 4294967295}',
        '{"a": null}',
        '{"a": 0, "1": "b"}',
        '{"a": "b"}',
        '{"01": "b"}',
        '{"٣": "b"}',
        '{"a": NaN}',
        '{"\\ud800": 0}',
        '{"a": ' + "[" * 100_000,
        '{"a": ' + "9" * 5000 + "}",
    ],
)
def test_damaged_vocabularies_are_refused(vocab, files):
    with pytest.raises(FormatError, match=r"vocab\.json"):
        vocab_files.read_files(*files(vocab, b""))


def test_bytes_that_are_no_utf8_are_placed(tmp_path):
    (tmp_path / "vocab.json").write_bytes(b'{"a": 0,\n"\xff": 1}')
    with pytest.raises(FormatError, match=r"vocab\.json:2: byte 10"):
        vocab_files.read_files(tmp_path / "vocab.json", tmp_path / "merges.txt")


def test_missing_files_are_also_os_errors(tmp_path):
    with pytest.raises(SourceNotFoundError):
        load(tmp_path / "vocab.json")
    with pytest.raises(FileNotFoundError):
        BPETokenizer.from_files(tmp_path / "no", tmp_path / "no")


def test_from_files_reads_what_write_wrote(tmp_path):
    tok = train_bpe([TEXT], 275, ["<|endoftext|>", "two words", "é"])
    vocab_merges.write(tok, tmp_path / "new" / "folder")
    folder = tmp_path / "new" / "folder"
    assert sorted(path.name for path in folder.iterdir()) == [
        "added_tokens.json",
        "merges.txt",
        "vocab.json",
    ]
    again = load(folder)
    assert again == tok
    again = load(folder / "vocab.json")
    assert again == tok
    named = BPETokenizer.from_files(
        folder / "vocab.json", folder / "merges.txt", ["<|endoftext|>", "two words", "é"]
    )
    for text in (TEXT, "a<|endoftext|>two wordsé é"):
        assert named.encode(text) == tok.encode(text)


def test_special_tokens_of_the_caller_come_first(tmp_path):
    vocab_merges.write(train_bpe([TEXT], 280, ["<a>", "<b>"]), tmp_path)
    tok = load(tmp_path, special_tokens=["<b>", "<c>"])
    assert dict(tok.special_tokens) == {"<b>": 257, "<c>": 280}


def test_a_stale_list_of_special_tokens_goes(tmp_path):
    vocab_merges.write(train_bpe([TEXT], 280, ["<a>"]), tmp_path)
    vocab_merges.write(train_bpe([TEXT], 280), tmp_path)
    assert load(tmp_path) == train_bpe([TEXT], 280)


def test_what_the_files_cannot_hold_is_refused(tmp_path):
    tok = train_bpe([TEXT], 280)
    whole = Tokenizer(
        Bpe({0: b"a", 1: b"b", 2: b"ab"}, (), whole_first=True), {}, resolve_pattern("gpt2")
    )
    for refused in (tok.replace(pattern="cl100k"), whole):
        with pytest.raises(FormatError):
            vocab_merges.write(refused, tmp_path)
    clash = tok.replace(special_tokens={"Ġ": 300})
    with pytest.raises((FormatError, SubwordError)):
        vocab_merges.write(tok.replace(special_tokens={"t": 300}), tmp_path)
    vocab_merges.write(clash, tmp_path)
    assert load(tmp_path).encode("Ġ ") == clash.encode("Ġ ")


def test_whole_first_that_changes_nothing_is_written(tmp_path):
    model = bpe_from_ranks({b"a": 0, b"b": 1, b"ab": 2})
    tok = Tokenizer(model, {}, resolve_pattern("gpt2"))
    vocab_merges.write(tok, tmp_path)
    assert load(tmp_path).encode("abba") == tok.encode("abba")

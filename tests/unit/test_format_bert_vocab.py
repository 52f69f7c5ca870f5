"""vocab.txt."""

import pytest

from subword.errors import FormatError, SourceNotFoundError
from subword.formats.bert_vocab import read_tokens


@pytest.fixture
def file(tmp_path):
    def write(content):
        path = tmp_path / "vocab.txt"
        path.write_bytes(content)
        return path

    return write


@pytest.mark.parametrize("content", [b"[PAD]\n##a\n", b"[PAD]\n##a", b"[PAD]\r\n##a\r\n"])
def test_a_line_is_a_token(content, file):
    assert read_tokens(file(content)) == ["[PAD]", "##a"]


def test_other_separators_are_tokens(file):
    tokens = ["\u2028", "\x85", "\x0c", " ", "\u3000", "a b"]
    assert read_tokens(file("\n".join(tokens).encode())) == tokens


@pytest.mark.parametrize(
    ("content", "place"),
    [
        (b"", "empty"),
        (b"\n", ":1:"),
        (b"a\n\nb", ":2:"),
        (b"a\nb\na\n", ":3:"),
        (b"a\n\xff", ":2:"),
    ],
)
def test_damaged_files_are_refused(content, place, file):
    with pytest.raises(FormatError, match=place):
        read_tokens(file(content))


def test_a_missing_file_is_an_os_error(tmp_path):
    with pytest.raises(SourceNotFoundError):
        read_tokens(tmp_path / "vocab.txt")


@pytest.mark.parametrize(
    ("name", "n_tokens"), [("bert_uncased", 30522), ("bert_cased", 28996), ("bert_chinese", 21128)]
)
def test_real_vocabularies(name, n_tokens, shared, file):
    zstandard = pytest.importorskip("zstandard")
    with (shared / "vocab" / name / "vocab.txt.zst").open("rb") as packed:
        tokens = read_tokens(file(zstandard.ZstdDecompressor().stream_reader(packed).read()))
    assert len(tokens) == n_tokens
    assert tokens[0] == "[PAD]"

"""vocab.txt."""

import pytest

from subword.errors import FormatError, SourceNotFoundError
from subword.formats import load, save
from subword.formats.bert_vocab import read_tokens
from subword.named import ByteTokenizer
from subword.normalizers import Lowercase
from subword.templates import Template


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


TOKENS = b"[PAD]\n[UNK]\n[CLS]\n[SEP]\nplay\n##ing\n!\n"


def test_lower_case_has_to_be_given(file):
    with pytest.raises(FormatError, match="lowercase=True"):
        load(file(TOKENS))
    assert load(file(TOKENS), lowercase=True).encode("PLAYing!") == [4, 5, 6]
    assert load(file(TOKENS), lowercase=False).encode("PLAYing!") == [1, 6]


def test_the_special_tokens_of_the_file_have_their_roles(file):
    tok = load(file(TOKENS), lowercase=True)
    assert tok.encode("play", "[SEP]", template=True) == [2, 4, 3, 3, 3]
    assert tok.roles == {"unk": "[UNK]", "sep": "[SEP]", "pad": "[PAD]", "cls": "[CLS]"}
    assert tok.decode([2, 4, 5, 6, 3], skip_special=True) == "playing!"


def test_a_file_without_an_unknown_token_is_refused(file):
    with pytest.raises(FormatError, match="UNK"):
        load(file(b"a\nb\n"), lowercase=True)


@pytest.mark.parametrize("options", [{"lowercase": True}, {"lowercase": False, "cleanup": False}])
def test_what_is_written_is_read_equal(options, file, tmp_path):
    tok = load(file(TOKENS), **options)
    (tmp_path / "again").mkdir()
    save(tok, tmp_path / "again" / "vocab.txt")
    assert load(tmp_path / "again", **options) == tok
    assert (tmp_path / "again" / "vocab.txt").read_bytes() == TOKENS


@pytest.mark.parametrize(
    ("changes", "part"),
    [
        ({"pretokenizer": ()}, "pretokenizer"),
        ({"normalizer": (Lowercase(),)}, "normalizer"),
        ({"template": Template.parse("A [SEP]")}, "template"),
        ({"special_tokens": {"[SEP]": 3}, "template": Template(), "roles": {}}, "special_tokens"),
        (
            {
                "model": ByteTokenizer().model,
                "special_tokens": {},
                "template": Template(),
                "roles": {},
            },
            "Bpe",
        ),
    ],
)
def test_what_the_file_cannot_hold_is_refused(changes, part, file, tmp_path):
    tok = load(file(TOKENS), lowercase=True).replace(**changes)
    with pytest.raises(FormatError, match=part):
        save(tok, tmp_path / "out.txt", format="bert_vocab")

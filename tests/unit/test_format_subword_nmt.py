"""The codes of subword-nmt and fastBPE."""

import pytest

from subword.errors import FormatError, SpecialTokenError, UnencodableTextError
from subword.formats import load, save
from subword.named import ByteTokenizer

CODES = "#version: 0.2\nl o\nlo w</w>\nlo w\ne r</w>\n"
FAST = "l o 9\nlo w</w> 7\nlo w 5\ne r</w> 3\n"


@pytest.fixture
def file(tmp_path):
    def write(content, name="codes"):
        path = tmp_path / name
        path.write_text(content, newline="")
        return path

    return write


def spelled(tok, text):
    return [tok.token_bytes(token_id).decode() for token_id in tok.encode(text)]


@pytest.mark.parametrize("codes", [CODES, FAST, CODES.replace("\n", "\r\n")])
def test_words_end_with_the_suffix(file, codes):
    tok = load(file(codes), "subword_nmt")
    assert spelled(tok, "low lower\nlow") == ["low</w>", "low", "er</w>", "low</w>"]
    assert tok.decode(tok.encode("low lower")) == "low lower"
    assert spelled(tok, "wol") == ["w", "o", "l</w>"]


def test_ids_without_a_vocabulary_are_those_documented(file):
    tok = load(file(CODES), "subword_nmt", first_tokens=["<s>"])
    assert [token.decode() for token in tok.vocab.values()] == [
        *("<unk>", "<s>", "e", "l", "o", "r", "w"),
        *("e</w>", "l</w>", "o</w>", "r</w>", "w</w>", "lo", "low</w>", "low", "er</w>"),
    ]


def test_ids_of_a_vocabulary_are_its_lines(file):
    listed = file("er 12\nlow@@ 9\nlow 7\nlo@@ 1\n", "dict.txt")
    first = ["<s>", "<pad>", "</s>", "<unk>"]
    tok = load(file(CODES), "subword_nmt", vocabulary=listed, first_tokens=first)
    assert tok.encode("lower low") == [5, 4, 6]
    assert tok.special_tokens["<unk>"] == 3
    assert tok.encode("?") == [3]
    assert tok.token_bytes(8) == b"e"  # made by the codes, not in the vocabulary


def test_unknown_characters_may_be_refused(file):
    tok = load(file(CODES), "subword_nmt", unk_token=None)
    with pytest.raises(UnencodableTextError, match="'x'"):
        tok.encode("x")


def test_written_codes_are_read_back(file, tmp_path):
    tok = load(file(FAST), "subword_nmt")
    save(tok, tmp_path / "out", "subword_nmt")
    assert (tmp_path / "out").read_text() == CODES
    assert load(tmp_path / "out", "subword_nmt") == tok


def test_other_tokenizers_are_refused(file, tmp_path):
    with pytest.raises(FormatError, match="Bpe model"):
        save(ByteTokenizer(), tmp_path / "out", "subword_nmt")
    tok = load(file(CODES), "subword_nmt")
    with pytest.raises(FormatError, match="pre-tokenizer"):
        save(tok.replace(pretokenizer=None), tmp_path / "out", "subword_nmt")


def test_the_first_of_equal_pairs_counts(file):
    codes = CODES + "l o\n"
    assert load(file(codes), "subword_nmt") == load(file(CODES), "subword_nmt")


@pytest.mark.parametrize(
    ("codes", "match"),
    [
        ("", "no merge"),
        ("#version: 0.2\n", "no merge"),
        ("#version: 0.3\nl o\n", ":1: expected '#version: 0.2'"),
        ("l o\n", ":1: .*version 0.1"),
        ("#version: 0.2\nl o 9\n", ":2: expected two symbols"),
        ("#version: 0.2\nl  o\n", ":2: expected two symbols"),
        ("l o x\n", ":1: expected two symbols"),
        ("#version: 0.2\nlo w\n", ":2: 'lo' is no character"),
        ("#version: 0.2\nl o\n\nlo w\n", ":3: expected"),
    ],
)
def test_damage_is_named(file, codes, match):
    with pytest.raises(FormatError, match=match):
        load(file(codes), "subword_nmt")


@pytest.mark.parametrize("listed", ["low\n", "low x\n", "low 1\nlow 2\n", " 1\n"])
def test_damaged_vocabularies_are_named(file, listed):
    with pytest.raises(FormatError, match=r"dict\.txt:[12]: "):
        load(file(CODES), "subword_nmt", vocabulary=file(listed, "dict.txt"))


def test_first_tokens_are_checked(file):
    with pytest.raises(SpecialTokenError, match="twice"):
        load(file(CODES), "subword_nmt", first_tokens=["<s>", "<s>"])

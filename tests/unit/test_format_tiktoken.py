"""Rank files."""

import base64

import pytest

from subword.errors import ArgumentError, FormatError
from subword.formats import load, tiktoken
from subword.formats.tiktoken import ENCODINGS
from subword.models import Bpe
from subword.named import BPETokenizer
from subword.tokenizer import Tokenizer
from subword.training.bpe import train_bpe

RANKS = {b"a": 0, b"b": 1, b"ab": 3, b"\xff": 4}


@pytest.fixture
def file(tmp_path):
    def write(content):
        path = tmp_path / "ranks.tiktoken"
        path.write_bytes(content)
        return path

    return write


def lines(ranks):
    return b"".join(base64.b64encode(token) + b" %d\n" % rank for token, rank in ranks.items())


def test_ranks_are_ids(file):
    tok = load(file(lines(RANKS)), pattern="gpt2", special_tokens={"<|end|>": 2})
    assert tok.encode("abba<|end|>") == [3, 1, 0, 2]
    assert tok.decode_bytes([4]) == b"\xff"


def test_special_tokens_in_order_follow_the_ranks(file):
    tok = load(file(lines(RANKS)), pattern="none", special_tokens=["<x>", "ab", "<y>"])
    assert dict(tok.special_tokens) == {"ab": 3, "<x>": 5, "<y>": 6}


def test_the_pattern_is_never_guessed(file):
    with pytest.raises(FormatError, match="pattern="):
        load(file(lines(RANKS)))


def test_a_file_is_not_taken_for_another(file):
    with pytest.raises(FormatError, match="cl100k_base"):
        load(file(lines(RANKS)), encoding="cl100k_base")
    with pytest.raises(ArgumentError, match="cl100k_base"):
        load(file(lines(RANKS)), encoding="cl100k")


def test_blank_lines_order_and_line_ends_do_not_matter(file):
    content = b"\r\n".join(reversed(lines(RANKS).splitlines())) + b"\r\n\r\n"
    assert load(file(content), pattern="none") == load(file(lines(RANKS)), pattern="none")


def test_a_token_of_no_bytes_leaves_its_id_free(file):
    tok = load(file(lines(RANKS) + b"= 9\n"), pattern="none")
    assert 9 not in tok.vocab
    with pytest.raises(FormatError, match=":6"):
        load(file(lines(RANKS) + b"= 9\nYWE= 9\n"), pattern="none")


@pytest.mark.parametrize(
    "line",
    [
        b"YQ",
        b"YQ== 0 1",
        b"YQ== x",
        b"YQ== -1",
        b"YQ== 1.0",
        b"Y 0",
        b"Y!== 0",
        b"YQ== 4294967295",
        b"YQ== " + b"9" * 10_000,
        b"YQ== \xd9\xa3",
        b"YQ== 1_0",
        b"YQ== 7",
        b"Y2M= 0",
        b"\xff\xfe 9",
    ],
)
def test_damaged_lines_are_named(line, file):
    with pytest.raises(FormatError, match=r"ranks\.tiktoken:3"):
        load(file(b"YQ== 0\nYg== 1\n" + line + b"\n"), pattern="none")


def test_an_empty_file_is_refused(file):
    with pytest.raises(FormatError, match="no line"):
        load(file(b"\n"), pattern="none")


def test_what_is_trained_is_written_and_read(tmp_path):
    tok = train_bpe(["the cat in the hat, the naïve cat " * 3], 270, ["<|end|>"])
    tiktoken.write(tok, tmp_path / "out.tiktoken")
    again = load(tmp_path / "out.tiktoken", pattern="gpt2", special_tokens=tok.special_tokens)
    assert again.vocab == tok.vocab
    text = "the hat<|end|> naïve\n"
    assert again.encode(text) == tok.encode(text)


def test_special_tokens_in_the_vocabulary_are_no_ranks(tmp_path):
    tok = BPETokenizer({0: b"a", 1: b"b", 2: b"ab", 3: b"<e>"}, [(b"a", b"b")], ["<e>"])
    tiktoken.write(tok, tmp_path / "out.tiktoken")
    assert (tmp_path / "out.tiktoken").read_bytes() == lines({b"a": 0, b"b": 1, b"ab": 2})


@pytest.mark.parametrize(
    ("vocab", "merges"),
    [
        # tiktoken would merge these too
        ({0: b"a", 1: b"b", 2: b"ab"}, []),
        # abc is made of a + bc here, of ab + c by rank
        ({0: b"a", 1: b"b", 2: b"c", 3: b"ab", 4: b"bc", 5: b"abc"}, [(0, 1), (1, 2), (0, 4)]),
        # the ranks are in the order of the ids, the merges are not
        ({0: b"a", 1: b"b", 2: b"ab", 3: b"ba"}, [(1, 0), (0, 1)]),
        # tiktoken finds xyz whole
        ({0: b"x", 1: b"y", 2: b"z", 3: b"xyz"}, []),
    ],
)
def test_merges_that_the_ranks_do_not_imply_are_refused(vocab, merges, tmp_path):
    tok = Tokenizer(Bpe(vocab, tuple(merges)))
    with pytest.raises(FormatError):
        tiktoken.write(tok, tmp_path / "out.tiktoken")
    assert not list(tmp_path.iterdir())


def test_encodings_have_an_id_a_token_but_for_aliases():
    assert len(ENCODINGS["o200k_harmony"].special_tokens) == 1090
    assert [name for name, encoding in ENCODINGS.items() if encoding.aliases] == ["o200k_harmony"]
    for encoding in ENCODINGS.values():
        ids = list((encoding.special_tokens or {}).values())
        assert len(set(ids)) == len(ids)
        assert set(encoding.aliases.values()) <= set(ids)

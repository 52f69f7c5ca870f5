"""Ids to text and back to tokens."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from samples import trained
from subword.errors import (
    UnknownTokenError,
    UnknownTokenIdError,
)
from subword.models import Bpe
from subword.tokenizer import Tokenizer

# Decoding.


def test_what_is_no_utf8_is_decoded_as_errors_says() -> None:
    tok = trained()
    ids = [97, 0xE4, 0xB8, 98]
    assert tok.decode(ids) == "a\ufffdb"
    assert tok.decode(ids, errors="ignore") == "ab"
    assert tok.decode(ids, errors="backslashreplace") == "a\\xe4\\xb8b"
    assert tok.decode(ids, errors="surrogateescape") == "a\udce4\udcb8b"
    with pytest.raises(UnicodeDecodeError):
        tok.decode(ids, errors="strict")
    with pytest.raises(LookupError):
        tok.decode(ids, errors="no such handler")
    assert tok.decode_batch([ids, [], [97]]) == ["a\ufffdb", "", "a"]


def test_special_tokens_can_be_left_out() -> None:
    tok = trained()
    ids = tok.encode("a<s>b\n\nc")
    assert tok.decode(ids, skip_special=True) == "abc"
    assert tok.decode_bytes(ids, skip_special=True) == b"abc"
    assert tok.decode(ids) == "a<s>b\n\nc"


@pytest.mark.parametrize(
    "bad", [-1, 414, 10**6, 2**32 - 1, 2**32, 2**32 + 97, 2**63, 2**64 + 97, -(2**70), np.int64(-1), np.uint64(2**63)]
)  # fmt: skip
def test_an_id_outside_the_vocabulary_is_refused_with_its_position(bad: int) -> None:
    tok = trained()
    for ids in ([97, 98, bad], (i for i in (97, 98, bad))):
        with pytest.raises(UnknownTokenIdError, match="position 2"):
            tok.decode(ids)
    with pytest.raises(UnknownTokenIdError, match="position 2"):
        tok.decode([97, 98, bad], skip_special=True)
    with pytest.raises(UnknownTokenIdError):
        tok.decode_bytes([97, 98, bad])
    with pytest.raises(UnknownTokenIdError):
        tok.token_bytes(bad)
    with pytest.raises(UnknownTokenIdError):
        tok.stream_decoder().push(bad)


def test_ids_in_a_gap_are_refused() -> None:
    tok = Tokenizer(Bpe({0: b"a", 5: b"b"}, ()), {"<s>": 9})
    assert tok.decode([0, 5, 9]) == "ab<s>"
    for bad in (1, 4, 6, 8, 10):
        with pytest.raises(UnknownTokenIdError):
            tok.decode([0, bad])
        with pytest.raises(UnknownTokenIdError):
            tok.token_bytes(bad)


def test_ids_may_be_any_integers() -> None:
    tok = trained()
    expected = "abc"
    for ids in (
        [97, 98, 99],
        (97, 98, 99),
        iter([97, 98, 99]),
        b"abc",
        [np.int64(97), np.uint32(98), np.int8(99)],
        *(
            np.array([97, 98, 99], dtype)
            for dtype in (np.uint8, np.int16, np.uint32, np.int64, np.uint64)
        ),
        np.array([97, 0, 98, 0, 99, 0], np.uint32)[::2],
        {97: 1, 98: 1, 99: 1}.keys(),
    ):
        assert tok.decode(ids) == expected
    # A bool is an int to Python.
    assert tok.decode([True, False]) == "\x01\x00"
    for bad in ([1.0], ["a"], [None], 5, np.array([1.5]), [[97]]):
        with pytest.raises(TypeError):
            tok.decode(bad)  # type: ignore[arg-type]


def test_tokens_and_ids_are_looked_up() -> None:
    tok = trained()
    assert tok.token_id("a") == tok.token_id(b"a") == 97
    assert tok.token_id("<s>") == 256
    assert tok.token_bytes(256) == b"<s>"
    for token_id, token in tok.vocab.items():
        assert tok.token_bytes(token_id) == token
        assert tok.token_id(token) == token_id
    for unknown in ("no such token", b"", "\ud800", b"\xff\xff"):
        with pytest.raises(UnknownTokenError):
            tok.token_id(unknown)


@given(st.lists(st.integers(0, 413), max_size=30))
def test_b32_a_stream_of_ids_joins_to_the_decoded_whole(ids: list[int]) -> None:
    tok = trained()
    decoder = tok.stream_decoder()
    parts = [decoder.push(token_id) for token_id in ids]
    assert "".join(parts) + decoder.finish() == tok.decode(ids)
    # It starts anew.
    assert decoder.push(97) == "a"


@given(st.binary(max_size=30))
def test_b32_b33_bytes_one_by_one_never_raise_or_repeat(raw: bytes) -> None:
    decoder = trained().stream_decoder()
    parts = [decoder.push(byte) for byte in raw]
    assert "".join(parts) + decoder.finish() == raw.decode("utf-8", "replace")


def test_b33_one_id_that_is_part_of_a_character() -> None:
    tok = trained()
    decoder = tok.stream_decoder()
    assert [decoder.push(byte) for byte in "中a".encode()] == ["", "", "中", "a"]
    assert decoder.push(0xE4) == ""
    with pytest.raises(UnknownTokenIdError):
        decoder.push(10**6)
    # The refusal changed nothing.
    assert [decoder.push(0xB8), decoder.push(0xAD)] == ["", "中"]
    assert decoder.push(0xE4) == ""
    assert decoder.finish() == "\ufffd"
    assert tok.decode([0xB8]) == "\ufffd"

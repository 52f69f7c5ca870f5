import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from subword.byte_characters import BYTE_CHARACTERS, from_characters, to_characters
from subword.errors import FormatError


def test_table_has_256_printable_characters_in_gpt2s_places() -> None:
    assert len(set(BYTE_CHARACTERS)) == 256
    assert all(character.isprintable() and not character.isspace() for character in BYTE_CHARACTERS)
    known = {0x00: "Ā", 0x0A: "Ċ", 0x20: "Ġ", 0x21: "!", 0x7E: "~", 0x7F: "ġ", 0xA0: "ł"}
    known |= {0xA1: "¡", 0xAC: "¬", 0xAD: "Ń", 0xAE: "®", 0xFF: "ÿ"}
    assert {byte: BYTE_CHARACTERS[byte] for byte in known} == known


@given(st.binary())
def test_characters_read_back_to_the_bytes(token: bytes) -> None:
    characters = to_characters(token)
    assert len(characters) == len(token)
    assert from_characters(characters) == token


@pytest.mark.parametrize("bad", [" ", "\n", "\xad", "\u0144", "你", "▁", "\x00"])
def test_other_characters_are_refused_by_name_and_place(bad: str) -> None:
    expected = re.escape(f"(U+{ord(bad):04X}) at 2")
    with pytest.raises(FormatError, match=expected):
        from_characters("ab" + bad + "c")

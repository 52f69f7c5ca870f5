"""The printable character that stands for each byte in GPT-2's text files.

``vocab.json``, ``merges.txt`` and ``tokenizer.json`` write a token of any bytes as a string
without spaces or control characters. A byte whose Latin-1 character is printable stands for
itself; the 68 others take the characters from U+0100 on, in the order of their bytes.

Source: openai/gpt-2, src/encoder.py, ``bytes_to_unicode``.
"""

from typing import Final

from subword.errors import FormatError

__all__ = ["BYTE_CHARACTERS", "from_characters", "to_characters"]

_PRINTABLE: Final = frozenset([*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)])
_OTHERS: Final = [byte for byte in range(256) if byte not in _PRINTABLE]

BYTE_CHARACTERS: Final[tuple[str, ...]] = tuple(
    chr(byte) if byte in _PRINTABLE else chr(0x100 + _OTHERS.index(byte)) for byte in range(256)
)
"""The character of each byte: shape (256,), indexed by the byte."""

_BYTE_OF: Final = {character: byte for byte, character in enumerate(BYTE_CHARACTERS)}


def to_characters(token: bytes) -> str:
    r"""Write a token's bytes as printable characters, one for each byte.

    Examples:
        >>> to_characters(b" the\n")
        'ĠtheĊ'
        >>> to_characters(b"")
        ''
    """
    return "".join(BYTE_CHARACTERS[byte] for byte in token)


def from_characters(text: str) -> bytes:
    r"""Read the bytes of a token written by ``to_characters``.

    Raises:
        FormatError: A character that stands for no byte; the message names it and its place.

    Examples:
        >>> from_characters("ĠtheĊ")
        b' the\n'
    """
    try:
        return bytes([_BYTE_OF[character] for character in text])
    except KeyError as error:
        character = str(error.args[0])
        raise FormatError(
            f"token {text!r:.40} has the character {character!r} (U+{ord(character):04X}) at "
            f"{text.index(character)}, which stands for no byte in GPT-2's table of 256; "
            "the file is not byte-level, or holds this token as plain text"
        ) from None

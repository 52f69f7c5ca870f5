r"""Tokens in YAML: bytes in single quotes, where YAML changes nothing but a doubled quote.

Their text is UTF-8 as it is; ``\\`` is a backslash, ``\n``, ``\r`` and ``\t`` are line breaks and
tabs, ``\xNN`` is the byte NN, and ``\u{N}`` a character that does not print.
"""

import re
from collections.abc import Iterator
from typing import Final

from subword.errors import FormatError
from subword.formats.json_file import checked

__all__ = ["quoted_token", "token_text", "unquoted"]

_ESCAPES: Final = {"\\": "\\", "n": "\n", "r": "\r", "t": "\t"}
_ESCAPE_OF: Final = {character: f"\\{letter}" for letter, character in _ESCAPES.items()}
_ESCAPE = re.compile(
    r"\\(?:(?P<plain>[\\nrt])|x(?P<byte>[0-9a-f]{2})|u\{(?P<point>[0-9a-f]{1,6})\})|\\"
)


def quoted_token(token: bytes) -> str:
    r"""Write bytes as a YAML scalar.

    Examples:
        >>> print(quoted_token(b"it's \n \xff\\ \xe4\xbd\xa0"))
        'it''s \n \xff\\ 你'
    """
    # surrogateescape turns each byte that is not UTF-8 into a surrogate of its own
    text = token.decode("utf-8", "surrogateescape")
    if not text.isprintable() or "\\" in text:
        text = "".join(map(_escaped, text))
    return "'" + text.replace("'", "''") + "'"


def _escaped(character: str) -> str:
    point = ord(character)
    if character in _ESCAPE_OF:
        return _ESCAPE_OF[character]
    if 0xDC80 <= point <= 0xDCFF:
        return f"\\x{point - 0xDC00:02x}"
    if character.isprintable():
        return character
    return f"\\x{point:02x}" if point < 0x80 else f"\\u{{{point:x}}}"


def unquoted(text: object, place: str) -> bytes:
    """Give the bytes of a token.

    Raises:
        FormatError: It is no string, or has a backslash that starts no escape.
    """
    text = checked(text, str, place)
    try:
        if "\\" not in text:
            return text.encode()
        return b"".join(_pieces(text))
    except ValueError as error:
        raise FormatError(f"{place}: {text!r:.60} has {error}") from None


def token_text(text: object, place: str) -> str:
    """Give a token that has to be UTF-8.

    Raises:
        FormatError: It is not, or as ``unquoted``.
    """
    token = unquoted(text, place)
    try:
        return token.decode()
    except UnicodeDecodeError as error:
        raise FormatError(f"{place}: {token!r:.40} is not UTF-8, as it has to be here") from error


def _pieces(text: str) -> Iterator[bytes]:
    at = 0
    for found in _ESCAPE.finditer(text):
        yield text[at : found.start()].encode()
        at = found.end()
        if found["plain"] is not None:
            yield _ESCAPES[found["plain"]].encode()
        elif found["byte"] is not None:
            yield bytes.fromhex(found["byte"])
        elif found["point"] is not None:
            yield chr(int(found["point"], 16)).encode()
        else:
            raise ValueError(
                rf"a backslash at {found.start()} that starts none of \\, \n, \r, \t, \xNN, \u{{N}}"
            )
    yield text[at:].encode()

"""Cut a text at its special tokens: the leftmost first, the longest where several begin.

Source: the rule of tiktoken and of HF ``added_tokens``, except that the longest always wins,
in whatever order the tokens are given.
"""

from collections.abc import Sequence

from subword.errors import SpecialTokenError

__all__ = ["cut"]


def cut(text: bytes, special_tokens: Sequence[bytes]) -> list[tuple[bytes, bool]]:
    """Give the parts of a text, each with whether it is a special token.

    The parts join to the text. The text between two special tokens is one part; an empty
    one is left out, so an empty text has no parts.

    Args:
        text: Any bytes.
        special_tokens: Distinct, not empty; in any order.

    Raises:
        SpecialTokenError: A special token that is empty or stands twice.

    Examples:
        >>> cut(b"a<s><s>>b", [b"<s>", b"<s>>"])
        [(b'a', False), (b'<s>', True), (b'<s>>', True), (b'b', False)]
        >>> cut(b"", [b"<s>"])
        []
    """
    check_special_tokens(special_tokens)
    parts: list[tuple[bytes, bool]] = []
    plain_start = position = 0
    while position < len(text):
        found = [token for token in special_tokens if text.startswith(token, position)]
        if not found:
            position += 1
            continue
        token = max(found, key=len)
        if plain_start < position:
            parts.append((text[plain_start:position], False))
        parts.append((token, True))
        plain_start = position = position + len(token)
    if plain_start < len(text):
        parts.append((text[plain_start:], False))
    return parts


def check_special_tokens(special_tokens: Sequence[bytes]) -> None:
    """Refuse special tokens that are empty or repeated.

    Raises:
        SpecialTokenError: Names the token and its place in the list.
    """
    for place, token in enumerate(special_tokens):
        if not token:
            raise SpecialTokenError(f"special token {place} is empty; give it a spelling")
        first = special_tokens.index(token)
        if first != place:
            raise SpecialTokenError(
                f"special token {token!r:.40} stands at {first} and again at {place}; give it once"
            )

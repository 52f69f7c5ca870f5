r"""Lone surrogates: code points of a ``str`` that no UTF-8 can hold.

A surrogate stands alone unless a high one (U+D800 to U+DBFF) and a low one (U+DC00 to U+DFFF)
follow each other; such a pair is read as the character that it stands for in UTF-16.

Source: the Unicode Standard 16.0, section 3.9, D71 to D76, and 5.22 for U+FFFD.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

import numpy as np

from subword.errors import ArgumentError
from subword.types import Span, TextLike

__all__ = [
    "Errors",
    "checked",
    "checked_parts",
    "is_replacing",
    "replace_surrogates",
    "spans_as_given",
]

Errors = Literal["strict", "replace"]
"""What a lone surrogate does: refuse the text, or stand for U+FFFD."""

_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")
_HIGH_LAST = re.compile("[\ud800-\udbff]\\Z")


def replace_surrogates(text: TextLike) -> TextLike:
    r"""Replace lone surrogates by U+FFFD; a pair of them becomes the character it stands for.

    Examples:
        >>> replace_surrogates("a\ud800b") == "a\ufffdb"
        True
    """
    if not isinstance(text, str):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def checked(text: TextLike, errors: Errors) -> TextLike:
    """Give the text that ``errors`` makes of it.

    Raises:
        ArgumentError: ``errors`` is neither "strict" nor "replace".
    """
    return replace_surrogates(text) if is_replacing(errors) else text


def is_replacing(errors: Errors) -> bool:
    """Tell "replace" from "strict".

    Raises:
        ArgumentError: It is neither.
    """
    if errors not in ("strict", "replace"):
        raise ArgumentError(f"errors is {errors!r:.40}; it is 'strict' or 'replace'")
    return errors == "replace"


def checked_parts(parts: Iterable[TextLike], errors: Errors) -> Iterator[TextLike]:
    r"""Give the parts of a text such that they join to what ``checked`` makes of the whole.

    A high surrogate at the end of a part waits for the next one, which may begin with its low one.

    Raises:
        ArgumentError: ``errors`` is neither "strict" nor "replace".

    Examples:
        >>> "".join(checked_parts(["a\ud83d", "\ude42\ud83d"], "replace")) == "a\U0001f642\ufffd"
        True
    """
    return _replaced_parts(parts) if is_replacing(errors) else iter(parts)


def _replaced_parts(parts: Iterable[TextLike]) -> Iterator[TextLike]:
    waiting = ""
    for part in parts:
        if not isinstance(part, str):
            if waiting:
                yield replace_surrogates(waiting)
                waiting = ""
            yield part
            continue
        text = waiting + part
        waiting = text[-1] if _HIGH_LAST.search(text) else ""
        yield replace_surrogates(text[: len(text) - len(waiting)])
    if waiting:
        yield replace_surrogates(waiting)


def spans_as_given(text: str, spans: Sequence[Span]) -> list[Span]:
    r"""Give character spans in a text from those in what ``replace_surrogates`` makes of it.

    They differ where a pair of surrogates became one character.

    Examples:
        >>> spans_as_given("\ud83d\ude42b", [(0, 1), (1, 2)])
        [(0, 2), (2, 3)]
    """
    pairs = np.array([found.start() for found in _PAIR.finditer(text)], np.int64)
    if not len(pairs):
        return list(spans)
    joined = pairs - np.arange(len(pairs))
    bounds = np.array(spans, np.int64).reshape(-1, 2)
    bounds += np.searchsorted(joined, bounds)
    return [(start, end) for start, end in bounds.tolist()]

"""Types that every room shares."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

__all__ = ["Pair", "Sources", "Span", "SpecialTokens", "TextLike", "TokenId"]

TokenId = int
"""A token's number; 32 bits, unsigned."""

Pair = tuple[TokenId, TokenId]
"""Two adjacent token ids."""

Span = tuple[int, int]
"""Half-open ``(start, end)``; the unit is in the name of what holds it."""

TextLike = str | bytes
"""A text: a ``str``, or bytes that are meant as UTF-8 but need not be valid."""

SpecialTokens = Sequence[str] | Mapping[str, TokenId]
"""Reserved strings, in the order of their ids or with their ids."""

Sources = str | Path | Iterable[Path] | Iterable[str] | Iterable[bytes]
"""A path or glob, files, or documents: see ``subword.corpus``."""

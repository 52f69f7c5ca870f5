"""Tokens as people see them: coloured on a terminal, in a notebook, and with bars elsewhere.

What has no ink is made visible: a space is ``·``, a line end ``↵``, a tab ``→``, other controls
and formats are escaped, and bytes that are no whole character are written in hexadecimal.
"""

import os
import sys
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from html import escape
from typing import Final

from rich.console import Console
from rich.text import Text

from subword.types import Encoding, TokenId

__all__ = ["ShownTokens", "facts_as_html", "visible"]

MAX_SHOWN: Final = 4_000
"""Tokens that are drawn; a longer text ends with how many are left."""

_MAX_TOKEN_BYTES: Final = 400
_SPECIAL_STYLE: Final = "bold white on bright_black"
_STYLES: Final = (
    "black on bright_cyan",
    "black on bright_yellow",
    "black on bright_green",
    "black on bright_magenta",
)
# Each pair has a contrast above 10 to 1; a notebook's own text colour is not relied on.
_COLOURS: Final = ("#d9e7fd", "#fde4c8", "#d6f0d8", "#f8dcec", "#f8f0b8", "#e2dffb")
_INK: Final = "#1a1e26"
_SPECIAL_HTML: Final = "background:#2f3747;color:#ffffff"
_MARKS: Final = {" ": "·", "\n": "↵", "\t": "→"}


@dataclass(frozen=True, slots=True, repr=False)
class ShownTokens:
    """The tokens of a text, to be looked at.

    A notebook draws it in colours; so does a terminal when it is the result of a line or is
    printed, and ``rich.print``. Elsewhere there is a bar after each token.

    Attributes:
        text: The bytes of the text.
        encoding: Its ids and where they stand.
        tokens: The bytes of each id.
        special: The ids of special tokens.
    """

    text: bytes
    encoding: Encoding
    tokens: Mapping[TokenId, bytes]
    special: frozenset[TokenId]

    def __str__(self) -> str:
        """Give the text with a bar after each token, coloured where output is a terminal."""
        if not sys.stdout.isatty() or os.environ.get("NO_COLOR"):
            return self.__rich__().plain
        console = Console(file=sys.stdout)
        with console.capture() as captured:
            console.print(self.__rich__(), highlight=False, end="")
        return captured.get()

    def __repr__(self) -> str:
        """Give what ``str`` gives: it is there to be seen."""
        return str(self)

    def __rich__(self) -> Text:
        """Give the text in colours, with a bar after each token."""
        line = Text()
        for at, (between, token_id, token) in enumerate(self._stretches()):
            line.append(visible(between))
            special = token_id in self.special
            line.append(visible(token), _SPECIAL_STYLE if special else _STYLES[at % len(_STYLES)])
            line.append("|", "dim")
            if b"\n" in token:
                line.append("\n")
        line.append(self._rest())
        return line

    def _repr_html_(self) -> str:
        parts = []
        for at, (between, token_id, token) in enumerate(self._stretches()):
            colours = f"background:{_COLOURS[at % len(_COLOURS)]};color:{_INK}"
            if token_id in self.special:
                colours = _SPECIAL_HTML
            # A break after each line of the text, where its token is seen to end.
            line_end = "<br>" if b"\n" in token else ""
            parts.append(
                f'{escape(visible(between))}<span title="id {token_id}: {escape(str(token)[:200])}"'
                f' style="{colours};border-radius:3px;unicode-bidi:isolate">'
                f"{escape(visible(token))}</span>{line_end}"
            )
        return (
            '<div style="font-family:monospace;white-space:pre-wrap;line-height:1.8">'
            f"{''.join(parts)}{escape(self._rest())}</div>"
            f"<div>{len(self.encoding):,} tokens, {len(self.text):,} bytes</div>"
        )

    def _stretches(self) -> Iterator[tuple[bytes, TokenId, bytes]]:
        """Give what no token covers before each token, its id, and its stretch of the text.

        A token that has no stretch to itself (a normalizer may make several of one character)
        is shown as it stands in the vocabulary.
        """
        done = 0
        encoding = self.encoding
        spans = encoding.byte_spans[:MAX_SHOWN]
        for token_id, (start, end) in zip(encoding.ids, spans, strict=False):
            own = start >= done and end > start
            between = self.text[done:start] if start > done else b""
            yield between, token_id, self.text[start:end] if own else self.tokens[token_id]
            done = max(done, end)

    def _rest(self) -> str:
        n_left = len(self.encoding) - MAX_SHOWN
        if n_left > 0:
            return f" … and {n_left:,} more tokens"
        covered = max((end for _, end in self.encoding.byte_spans), default=0)
        return visible(self.text[covered:])


def visible(token: bytes) -> str:
    r"""Write bytes so that all of them can be seen, on one line.

    Examples:
        >>> visible(b" the\n"), visible("\u202e".encode()), visible(b"\xe4\xbd")
        ('·the↵', '\\u202e', '\\xe4\\xbd')
    """
    more = f"… +{len(token) - _MAX_TOKEN_BYTES} bytes" if len(token) > _MAX_TOKEN_BYTES else ""
    text = token[:_MAX_TOKEN_BYTES].decode("utf-8", "backslashreplace")
    # A combining mark with nothing to stand on would stand on the token before.
    base = "◌" if text and unicodedata.combining(text[0]) else ""
    return base + "".join(map(_visible_character, text)) + more


def facts_as_html(title: str, facts: Mapping[str, object]) -> str:
    """Give a small table of names and values."""
    rows = "".join(
        f'<tr><th style="text-align:left">{escape(name)}</th>'
        f'<td style="text-align:left">{escape(str(value))}</td></tr>'
        for name, value in facts.items()
    )
    return f"<table><caption>{escape(title)}</caption>{rows}</table>"


def _visible_character(char: str) -> str:
    if char in _MARKS:
        return _MARKS[char]
    if char.isprintable():
        return char
    return (
        char.encode("ascii", "backslashreplace").decode() if ord(char) > 0x7F else repr(char)[1:-1]
    )

r"""Split patterns in the words of Oniguruma, the regex engine of HF ``tokenizers``.

The two engines agree on most of what split patterns are made of, but not on all: in Oniguruma
``$`` ends any line, ``{1,3}+`` repeats the whole, and ``(?i)`` reaches over the alternatives to
its right. So a pattern is read construct by construct; what means the same in both is kept,
what has another spelling is translated, and the rest is refused.

Source: kkos/oniguruma 6.9, doc/RE (syntax ``ONIG_SYNTAX_ONIGURUMA``); rust-lang/regex-syntax 0.8.
"""

import re
from dataclasses import dataclass, field

from subword.errors import FormatError

__all__ = ["from_oniguruma", "to_oniguruma"]

_CATEGORY = r"\\[pP]\{(?:[LMNPSZC][a-z]?|Han|Hiragana|Katakana|Hangul|Latin|Greek|Cyrillic)\}"
_PUNCTUATION = r"\\[!-;=?@\[-_{-~]"
_IN_CLASS = rf"{_CATEGORY}|\\[rntsSdD]|{_PUNCTUATION}|(?!&&|--|~~)[^\\\[\]]"
_CONSTRUCT = re.compile(
    rf"""
      (?P<folded>  \(\?i:(?:\[[a-z]+\]|[a-z'|])+\) )
    | (?P<look>    \(\?<?[=!] )
    | (?P<open>    \(\?:|\(\?>|\((?!\?) )
    | (?P<close>   \) )
    | (?P<or>      \| )
    | (?P<braces>  \{{(?P<least>\d{{1,4}})(?P<most>,\d{{0,4}})?\}}(?P<mode>[?+]?) )
    | (?P<repeat>  [*+?][?+]? )
    | (?P<class>   \[(?!\^\])\^?(?:{_IN_CLASS})+\] )
    | (?P<end>     \$|\\z )
    | (?P<start>   \^|\\A )
    | (?P<atom>    {_CATEGORY}|\\[rntsSdD]|{_PUNCTUATION}|[^\\\[{{] )
    """,
    re.VERBOSE | re.DOTALL,
)
# Letters that some single character folds to (the ligatures and sharp s): Oniguruma matches it.
_LONG_FOLDS = re.compile("ff|fi|fl|ss|st")


@dataclass(slots=True)
class _Group:
    """An open group while a pattern is read: how short a match of it may be."""

    start: int = 0
    is_look: bool = False
    shortest_branch: int | None = None
    length: int = 0
    # Where the last atom starts in the output, and its shortest match; None when there is none.
    atom: tuple[int, int] | None = None

    def end_branch(self) -> int:
        """Close the present alternative; give the shortest match so far."""
        known = self.shortest_branch
        self.shortest_branch = self.length if known is None else min(known, self.length)
        self.length, self.atom = 0, None
        return self.shortest_branch


@dataclass(slots=True)
class _Translation:
    """The pattern written so far."""

    output: list[str] = field(default_factory=list)
    groups: list[_Group] = field(default_factory=lambda: [_Group()])

    def add_atom(self, text: str, length: int) -> None:
        """Write something that may be repeated."""
        group = self.groups[-1]
        group.atom = (len(self.output), length)
        group.length += length
        self.output.append(text)


def to_oniguruma(pattern: str) -> str:
    r"""Translate a pattern of subword's.

    Raises:
        FormatError: A construct that Oniguruma does not have or reads otherwise, or a pattern
            that matches the empty string, at which HF cuts and subword does not.

    Examples:
        >>> to_oniguruma(r"\s+$|\p{N}{1,3}+")
        '\\s+\\z|(?>\\p{N}{1,3})'
    """
    anchors = {"$": r"\z", r"\z": r"\z", "^": r"\A", r"\A": r"\A"}
    return _translate(pattern, anchors, possessive=True)


def from_oniguruma(pattern: str) -> str:
    r"""Translate a pattern of a ``tokenizer.json``; line breaks in it become escapes.

    Raises:
        FormatError: As ``to_oniguruma``.

    Examples:
        >>> from_oniguruma("[^\r\n]+\\z|x$")
        '[^\\r\\n]+$|x(?=\\n|$)'
    """
    pattern = pattern.replace("\r", r"\r").replace("\n", r"\n")
    return _translate(pattern, {"$": r"(?=\n|$)", r"\z": "$", r"\A": "^"}, possessive=False)


def _translate(pattern: str, anchors: dict[str, str], *, possessive: bool) -> str:
    state, at = _Translation(), 0
    while at < len(pattern):
        found = _CONSTRUCT.match(pattern, at)
        if found is None or not _write(state, found, anchors, possessive):
            raise FormatError(
                f"pattern {pattern!r:.60}: {pattern[at : at + 12]!r} at {at} need not "
                "mean the same to subword's regex engine and to Oniguruma, which reads "
                "tokenizer.json; YAML holds any pattern"
            )
        at = found.end()
    if len(state.groups) != 1:
        raise FormatError(f"pattern {pattern!r:.60}: a parenthesis is not closed")
    if state.groups[0].end_branch() == 0:
        raise FormatError(
            f"pattern {pattern!r:.60} can match the empty string, at which HF tokenizers cuts and "
            "subword does not; rewrite it so that each match has a character"
        )
    return "".join(state.output)


def _write(
    state: _Translation, found: re.Match[str], anchors: dict[str, str], possessive: bool
) -> bool:
    """Write one construct; False if it cannot be."""
    kind, text, group = found.lastgroup, found[0], state.groups[-1]
    match kind:
        case "folded":
            if _LONG_FOLDS.search(text):
                return False
            branches = re.sub(r"\[[a-z]+\]", "x", text[4:-1]).split("|")
            state.add_atom(text, min(len(branch) for branch in branches))
        case "open" | "look":
            state.groups.append(_Group(len(state.output), is_look=kind == "look"))
            state.output.append(text)
        case "close":
            return _close(state)
        case "or":
            group.end_branch()
            state.output.append(text)
        case "end" | "start":
            if text not in anchors:
                return False
            group.atom = None
            state.output.append(anchors[text])
        case "class" | "atom":
            state.add_atom(text, 1)
        case _:
            return _repeat(state, found, possessive)
    return True


def _close(state: _Translation) -> bool:
    if len(state.groups) == 1:
        return False
    closed = state.groups.pop()
    shortest = 0 if closed.is_look else closed.end_branch()
    outer = state.groups[-1]
    outer.atom = None if closed.is_look else (closed.start, shortest)
    outer.length += shortest
    state.output.append(")")
    return True


def _repeat(state: _Translation, found: re.Match[str], possessive: bool) -> bool:
    group = state.groups[-1]
    if group.atom is None:
        return False
    start, length = group.atom
    text = found[0]
    if found["braces"] is None:
        least = 1 if text[0] == "+" else 0
    else:
        least = int(found["least"])
        mode = found["mode"]
        if (mode == "?" and found["most"] is None) or (mode == "+" and not possessive):
            return False
        if mode == "+":
            state.output[start:] = ["(?>", *state.output[start:], text[:-1], ")"]
            text = ""
    state.output.append(text)
    group.length += length * (least - 1)
    group.atom = None
    return True

r"""Split a text into pre-tokens, with the standard library's ``re``.

Patterns are written in the syntax of Rust's ``regex`` and ``fancy-regex`` crates. ``translate``
rewrites one for ``re``, character class by character class: every class becomes the ranges
that the compiled module has for it, so twin and kernels share one Unicode table, one case
folding and one meaning of ``\s``. What is left for ``re`` is the matching itself: alternation,
repetition and look-around, leftmost first and backtracking, as in ``fancy-regex``. There is
no step limit here; a pattern that backtracks without end does so.

Source: regex-syntax 0.8 for the syntax, fancy-regex 0.20 for possessive repetition (which also
follows ``{m,n}``) and look-around.
"""

import re
from functools import lru_cache
from itertools import pairwise

from subword._core import class_ranges
from subword.errors import PatternError, TextError
from subword.patterns import Pattern
from subword.types import TextLike

__all__ = ["split", "text_bytes", "translate"]

# Python's "surrogateescape" decodes each byte that is no part of valid UTF-8 to one of these.
_INVALID_BYTE = re.compile("[\udc80-\udcff]")
_UNASSIGNED = "\U0010ffff"

_TOKEN = re.compile(
    r"""
      (?P<escaped_class> \\[dDsSwW] | \\[pP](?: \{[^}]*\} | [A-Za-z] ) )
    | (?P<bracket> \[ )
    | (?P<boundary> \\[bB] (?!\{) )
    | (?P<code> \\(?: x[0-9A-Fa-f]{2} | u[0-9A-Fa-f]{4} | U[0-9A-Fa-f]{8}
                    | [xuU]\{[0-9A-Fa-f]+\} | [afnrtv] ) )
    | (?P<literal> \\[!-/:;=?@\[-`{-~] )
    | (?P<as_is> \\A | [*+?|] | \{\d+(?:,\d*)?\} | \{,\d+\} | \\[1-9]\d* )
    | (?P<edge> \\z | [$^.] )
    | (?P<flags> \(\? (?! \) ) (?P<on>[ims]*) (?: -(?P<off>[ims]+) )? (?P<scope>[:)]) )
    | (?P<named> \(\? P? < (?P<name>[A-Za-z_]\w*) > )
    | (?P<open> \( (?: \? (?: [=!>] | <[=!] ) | (?!\?) ) )
    | (?P<close> \) )
    | (?P<plain> [^\\(] )
    """,
    re.VERBOSE | re.DOTALL,
)


def split(text: TextLike, pattern: Pattern) -> list[bytes]:
    r"""Give the pre-tokens of a text, in order; they join to the text.

    The matches of a regular expression are pieces, and so is each gap between them; matches
    of nothing are ignored. Each expression of the pattern splits the pieces that the one
    before it made, and sees nothing outside of its piece. The search goes on where the last
    match ended, or one character later if that match was empty. An empty text has no
    pre-tokens; the empty pattern makes one of any other text.

    Bytes that are no part of valid UTF-8 are kept: each is matched as one unassigned code
    point (U+10FFFF).

    Args:
        text: One document, or what is left of it between two special tokens.
        pattern: Regular expressions, as ``subword.patterns.resolve_pattern`` gives them.

    Raises:
        PatternError: An expression that does not compile, or that ``re`` cannot run (a
            look-behind of variable width).
        TextError: A ``str`` with a lone surrogate.

    Examples:
        >>> split("It's 1,5°  C\n", (r" ?\p{L}+|\p{N}|\s+(?!\S)",))
        [b'It', b"'", b's', b' ', b'1', b',', b'5', b'\xc2\xb0', b' ', b' C', b'\n']
        >>> split(b"a\xff1", (r"\w+",))
        [b'a', b'\xff', b'1']
    """
    pieces = [text_bytes(text).decode("utf-8", "surrogateescape")] if text else []
    for expression in pattern:
        compiled = _compile(expression)
        pieces = [part for piece in pieces for part in _split_piece(piece, compiled)]
    return [piece.encode("utf-8", "surrogateescape") for piece in pieces]


def text_bytes(text: TextLike) -> bytes:
    """Give a text as bytes: a ``str`` in UTF-8, bytes as they are.

    Raises:
        TextError: A ``str`` with a lone surrogate; the message has its offset.
    """
    if isinstance(text, bytes):
        return text
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise TextError(
            f"text has the lone surrogate U+{ord(text[error.start]):04X} at character "
            f"{error.start}, which UTF-8 cannot hold; replace it first"
        ) from None


def _split_piece(piece: str, compiled: re.Pattern[str]) -> list[str]:
    """Cut a piece where matches begin and end."""
    shown = _INVALID_BYTE.sub(_UNASSIGNED, piece)
    cuts = {0, len(piece)}
    position = 0
    while position <= len(piece) and (match := compiled.search(shown, position)):
        start, end = match.span()
        if start < end:
            cuts |= {start, end}
        position = end if start < end else end + 1
    return [piece[start:end] for start, end in pairwise(sorted(cuts))]


@lru_cache(maxsize=64)
def _compile(expression: str) -> re.Pattern[str]:
    try:
        return re.compile(translate(expression))
    except (re.error, OverflowError, RecursionError) as error:
        raise PatternError(f"pattern {expression!r:.40} does not compile: {error}") from error


def translate(expression: str) -> str:
    r"""Rewrite a regular expression of Rust's syntax for Python's ``re``.

    The flags ``i``, ``m`` and ``s`` are resolved here, character by character, and hold to the end
    of their group as they do in Rust; ``$`` is the end of the text only.

    Raises:
        PatternError: Syntax that this twin does not know, or a class that does not parse.

    Examples:
        >>> print(translate(r"(?i:'s)$"))
        (?:'[\U00000053\U00000073\U0000017f])\Z
        >>> print(translate(r"(?P<x>[^\x00-\x60])."))
        (?P<x>[\U00000061-\U0010ffff]).
    """
    flags: frozenset[str] = frozenset()
    outer_flags: list[frozenset[str]] = []
    written: list[str] = []
    position = 0
    while position < len(expression):
        token = _TOKEN.match(expression, position)
        kind = token.lastgroup if token else None
        if token is None or (kind == "close" and not outer_flags):
            raise PatternError(
                f"pattern {expression!r:.40} has {expression[position : position + 8]!r} at "
                f"character {position}, which is not understood; write it another way, or put "
                "a backslash before a character that stands for itself"
            )
        position = token.end()
        if kind in ("named", "open") or token["scope"] == ":":
            outer_flags.append(flags)
        if kind == "flags":
            flags = flags | set(token["on"]) - set(token["off"] or "")
        elif kind == "close":
            flags = outer_flags.pop()
        elif kind == "bracket":
            position = _bracket_end(expression, token.start())
        written.append(_write(kind, expression[token.start() : position], token["name"], flags))
    return "".join(written)


def _write(kind: str | None, item: str, name: str | None, flags: frozenset[str]) -> str:
    """Give the ``re`` syntax of one item of the expression."""
    if kind in ("escaped_class", "bracket"):
        return _class(item, ignore_case="i" in flags)
    if kind in ("plain", "literal"):
        return _character(ord(item[-1]), flags)
    if kind == "code":
        control = "afnrtv".find(item[1:])
        digits = item[2:].strip("{}")
        return _character(ord("\a\f\n\r\t\v"[control]) if control >= 0 else int(digits, 16), flags)
    if kind == "boundary":
        word = _class(r"\w", ignore_case=False)
        same = f"(?<={word})(?={word})|(?<!{word})(?!{word})"
        return f"(?:{same})" if item == r"\B" else f"(?!{same})"
    if kind == "edge":
        return _edge(item, flags)
    if kind == "flags":
        return "(?:" if item.endswith(":") else ""
    return f"(?P<{name}>" if kind == "named" else item


def _edge(item: str, flags: frozenset[str]) -> str:
    """Write ``^``, ``$``, the end of the text, and the dot."""
    if item == ".":
        return "(?s:.)" if "s" in flags else "."
    if item == "^" or (item == "$" and "m" in flags):
        return f"(?m:{item})" if "m" in flags else item
    return r"\Z"


def _character(code_point: int, flags: frozenset[str]) -> str:
    if code_point > 0x10FFFF:
        raise PatternError(f"U+{code_point:X} is past the last code point, U+10FFFF")
    if "i" in flags and not 0xD800 <= code_point <= 0xDFFF:
        return _class(rf"[\x{{{code_point:x}}}]", ignore_case=True)
    return re.escape(chr(code_point))


def _bracket_end(expression: str, start: int) -> int:
    """Find the end of a bracketed class; a class may hold others."""
    depth, position = 0, start
    while position < len(expression):
        if opening := re.compile(r"\[\^?-*\]?").match(expression, position):
            depth, position = depth + 1, opening.end()
        elif expression[position] == "]":
            depth, position = depth - 1, position + 1
        else:
            position += 2 if expression[position] == "\\" else 1
        if depth == 0:
            return position
    raise PatternError(
        f"pattern {expression!r:.40} opens a class with '[' at character {start} and does not "
        r"close it; add ']', or write '\['"
    )


@lru_cache(maxsize=1024)
def _class(expression: str, *, ignore_case: bool) -> str:
    """Write the characters of a class as explicit ranges."""
    flag = "(?i)" if ignore_case else ""
    try:
        ranges = class_ranges(flag + expression)
    except PatternError:
        # A class of one character is a plain character to regex-syntax, but its complement is
        # a class, with one gap; what does not parse at all is refused here.
        others = class_ranges(f"{flag}[^{expression}]")
        only = next((last + 1 for first, last in others if first == 0), 0)
        return re.escape(chr(only))
    if not ranges:
        return "(?!)"
    spelled = "".join(
        rf"\U{first:08x}" if first == last else rf"\U{first:08x}-\U{last:08x}"
        for first, last in ranges
    )
    return f"[{spelled}]"

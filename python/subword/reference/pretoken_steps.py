"""Pre-tokenizer steps on lists of characters: the specification of the kernel, and its oracle.

A piece is a list of units: a character and the byte span of the given text it came from.
Classes are those of the compiled module; regular expressions are Python's, so patterns that the
two engines read alike give the same pieces.

Source: tokenizers 0.23.3, ``pre_tokenizers/`` and ``NormalizedString::split``.
"""

import re
from bisect import bisect_right
from collections.abc import Sequence
from functools import cache
from itertools import groupby

from subword import _core
from subword import pretokens as data
from subword.byte_characters import BYTE_CHARACTERS
from subword.reference.normalizers import Unit

__all__ = ["split"]

Piece = list[Unit]
Stretch = tuple[Piece, bool]


def split(
    text: bytes, steps: Sequence[data.PretokenStep], *, at_start: bool = True
) -> list[tuple[bytes, int, int]]:
    """Cut a text into pieces, as ``subword.pretokens.split`` does.

    Args:
        text: The text; bytes that are not UTF-8 are of no class.
        steps: Applied in turn.
        at_start: Whether the text starts where the one it was cut from does.

    Examples:
        >>> split(b"Hi there!", [data.Bert()])
        [(b'Hi', 0, 2), (b'there', 3, 8), (b'!', 8, 9)]
    """
    whole, end = [], 0
    for character in text.decode("utf-8", "surrogateescape"):
        start, end = end, end + len(_bytes(character))
        whole.append(Unit(character, start, end))
    pieces = [whole]
    for step in steps:
        pieces = [new for piece in pieces if piece for new in _apply(step, piece, at_start)]
    return [
        (_bytes(_text(piece)), piece[0].start, max(piece[0].start, piece[-1].end))
        for piece in pieces
        if piece
    ]


def _apply(step: data.PretokenStep, piece: Piece, at_start: bool) -> list[Piece]:  # noqa: C901
    match step:
        case data.Split():
            pattern = step.pattern if step.regex else re.escape(step.pattern)
            stretches = _matches(pattern, piece)
            if step.invert:
                stretches = [(part, not is_match) for part, is_match in stretches]
            return _behave(step.behavior, stretches)
        case data.Whitespace():
            kind = {r"\w": 1, r"[^\w\s]": 2}
            groups = groupby(
                piece, lambda u: sum(n for c, n in kind.items() if _in(c, u.character))
            )
            return [list(group) for key, group in groups if key]
        case data.WhitespaceSplit():
            return _cut(r"\s", "removed", piece)
        case data.Bert():
            words = _cut(r"\s", "removed", piece)
            return [part for word in words for part in _cut(_PUNCTUATION, "isolated", word)]
        case data.Punctuation():
            return _cut(_PUNCTUATION, step.behavior, piece)
        case data.Digits():
            return _cut(r"\p{N}", "isolated" if step.individual else "contiguous", piece)
        case data.Metaspace():
            return _metaspace(step, piece, at_start)
        case data.UnicodeScripts():
            return _scripts(piece)
        case data.CharDelimiter():
            groups = groupby(piece, lambda unit: unit.character == step.char)
            return [list(group) for is_delimiter, group in groups if not is_delimiter]
        case data.ByteLevel():
            if step.add_prefix_space and piece[0].character != " ":
                piece = [piece[0]._replace(character=" "), *piece]
            pieces = _gpt2(piece) if step.use_regex else [piece]
            return [_printable(part) for part in pieces] if step.printable else pieces


def _printable(piece: Piece) -> Piece:
    units = []
    for unit in piece:
        data = _bytes(unit.character)
        is_own = unit.end - unit.start == len(data)
        for at, byte in enumerate(data):
            start = unit.start + at if is_own else unit.start
            end = start + 1 if is_own else unit.end
            units.append(Unit(BYTE_CHARACTERS[byte], start, end))
    return units


_PUNCTUATION = r"[!-/:-@\[-`{-~\p{P}]"


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def _text(piece: Piece) -> str:
    return "".join(unit.character for unit in piece)


@cache
def _ranges(expression: str) -> list[tuple[int, int]]:
    return _core.class_ranges(expression)


def _in(expression: str, character: str) -> bool:
    ranges = _ranges(expression)
    place = bisect_right(ranges, (ord(character), 0x110000)) - 1
    is_stray = "\ud800" <= character <= "\udfff"
    return not is_stray and place >= 0 and ord(character) <= ranges[place][1]


def _matches(pattern: str, piece: Piece) -> list[Stretch]:
    stretches: list[Stretch] = []
    done = 0
    for match in re.finditer(pattern, _text(piece)):
        if match.start() < match.end():
            stretches.append((piece[done : match.start()], False))
            stretches.append((piece[match.start() : match.end()], True))
            done = match.end()
    stretches.append((piece[done:], False))
    return [stretch for stretch in stretches if stretch[0]]


def _cut(expression: str, behavior: data.Behavior, piece: Piece) -> list[Piece]:
    """Each member of the class is a match; what lies between two is one stretch."""
    stretches: list[Stretch] = []
    for is_match, group in groupby(piece, lambda unit: _in(expression, unit.character)):
        run = list(group)
        stretches += [([unit], True) for unit in run] if is_match else [(run, False)]
    return _behave(behavior, stretches)


# Whether a stretch joins the one before it, by which of the two are matches.
_JOINS: dict[data.Behavior, tuple[bool, bool] | None] = {
    "isolated": None,
    "merged_with_previous": (False, True),
    "merged_with_next": (True, False),
}


def _behave(behavior: data.Behavior, stretches: list[Stretch]) -> list[Piece]:
    if behavior == "removed":
        return [list(part) for part, is_match in stretches if not is_match]
    if behavior == "contiguous":
        groups = groupby(stretches, lambda stretch: stretch[1])
        return [[unit for part, _ in group for unit in part] for _, group in groups]
    pieces: list[Piece] = []
    before: bool | None = None
    for part, is_match in stretches:
        if (before, is_match) == _JOINS[behavior]:
            pieces[-1] = pieces[-1] + part
        else:
            pieces.append(list(part))
        before = is_match
    return pieces


def _metaspace(step: data.Metaspace, piece: Piece, at_start: bool) -> list[Piece]:
    mark = step.replacement
    piece = [u._replace(character=mark) if u.character == " " else u for u in piece]
    is_first = at_start and piece[0].start == 0
    wanted = step.prepend_scheme == "always" or (step.prepend_scheme == "first" and is_first)
    if wanted and piece[0].character != mark:
        piece = [piece[0]._replace(character=mark), *piece]
    if not step.split:
        return [piece]
    return _behave("merged_with_next", _matches(re.escape(mark), piece))


@cache
def _scripts_table() -> list[tuple[int, int, int]]:
    return _core.script_ranges()[1]


def _script(character: str) -> int | None:
    if character == " ":
        return None
    code = ord("中") if character == "ー" else ord(character)
    table = _scripts_table()
    place = bisect_right(table, (code, 0x110000, 0)) - 1
    return table[place][2] if place >= 0 and code <= table[place][1] else None


def _scripts(piece: Piece) -> list[Piece]:
    pieces: list[Piece] = []
    last: int | None = None
    for unit in piece:
        script = _script(unit.character)
        if script is not None and script != last:
            pieces.append([])
            last = script
        if pieces:
            pieces[-1].append(unit)
    return pieces


def _gpt2(piece: Piece) -> list[Piece]:
    """Cut by GPT-2's pattern: at each place the first of its alternatives that matches."""
    pieces: list[Piece] = []
    stray: Piece = []
    place = 0
    while place < len(piece):
        length = _gpt2_match(_text(piece[place:]))
        if length and stray:
            pieces.append(stray)
            stray = []
        if length:
            pieces.append(piece[place : place + length])
        else:
            stray.append(piece[place])
        place += length or 1
    return [*pieces, stray] if stray else pieces


def _gpt2_match(text: str) -> int:
    contraction = re.match(r"'(?:[sdmt]|ll|ve|re)", text)
    if contraction:
        return contraction.end()
    lead = int(text.startswith(" "))
    for expression in (r"\p{L}", r"\p{N}", r"[^\s\p{L}\p{N}]"):
        end = _run(expression, text, lead)
        if end > lead:
            return end
    end = _run(r"\s", text, 0)
    return end - 1 if end > 1 and end < len(text) else end


def _run(expression: str, text: str, start: int) -> int:
    end = start
    while end < len(text) and _in(expression, text[end]):
        end += 1
    return end

"""Normalizers, one character at a time: the specification of the kernel, and its oracle.

A text is a list of units: a character (or a byte that is no UTF-8, as its surrogate escape) and
the span of given bytes it came from. Each step makes a new list. Unicode data is that of Python's
``unicodedata``, which may be older than the kernel's: compare on characters that both know. The
one thing it lacks, grapheme clusters, leaves ``Charsmap(per_grapheme=True)`` without a twin.

Source: Unicode Standard Annex #15; tokenizers 0.23.3 and sentencepiece 0.2.3 for the origins.
"""

import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from subword import normalizers as data
from subword.errors import ArgumentError

__all__ = ["Normalized", "Unit", "normalize"]


class Unit(NamedTuple):
    """A character of a text, and the byte span of the given text it came from."""

    character: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Normalized:
    """A normalized text.

    Attributes:
        units: Its characters.
        end: Where the last span ends, under ``tile``.
        tile: Whether a span ends where the next character's begins, as in SentencePiece.
    """

    units: list[Unit]
    end: int
    tile: bool

    @property
    def text(self) -> bytes:
        """The text as bytes."""
        return _bytes("".join(unit.character for unit in self.units))

    def original_span(self, first: int, last: int) -> tuple[int, int]:
        """Give the byte span of the given text that characters ``first`` to ``last`` came from."""
        start = self.units[first].start
        if not self.tile:
            return start, max(start, self.units[last].end)
        following = self.units[last + 1].start if last + 1 < len(self.units) else self.end
        return start, max(start, following)


def normalize(text: bytes, steps: Sequence[data.NormalizerStep]) -> Normalized:
    """Apply the steps in turn.

    Args:
        text: The text; bytes that are not UTF-8 stay as they are.
        steps: As in ``subword.normalizers``.

    Raises:
        ArgumentError: ``Charsmap(per_grapheme=True)``.

    Examples:
        >>> result = normalize("Ａ…".encode(), [data.Nfkd(), data.Lowercase()])
        >>> result.text.decode(), result.original_span(0, 0), result.original_span(1, 2)
        ('a...', (0, 3), (3, 6))
    """
    units, end = [], 0
    for character in text.decode("utf-8", "surrogateescape"):
        start, end = end, end + len(_bytes(character))
        units.append(Unit(character, start, end))
    tile = False
    for step in steps:
        match step:
            case data.SentencePieceSpaces():
                units, end = _spaces(step, units, end)
                tile = True
            case data.Charsmap():
                units = _charsmap(step, units)
                tile = True
            case _:
                units = _apply(step, units)
    return Normalized(units, end, tile)


def _apply(step: data.NormalizerStep, units: list[Unit]) -> list[Unit]:  # noqa: C901
    match step:
        case data.Nfc():
            return _form(units, "NFD", step.keep, composes=True)
        case data.Nfd():
            return _form(units, "NFD", step.keep, composes=False)
        case data.Nfkc():
            return _form(units, "NFKD", step.keep, composes=True)
        case data.Nfkd():
            return _form(units, "NFKD", step.keep, composes=False)
        case data.Lowercase():
            return _map(units, str.lower)
        case data.StripAccents():
            return _map(units, lambda c: "" if unicodedata.category(c).startswith("M") else c)
        case data.Strip():
            return _strip(units, step)
        case data.Replace():
            return _replace(units, step)
        case data.Prepend():
            return [Unit(c, units[0].start, units[0].end) for c in step.text if units] + units
        case data.Bert():
            return _bert(units, step)
    raise ArgumentError(f"{step!r:.40} has no reference")


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def _map(units: list[Unit], replace: Callable[[str], str]) -> list[Unit]:
    """Put a string for each character; all of it has that character's origin."""
    return [
        Unit(new, unit.start, unit.end)
        for unit in units
        for new in (unit.character if _is_stray(unit) else replace(unit.character))
    ]


def _is_stray(unit: Unit) -> bool:
    return "\udc80" <= unit.character <= "\udcff"


@dataclass(slots=True)
class _Part:
    """A decomposed character, and how many characters of its source it adds or stands for."""

    character: str
    change: int


def _form(units: list[Unit], decomposition: str, keep: str, *, composes: bool) -> list[Unit]:
    parts: list[_Part] = []
    for unit in units:
        kept = _is_stray(unit) or unit.character in keep
        decomposed = unit.character if kept else _decompose(decomposition, unit.character)
        parts += [_Part(new, int(place > 0)) for place, new in enumerate(decomposed)]
    ordered: list[_Part] = []
    for part in parts:
        place = len(ordered)
        while place and 0 < _class(part.character) < _class(ordered[place - 1].character):
            place -= 1
        ordered.insert(place, part)
    if composes:
        ordered = _compose(ordered, keep)
    return _align(ordered, units)


def _decompose(form: str, character: str) -> str:
    return unicodedata.normalize(form, character)  # type: ignore[arg-type]


def _class(character: str) -> int:
    return unicodedata.combining(character)


def _compose(parts: list[_Part], keep: str) -> list[_Part]:
    composed: list[_Part] = []
    starter: _Part | None = None
    last_class: int | None = None
    for part in parts:
        part_class = _class(part.character)
        if starter is not None and (last_class is None or last_class < part_class):
            pair = unicodedata.normalize("NFC", starter.character + part.character)
            if len(pair) == 1 and starter.character not in keep:
                starter.character = pair
                starter.change += part.change - 1
                continue
        if part_class == 0:
            starter, last_class = part, None
        else:
            last_class = part_class
        composed.append(part)
    return composed


def _align(parts: list[_Part], units: list[Unit]) -> list[Unit]:
    """Give a composite the origin of its first character, an addition that of the one before."""
    result: list[Unit] = []
    consumed = 0
    for part in parts:
        if part.change > 0:
            source = units[consumed - 1]
        else:
            source = units[consumed]
            consumed += 1 - part.change
        result.append(Unit(part.character, source.start, source.end))
    return result


def _is_space(character: str) -> bool:
    # Python counts four separators of ASCII as whitespace; Unicode's White_Space does not.
    return character.isspace() and not "\x1c" <= character <= "\x1f"


def _strip(units: list[Unit], step: data.Strip) -> list[Unit]:
    first, last = 0, len(units)
    while step.left and first < last and _is_space(units[first].character):
        first += 1
    while step.right and first < last and _is_space(units[last - 1].character):
        last -= 1
    return units[first:last]


def _replace(units: list[Unit], step: data.Replace) -> list[Unit]:
    """Each match's replacement has the origin of the last character of the match."""
    pattern = re.compile(step.pattern if step.regex else re.escape(step.pattern))
    result: list[Unit] = []
    done = 0
    for match in pattern.finditer("".join(unit.character for unit in units)):
        if match.start() == match.end():
            continue
        last = units[match.end() - 1]
        result += units[done : match.start()]
        result += [Unit(character, last.start, last.end) for character in step.content]
        done = match.end()
    return result + units[done:]


_IDEOGRAPHS = (
    (0x4E00, 0x9FFF),
    (0x3400, 0x4DBF),
    (0x20000, 0x2A6DF),
    (0x2A700, 0x2B73F),
    (0x2B740, 0x2B81F),
    (0x2B920, 0x2CEAF),
    (0xF900, 0xFAFF),
    (0x2F800, 0x2FA1F),
)


def _clean(character: str) -> str:
    if character in "\0\ufffd":
        return ""
    if character not in "\t\n\r" and unicodedata.category(character) in {"Cc", "Cf", "Co"}:
        return ""
    return " " if _is_space(character) else character


def _space_ideograph(character: str) -> str:
    is_ideograph = any(first <= ord(character) <= last for first, last in _IDEOGRAPHS)
    return f" {character} " if is_ideograph else character


def _bert(units: list[Unit], step: data.Bert) -> list[Unit]:
    if step.clean_text:
        units = _map(units, _clean)
    if step.handle_chinese_chars:
        units = _map(units, _space_ideograph)
    if step.lowercase if step.strip_accents is None else step.strip_accents:
        units = _form(units, "NFD", "", composes=False)
        units = _map(units, lambda c: "" if unicodedata.category(c) == "Mn" else c)
    return _map(units, str.lower) if step.lowercase else units


def _charsmap(step: data.Charsmap, units: list[Unit]) -> list[Unit]:
    """Replace the longest key at each place; all of the replacement has the key's origin."""
    if step.per_grapheme:
        raise ArgumentError("a charsmap by grapheme has no reference: Python has no graphemes")
    table = _parse_charsmap(step.data)
    text = "".join(unit.character for unit in units)
    result: list[Unit] = []
    place = 0
    while place < len(units):
        kept = max((len(k) for k in step.keep if text.startswith(k, place)), default=0)
        if kept:
            result += units[place : place + kept]
            place += kept
            continue
        found = max((n for n in range(1, 9) if text[place : place + n] in table), default=0)
        if not found or place + found > len(units):
            result.append(units[place])
            place += 1
            continue
        start, end = units[place].start, units[place + found - 1].end
        result += [Unit(c, start, end) for c in table[text[place : place + found]]]
        place += found
    return result


def _parse_charsmap(blob: bytes) -> dict[str, str]:
    """List the keys of a charsmap, each with its replacement, by walking the whole trie."""
    if not blob:
        return {}
    size = int.from_bytes(blob[:4], "little")
    units = memoryview(blob)[4 : 4 + size].cast("I")
    strings = blob[4 + size :]
    table: dict[str, str] = {}

    def offset(unit: int) -> int:
        return (unit >> 10) << ((unit & 0x200) >> 6)

    stack = [(b"", offset(units[0]))]
    while stack:
        key, node = stack.pop()
        for byte in range(1, 256):
            child = node ^ byte
            if child >= len(units) or units[child] & 0x800000FF != byte:
                continue
            below = child ^ offset(units[child])
            if units[child] & 0x100:
                place = units[below] & 0x7FFFFFFF
                value = strings[place : strings.index(b"\0", place)]
                table[(key + bytes([byte])).decode()] = value.decode()
            stack.append((key + bytes([byte]), below))
    return table


def _spaces(step: data.SentencePieceSpaces, units: list[Unit], end: int) -> tuple[list[Unit], int]:
    """Follow sentencepiece's loop, whose chunks are the units that share an origin."""
    mark = "▁" if step.escape_whitespaces else " "
    first, consumed = 0, 0
    while step.remove_extra_whitespaces and first < len(units) and units[first].character == " ":
        shared = first + 1 < len(units) and units[first + 1].start < units[first].end
        if units[first].start != consumed or shared:
            break
        consumed = units[first].end
        first += 1
    if first == len(units) and consumed == end:
        return [], end
    added = Unit(mark, consumed, consumed)
    result = [added] if step.add_dummy_prefix and not step.treat_whitespace_as_suffix else []
    after_space = step.remove_extra_whitespaces
    for unit in units[first:]:
        is_space = unit.character == " "
        if not (is_space and after_space):
            result.append(Unit(mark, unit.start, unit.end) if is_space else unit)
        after_space = is_space and step.remove_extra_whitespaces
    while step.remove_extra_whitespaces and result and result[-1].character == mark:
        end = result.pop().start
    if step.add_dummy_prefix and step.treat_whitespace_as_suffix:
        result.append(Unit(mark, end, end))
    return result, end

"""Parts of a tokenizer, such as the steps of a normalizer, as values that YAML has, and back.

A part is a frozen dataclass. It is written as the name of its class, or as that name with the
fields that are not as they are by default: ``Nfc``, ``Replace: {pattern: ' ', content: '_'}``.
What a field may hold is what its annotation says, so that a new part needs no code here.
"""

import base64
import binascii
from collections.abc import Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from types import NoneType, UnionType
from typing import Any, Final, Literal, Union, get_args, get_origin, get_type_hints

from subword.errors import FormatError, SubwordError
from subword.formats.json_file import checked, refuse_others

__all__ = ["fields_of", "flow", "from_plain", "part_of", "quoted", "to_plain"]

_ESCAPES: Final = {"\n": "\\n", "\r": "\\r", "\t": "\\t", '"': '\\"', "\\": "\\\\"}


def to_plain(value: Any) -> Any:
    """Give a part, or a field of one, as dicts, lists, strings, numbers, booleans and None.

    Bytes become base64.

    Examples:
        >>> from subword.normalizers import Nfc, Replace
        >>> to_plain((Nfc(), Replace("a", "b")))
        ['Nfc', {'Replace': {'pattern': 'a', 'content': 'b'}}]
    """
    if is_dataclass(value):
        found = fields_of(value)
        return {type(value).__name__: found} if found else type(value).__name__
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, frozenset):
        return sorted(value)
    if isinstance(value, tuple | list):
        return [to_plain(item) for item in value]
    return value


def fields_of(part: Any, without: tuple[str, ...] = ()) -> dict[str, Any]:
    """Give the fields of a part that are not as they are by default, in their order."""
    values = {own: getattr(part, own.name) for own in fields(part) if own.name not in without}
    return {
        own.name: to_plain(value)
        for own, value in values.items()
        if own.default is MISSING or value != own.default or type(value) is not type(own.default)
    }


def from_plain(hint: Any, found: Any, place: str) -> Any:
    """Give the value of an annotation that ``to_plain`` wrote.

    Args:
        hint: A type, a part's class or a union of them, ``Literal``, ``tuple`` or ``frozenset``.
        found: What the file has.
        place: Where it stands.

    Raises:
        FormatError: Another value, with the place.
    """
    choices = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
    if found is None and NoneType in choices:
        return None
    choices = tuple(choice for choice in choices if choice is not NoneType)
    if all(map(is_dataclass, choices)):
        return _named_part({kind.__name__: kind for kind in choices}, found, place)
    (kind,) = choices
    return _value(kind, found, place)


def _value(kind: Any, found: Any, place: str) -> Any:
    origin = get_origin(kind)
    if origin is Literal:
        if found not in get_args(kind):
            expected = ", ".join(map(str, get_args(kind)))
            raise FormatError(f"{place} is {found!r:.40}; expected one of {expected}")
        return found
    if origin in (tuple, frozenset):
        inner = get_args(kind)[0]
        items = checked(found, list, place)
        return origin(from_plain(inner, item, f"{place}[{at}]") for at, item in enumerate(items))
    if kind is bytes:
        try:
            return base64.b64decode(checked(found, str, place), validate=True)
        except (binascii.Error, ValueError) as error:
            raise FormatError(f"{place}: expected base64, got {found!r:.40}") from error
    return checked(found, kind, place)


def _named_part(kinds: Mapping[str, type], found: Any, place: str) -> Any:
    if type(found) is str:
        found = {found: {}}
    name, given = next(iter(checked(found, dict, place).items()), ("", None))
    if len(found) != 1 or name not in kinds:
        raise FormatError(f"{place} is {name!r:.40}; expected one of {', '.join(kinds)}")
    return part_of(kinds[name], given, f"{place}.{name}")


def part_of(kind: type, found: Any, place: str, /, **more: Any) -> Any:
    """Make a part of its fields.

    Args:
        kind: Its class.
        found: The fields that a file has.
        place: Where they stand.
        more: Fields that stand elsewhere in the file.

    Raises:
        FormatError: A field that is unknown, missing or of another type.
        SubwordError: What the part itself refuses.
    """
    given = checked(found, dict, place)
    own: dict[str, Field[Any]] = {field.name: field for field in fields(kind)}
    refuse_others(given, set(own) - set(more), place)
    hints = get_type_hints(kind)
    values = {
        name: from_plain(hints[name], value, f"{place}.{name}") for name, value in given.items()
    }
    absent = [
        name
        for name, field in own.items()
        if field.default is MISSING and name not in values and name not in more
    ]
    if absent:
        raise FormatError(f"{place}: the field {absent[0]} is missing")
    try:
        return kind(**values, **more)
    except SubwordError as error:
        raise FormatError(f"{place}: {error}") from error


def flow(value: Any) -> str:
    """Write a value on one line.

    Examples:
        >>> print(flow({"a": [1, None, True, "it's"]}))
        {a: [1, null, true, 'it''s']}
    """
    match value:
        case dict():
            return "{" + ", ".join(f"{name}: {flow(item)}" for name, item in value.items()) + "}"
        case list():
            return "[" + ", ".join(map(flow, value)) + "]"
        case str():
            return quoted(value)
        case None:
            return "null"
        case bool():
            return str(value).lower()
    return str(value)


def quoted(text: str) -> str:
    r"""Write a string as YAML has it: quoted once, or twice where characters do not print.

    Examples:
        >>> print(quoted("it's"), quoted("a\n\u200b"))
        'it''s' "a\n\u200b"
    """
    if text.isprintable():
        return "'" + text.replace("'", "''") + "'"
    return '"' + "".join(map(_escaped, text)) + '"'


def _escaped(character: str) -> str:
    if character in _ESCAPES or character.isprintable():
        return _ESCAPES.get(character, character)
    point = ord(character)
    return (
        f"\\x{point:02x}"
        if point < 0x80
        else f"\\u{point:04x}"
        if point < 0x10000
        else f"\\U{point:08x}"
    )

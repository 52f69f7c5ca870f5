"""Read JSON that strangers wrote, and name the place of what is wrong in it."""

import json
from collections.abc import Iterator, Mapping
from os import PathLike
from pathlib import Path
from typing import Any, BinaryIO, NoReturn, TypeVar

from subword.errors import (
    FormatError,
    SourceError,
    SourceIsDirectoryError,
    SourceNotFoundError,
)

__all__ = [
    "Place",
    "checked",
    "decode_text",
    "flag",
    "open_file",
    "parse_json",
    "read_bytes",
    "read_chat",
    "read_json",
    "read_sequence",
    "refuse_others",
]

Place = str
"""Where a value stands, for messages: a path, then the keys down to it."""

T = TypeVar("T")

_NAMES = {
    bool: "true or false",
    dict: "an object",
    float: "a number",
    int: "an integer",
    list: "a list",
    str: "a string",
    type(None): "null",
}


def open_file(path: str | PathLike[str]) -> BinaryIO:
    """Open a file for reading bytes.

    Raises:
        SourceNotFoundError: Nothing is at the path.
        SourceIsDirectoryError: The path is a directory.
        SourceError: The file cannot be read.
    """
    try:
        return Path(path).open("rb")
    except FileNotFoundError as error:
        raise SourceNotFoundError(error.errno, "no file is at this path", str(path)) from error
    except IsADirectoryError as error:
        raise SourceIsDirectoryError(
            error.errno, "this is a directory; give the path of a file", str(path)
        ) from error
    except ValueError as error:  # a NUL in the path
        raise SourceNotFoundError(f"{str(path)!r:.80} cannot be a path: {error}") from error
    except OSError as error:
        raise SourceError(error.errno, error.strerror, str(path)) from error


def read_bytes(path: str | PathLike[str]) -> bytes:
    """Read a whole file. Raises as ``open_file``."""
    with open_file(path) as file:
        try:
            return file.read()
        except OSError as error:
            raise SourceError(error.errno, error.strerror, str(path)) from error


def decode_text(data: bytes, path: str | PathLike[str]) -> str:
    """Decode UTF-8.

    Raises:
        FormatError: The bytes are not UTF-8; the message gives the line and the offset.
    """
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise FormatError(
            f"{path}:{line}: byte {error.start} ({data[error.start]:#04x}) is not UTF-8; "
            "expected a text file"
        ) from error


def read_json(path: str | PathLike[str]) -> Any:
    """Read a JSON file; see ``parse_json``.

    Raises:
        FormatError: As ``parse_json``.
        SourceError: The file cannot be read.
    """
    return parse_json(read_bytes(path), path)


def parse_json(data: bytes, path: str | PathLike[str]) -> Any:
    """Parse JSON strictly: UTF-8, no key twice, no NaN, nesting of at most some hundreds.

    Raises:
        FormatError: Something else, with its line and column where it has one.
    """

    def without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) != len(pairs):
            seen: set[str] = set()
            twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
            raise FormatError(f"{path}: the key {twice!r:.60} stands twice in one object")
        return found

    def refuse_constant(name: str) -> NoReturn:
        raise FormatError(f"{path}: {name} is not JSON; expected a finite number")

    text = decode_text(data, path)
    try:
        return json.loads(
            text, object_pairs_hook=without_duplicates, parse_constant=refuse_constant
        )
    except json.JSONDecodeError as error:
        raise FormatError(
            f"{path}:{error.lineno}:{error.colno}: not JSON: {error.msg}; the file may be cut short"
        ) from error
    except RecursionError as error:
        raise FormatError(f"{path}: lists or objects nested too deep to be a tokenizer") from error
    except FormatError:
        raise
    except ValueError as error:  # an integer of thousands of digits
        raise FormatError(f"{path}: {error}") from error


def checked(value: object, kind: type[T], place: Place) -> T:
    """Give a parsed value if it has the type expected; ``True`` is no integer.

    Raises:
        FormatError: It has another type.
    """
    if type(value) is not kind:
        raise FormatError(f"{place}: expected {_NAMES.get(kind, kind.__name__)}, got {value!r:.40}")
    return value  # type: ignore[no-any-return,unused-ignore]


def read_chat(found: Any, place: Place) -> str | dict[str, str]:
    """Give a chat template, or several by name.

    Raises:
        FormatError: Something else.
    """
    if type(found) is str:
        return found
    named = checked(found, dict, place)
    return {
        checked(name, str, place): checked(text, str, f"{place}.{name}")
        for name, text in named.items()
    }


def refuse_others(found: Mapping[str, object], known: set[str], place: Place) -> None:
    """Refuse fields that a reader does not know: ignoring one could change ids.

    Raises:
        FormatError: Names the first unknown field.
    """
    unknown = [key for key in found if key not in known]
    if unknown:
        raise FormatError(
            f"{place}: unknown field {unknown[0]!r:.60}; expected only {', '.join(sorted(known))}"
        )


def flag(
    fields: Mapping[str, object], name: str, place: Place, default: bool | None = None
) -> bool:
    """Give a field that is true or false; the default where it is absent.

    Raises:
        FormatError: It is something else, or absent without a default.
    """
    if default is not None and name not in fields:
        return default
    return checked(fields.get(name), bool, f"{place}.{name}")


def read_sequence(found: Any, inner: str, place: Place) -> Iterator[tuple[dict[str, Any], Place]]:
    """Give the steps of an HF part, those of its ``Sequence`` in their place, with their places.

    Args:
        found: The part; None for one without steps.
        inner: The field of a ``Sequence`` that lists its steps.
        place: Where the part stands.

    Raises:
        FormatError: A part that is no object, or a damaged ``Sequence``.
    """
    if found is None:
        return
    fields = checked(found, dict, place)
    if fields.get("type") != "Sequence":
        yield fields, place
        return
    refuse_others(fields, {"type", inner}, place)
    for at, part in enumerate(checked(fields.get(inner), list, f"{place}.{inner}")):
        yield from read_sequence(
            checked(part, dict, f"{place}.{inner}[{at}]"), inner, f"{place}.{inner}[{at}]"
        )

"""Symbols as people read them, and records as JSON has them."""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from fractions import Fraction
from typing import Any

__all__ = ["Symbol", "as_dict", "readable"]

Symbol = str | bytes
"""A token on its way: ``bytes`` where the model's units are bytes, ``str`` where characters."""


def readable(symbol: Symbol) -> str:
    r"""Write a symbol so that it can be read: a space as ␠, what cannot be printed escaped.

    Bytes are read as UTF-8; those that are none are written as ``\xNN``.

    Examples:
        >>> print(readable(" the"), readable("喜\n"), readable(b"\xe5\x96\x9c"), readable(b"\xe5"))
        ␠the 喜\n 喜 \xe5
    """
    text = symbol if isinstance(symbol, str) else symbol.decode("utf-8", "backslashreplace")
    return "".join(
        "␠" if char == " " else char if char.isprintable() else repr(char)[1:-1] for char in text
    )


def as_dict(record: object) -> Any:
    r"""Give a record as what JSON has: dicts, lists, strings, numbers.

    A fraction is a string such as ``"1/20"``. Bytes are a string in UTF-8 where each byte that
    is none is written ``\xNN`` and each backslash is doubled, so that no two are the same.

    Args:
        record: A trace, a part of it, or a tuple, list or dict of those.

    Examples:
        >>> as_dict((Fraction(1, 20), b"\xe5a", rb"\n"))
        ['1/20', '\\xe5a', '\\\\n']
    """
    if is_dataclass(record) and not isinstance(record, type):
        return {field.name: as_dict(getattr(record, field.name)) for field in fields(record)}
    if isinstance(record, Mapping):
        return {str(key): as_dict(value) for key, value in record.items()}
    if isinstance(record, tuple | list):
        return [as_dict(item) for item in record]
    if isinstance(record, Fraction):
        return str(record)
    if isinstance(record, bytes):
        return record.replace(b"\\", b"\\\\").decode("utf-8", "backslashreplace")
    return record

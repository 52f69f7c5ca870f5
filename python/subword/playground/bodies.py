"""What a request may send: sizes, kinds and ranges, and what is said to one that is wrong."""

import json
from collections.abc import Sequence
from typing import Any, Final

from starlette.exceptions import HTTPException
from starlette.requests import Request

from subword.surrogates import replace_surrogates

__all__ = [
    "MAX_BODY_BYTES",
    "MAX_TEXT_BYTES",
    "choice_of",
    "integer_of",
    "integers_of",
    "read_json",
    "text_of",
    "texts_of",
]

MAX_BODY_BYTES: Final = 16 << 20
"""Bytes of a request; a text of controls takes six bytes of JSON for one of its own."""

MAX_TEXT_BYTES: Final = 2 << 20
"""Bytes of a text as UTF-8."""

_MALFORMED: Final = 400
_TOO_LARGE: Final = 413


async def read_json(request: Request) -> dict[str, Any]:
    """Read a request's JSON object, and stop as soon as it is too large.

    Raises:
        HTTPException: 415 for another type than JSON, 413 past ``MAX_BODY_BYTES``, 400 for what
            is no JSON object.
    """
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise HTTPException(415, f"the body is {kind or 'of no type'!r:.60}; send application/json")
    declared = request.headers.get("content-length", "")
    if declared.isdigit() and int(declared[:20]) > MAX_BODY_BYTES:
        raise _too_large("the request", int(declared[:20]), MAX_BODY_BYTES)
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > MAX_BODY_BYTES:
            raise _too_large("the request", len(body), MAX_BODY_BYTES)
    try:
        value = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise HTTPException(_MALFORMED, f"the body is no JSON: {error!s:.200}") from error
    if not isinstance(value, dict):
        raise HTTPException(_MALFORMED, "the body is JSON, but no object")
    return value


def text_of(body: dict[str, Any], name: str, limit: int = MAX_TEXT_BYTES) -> str:
    """Give a text; a lone surrogate, which JSON can spell, becomes U+FFFD.

    Raises:
        HTTPException: 400 for what is no string, 413 past ``limit`` bytes.
    """
    return _text(body.get(name), name, limit)


def texts_of(body: dict[str, Any], name: str, most: int) -> list[str]:
    """Give a list of texts, whose bytes together are limited as those of one text.

    Raises:
        HTTPException: As ``text_of``, and 413 for more than ``most`` of them.
    """
    texts = [_text(text, name, MAX_TEXT_BYTES) for text in _list(body, name, most)]
    _check_size(name, sum(len(text.encode()) for text in texts), MAX_TEXT_BYTES)
    return texts


def integer_of(body: dict[str, Any], name: str, low: int, high: int, default: int) -> int:
    """Give a number from ``low`` to ``high``.

    Raises:
        HTTPException: 400 for anything else.
    """
    return _integer(body.get(name, default), name, low, high)


def integers_of(body: dict[str, Any], name: str, low: int, high: int, most: int) -> list[int]:
    """Give a list of numbers, each from ``low`` to ``high``.

    Raises:
        HTTPException: 400 for anything else, 413 for more than ``most`` of them.
    """
    return [_integer(value, name, low, high) for value in _list(body, name, most)]


def choice_of(body: dict[str, Any], name: str, allowed: Sequence[str]) -> str:
    """Give one of the strings allowed; the first where nothing is said.

    Raises:
        HTTPException: 400 for anything else.
    """
    value = body.get(name, allowed[0])
    if not isinstance(value, str) or value not in allowed:
        raise HTTPException(
            _MALFORMED, f"{name} is {value!r:.40}; expected one of {', '.join(allowed)}"
        )
    return value


def _text(value: object, name: str, limit: int) -> str:
    if not isinstance(value, str):
        raise HTTPException(_MALFORMED, f"{name} is {type(value).__name__}; expected a string")
    text = str(replace_surrogates(value))
    _check_size(name, len(text.encode()), limit)
    return text


def _integer(value: object, name: str, low: int, high: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        # A number of many digits cannot even be written out.
        got = value if isinstance(value, float | str) else type(value).__name__
        if isinstance(value, int) and value.bit_length() < 200:
            got = value
        raise HTTPException(
            _MALFORMED, f"{name} is {got!r:.60}; expected a number from {low} to {high}"
        )
    return value


def _list(body: dict[str, Any], name: str, most: int) -> list[object]:
    values = body.get(name)
    if not isinstance(values, list):
        raise HTTPException(_MALFORMED, f"{name} is {type(values).__name__}; expected a list")
    if len(values) > most:
        raise HTTPException(
            _TOO_LARGE, f"{name} has {len(values)} entries; at most {most} are taken"
        )
    return values


def _check_size(name: str, n_bytes: int, limit: int) -> None:
    if n_bytes > limit:
        raise _too_large(name, n_bytes, limit)


def _too_large(what: str, n_bytes: int, limit: int) -> HTTPException:
    return HTTPException(_TOO_LARGE, f"{what} has {n_bytes} bytes; at most {limit} are taken")

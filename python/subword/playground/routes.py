"""What can be asked: each name, and the function from a request's fields to its answer."""

from collections.abc import Callable, Sequence
from typing import Any, Final, Literal, cast

from starlette.exceptions import HTTPException

from subword.playground import answers, lessons
from subword.playground.bodies import (
    choice_of,
    integer_of,
    integers_of,
    text_of,
    texts_of,
)
from subword.playground.catalog import Entry, token_facts

__all__ = ["ANSWERS", "Answer"]

Fields = dict[str, Any]
Answer = Callable[[Sequence[Entry], Fields], Fields]

MAX_COMPARED: Final = 4
MAX_HEX_BYTES: Final = 4_096
MAX_IDS: Final = 1_000_000
MAX_LINES: Final = 2_000
_GREATEST_ID: Final = 2**32 - 1


def _encode(entries: Sequence[Entry], body: Fields) -> Fields:
    special = choice_of(body, "special", ("recognize", "as_text"))
    mode = cast(Literal["recognize", "as_text"], special)
    return answers.encoded(_entry(entries, body), text_of(body, "text"), mode)


def _decode(entries: Sequence[Entry], body: Fields) -> Fields:
    ids = integers_of(body, "ids", 0, _GREATEST_ID, MAX_IDS)
    return answers.decoded(_entry(entries, body), ids)


def _token(entries: Sequence[Entry], body: Fields) -> Fields:
    return token_facts(_entry(entries, body), integer_of(body, "id", 0, _GREATEST_ID, -1))


def _lines(entries: Sequence[Entry], body: Fields) -> Fields:
    chosen = integers_of(body, "tokenizers", 0, len(entries) - 1, MAX_COMPARED)
    return answers.count_lines([entries[at] for at in chosen], texts_of(body, "lines", MAX_LINES))


def _learn(_: Sequence[Entry], body: Fields) -> Fields:
    return lessons.training(body)


def _learn_encode(entries: Sequence[Entry], body: Fields) -> Fields:
    entry = None if body.get("tokenizer") is None else _entry(entries, body)
    return lessons.encoding(entry, body)


def _unicode(_: Sequence[Entry], body: Fields) -> Fields:
    if "hex" in body:
        return answers.bytes_checked(_from_hex(text_of(body, "hex", 8 * MAX_HEX_BYTES)))
    return answers.characters(text_of(body, "text"))


ANSWERS: Final[dict[str, Answer]] = {
    "encode": _encode,
    "decode": _decode,
    "token": _token,
    "lines": _lines,
    "learn": _learn,
    "learn/encode": _learn_encode,
    "unicode": _unicode,
}


def _entry(entries: Sequence[Entry], body: Fields) -> Entry:
    return entries[integer_of(body, "tokenizer", 0, len(entries) - 1, 0)]


def _from_hex(text: str) -> bytes:
    digits = "".join(text.replace("0x", " ").replace("\\x", " ").replace(",", " ").split())
    try:
        data = bytes.fromhex(digits)
    except ValueError as error:
        raise HTTPException(
            400, "the bytes are not hexadecimal; expected pairs of digits such as e5 96 9c"
        ) from error
    if len(data) > MAX_HEX_BYTES:
        raise HTTPException(413, f"{len(data)} bytes; at most {MAX_HEX_BYTES} are taken")
    return data

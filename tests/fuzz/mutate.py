"""Mutations of bytes: some blind, some that keep JSON well-formed, or lengths plausible."""

import json
import random
from collections.abc import Callable, Sequence
from typing import Any

__all__ = ["mutated"]

MAX_BYTES = 1 << 16
NUMBERS = (
    0,
    1,
    -1,
    127,
    128,
    255,
    256,
    65535,
    2**31 - 1,
    2**31,
    2**32 - 2,
    2**32 - 1,
    2**63,
    2**64,
)
SCALARS: tuple[Any, ...] = (
    *NUMBERS,
    *("", " ", "a", "\x00", "é", "\ud800", "▁", "##a", "<0x41>", "<0xFF>", "[", "(a+)+$", "\\p{L}"),
    *("(?:a|b|ab)*c", "(?=a)*", "a{1000}{1000}", "x" * 300),
    *(None, True, False, 0.5, -1e308, 1e-320, [], {}, [[]], {"": 0}),
)
WORDS = (
    *(
        b"\x00",
        b"\xff",
        b"\n",
        b"\r\n",
        b" ",
        b"'",
        b'"',
        b"\\",
        b"{",
        b"}",
        b"[",
        b"]",
        b":",
        b",",
    ),
    *(b"\xef\xbb\xbf", b"\xc0\x80", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"-1", b"1e999", b"NaN"),
    *(b"- ", b"? ", b"&a ", b"*a", b"!!binary ", b"|2+\n", b"---\n", b"{{", b"{%", b"</w>", b"\t"),
)


def mutated(data: bytes, others: Sequence[bytes], rng: random.Random) -> bytes:
    """Give a mutation of some content.

    Args:
        data: The content.
        others: Further contents of its kind, to take parts from.
        rng: Where chance comes from.
    """
    if data[:1] in (b"{", b"[") and rng.random() < 0.6:
        data = _json(data, rng)
    for _ in range(rng.choice((0, 1, 1, 2, 4, 16))):
        data = rng.choice(_BLIND)(data, others, rng)
    return data[:MAX_BYTES]


def _flip(data: bytes, others: Sequence[bytes], rng: random.Random) -> bytes:
    if not data:
        return data
    at = rng.randrange(len(data))
    return data[:at] + bytes([data[at] ^ (1 << rng.randrange(8))]) + data[at + 1 :]


def _cut(data: bytes, others: Sequence[bytes], rng: random.Random) -> bytes:
    return data[: rng.randint(0, len(data))]


def _remove(data: bytes, others: Sequence[bytes], rng: random.Random) -> bytes:
    start, end = _span(data, rng)
    return data[:start] + data[end:]


def _repeat(data: bytes, others: Sequence[bytes], rng: random.Random) -> bytes:
    start, end = _span(data, rng)
    return data[:end] + data[start:end] * rng.choice((1, 2, 50)) + data[end:]


def _insert(data: bytes, others: Sequence[bytes], rng: random.Random) -> bytes:
    at = rng.randint(0, len(data))
    return data[:at] + rng.choice(WORDS) + data[at:]


def _number(data: bytes, others: Sequence[bytes], rng: random.Random) -> bytes:
    """Put a number where a length may be: of fixed width, or as protobuf's."""
    value = rng.choice(NUMBERS) % 2**64
    width = rng.choice((1, 2, 4, 8))
    written = (value % 256**width).to_bytes(width, "little")
    if rng.random() < 0.3:
        written = _varint(value)
    at = rng.randint(0, max(0, len(data) - len(written)))
    return data[:at] + written + data[at + len(written) :]


def _splice(data: bytes, others: Sequence[bytes], rng: random.Random) -> bytes:
    other = rng.choice(others) if others else data
    start, end = _span(other, rng)
    at = rng.randint(0, len(data))
    return data[:at] + other[start:end] + data[at:]


def _swap_lines(data: bytes, others: Sequence[bytes], rng: random.Random) -> bytes:
    lines = data.split(b"\n")
    a, b = rng.randrange(len(lines)), rng.randrange(len(lines))
    lines[a], lines[b] = lines[b], lines[a]
    return b"\n".join(lines)


_BLIND: tuple[Callable[[bytes, Sequence[bytes], random.Random], bytes], ...] = (
    *(_flip, _cut, _remove, _repeat, _insert, _number, _splice, _swap_lines),
)


def _span(data: bytes, rng: random.Random) -> tuple[int, int]:
    start = rng.randint(0, len(data))
    return start, min(len(data), start + rng.choice((1, 2, 8, 64, 512)))


def _varint(value: int) -> bytes:
    written = bytearray()
    while value >= 128:
        written.append(value % 128 | 128)
        value //= 128
    return bytes([*written, value])


def _json(data: bytes, rng: random.Random) -> bytes:
    """Change values of a JSON document, which stays one."""
    try:
        root = json.loads(data)
    except ValueError:
        return data
    for _ in range(rng.choice((1, 1, 2, 3))):
        root = _changed(root, rng)
    return json.dumps(root, ensure_ascii=rng.random() < 0.5).encode("utf-8", "surrogatepass")


def _changed(value: Any, rng: random.Random) -> Any:
    if isinstance(value, dict) and value and rng.random() < 0.9:
        key = rng.choice(list(value))
        match rng.randrange(8):
            case 0:
                return {name: item for name, item in value.items() if name != key}
            case 1:
                return {**value, str(rng.choice(SCALARS)): rng.choice(list(value.values()))}
            case _:
                return {**value, key: _changed(value[key], rng)}
    if isinstance(value, list) and value and rng.random() < 0.9:
        at = rng.randrange(len(value))
        match rng.randrange(8):
            case 0:
                return value[:at] + value[at + 1 :]
            case 1:
                return [*value, rng.choice(value)]
            case _:
                return [*value[:at], _changed(value[at], rng), *value[at + 1 :]]
    return rng.choice(SCALARS)

"""Texts that are hard on tokenizers, made up: each has no place to cut, or nothing that repeats.

Each is asked for by name and size, as a corpus is: ``letters-1`` is 1 MB of one letter.
"""

import base64
import random
import string
from collections.abc import Callable, Iterator

__all__ = ["WORST_CASES", "worst_case"]

SEED = 20_241


def repeated(unit: str) -> Callable[[random.Random], Iterator[str]]:
    """Make the same text again and again."""

    def parts(_: random.Random) -> Iterator[str]:
        while True:
            yield unit * 1000

    return parts


def han(generator: random.Random) -> Iterator[str]:
    """Chinese characters without a space or a punctuation mark, at random."""
    while True:
        yield "".join(chr(generator.randrange(0x4E00, 0x9FA6)) for _ in range(1000))


def base64_text(generator: random.Random) -> Iterator[str]:
    """Base64 of random bytes, in one line."""
    while True:
        yield base64.b64encode(generator.randbytes(3000)).decode()


def unique_words(generator: random.Random) -> Iterator[str]:
    """Words of 4 to 12 small letters, hardly one of them twice: each misses every memo."""
    while True:
        length = generator.randint(4, 12)
        yield "".join(generator.choices(string.ascii_lowercase, k=length)) + " "


WORST_CASES: dict[str, Callable[[random.Random], Iterator[str]]] = {
    "letters": repeated("a"),
    "spaces": repeated(" "),
    "newlines": repeated("\n"),
    "han": han,
    "base64": base64_text,
    "emoji": repeated("🙂"),
    "marks": repeated("\u0301"),
    "alternating": repeated("a1"),
    "words": unique_words,
}


def worst_case(name: str, n_bytes: int) -> str:
    """Make a text of a size in UTF-8 bytes; the last character is dropped where it does not fit.

    Args:
        name: One of ``WORST_CASES``.
        n_bytes: Its size.
    """
    made: list[str] = []
    size = 0
    for part in WORST_CASES[name](random.Random(SEED)):
        made.append(part)
        size += len(part.encode())
        if size >= n_bytes:
            break
    return "".join(made).encode()[:n_bytes].decode(errors="ignore")

"""Kernels on chance inputs, held to what they have to equal: the engine, the twin, the text."""

import random
from collections.abc import Callable, Mapping
from functools import cache

from samples import NAMES, SPECIALS, trained
from subword import _core
from subword.patterns import NAMED_PATTERNS
from subword.reference import bpe as twin
from training_samples import TIES, by_kernel

__all__ = ["KERNELS"]

PARTS = (
    *("the", " cat", "  ", "\n", "\r\n", "\t", "'s", "'LL", "ſ", "12", "1234", "²", "中", "にカ"),
    *(
        "é",
        "e\u0301",
        "\u0301",
        "🙂",
        "👨‍👩‍👧",
        "\u00a0",
        "\u3000",
        "\u200b",
        "A",
        "Ǆ",
        "ǅ",
        "_",
        "!",
        "/",
    ),
)
DAMAGE = (b"\xff", b"\xc3", b"\xed\xa0\x80", b"\xf0\x9f", b"\x80", b"\x00")


def text(rng: random.Random, n_parts: int) -> bytes:
    """Give parts that patterns treat in their own ways, chance characters and damaged UTF-8."""
    parts = []
    for _ in range(rng.randint(0, n_parts)):
        match rng.randrange(12):
            case 0:
                parts.append(rng.choice(DAMAGE))
            case 1:
                code_point = rng.choice((rng.randrange(0xD800), rng.randrange(0xE000, 0x110000)))
                parts.append(chr(code_point).encode())
            case 2:
                parts.append(rng.choice(SPECIALS).encode())
            case 3:
                parts.append(rng.choice(PARTS).encode() * rng.choice((2, 3, 64, 130)))
            case _:
                parts.append(rng.choice(PARTS).encode())
    return b"".join(parts)


def splitters(rng: random.Random) -> None:
    """The class masks cut as the regular expression engine does."""
    data, name = text(rng, 40), rng.choice(NAMES)
    pattern = list(NAMED_PATTERNS[name])
    assert _core.split(data, pattern) == _core.split(data, pattern, engine=True), (name, data)


def encoding(rng: random.Random) -> None:
    """Ids give the text back, in one piece, in parts and without the memo."""
    data, name = text(rng, 60), rng.choice(NAMES)
    tok = _tokenizer(name)
    ids = tok.encode(data)
    assert tok.decode_bytes(ids) == data, (name, data)
    cuts = sorted(rng.randint(0, len(data)) for _ in range(rng.randint(0, 5)))
    parts = [data[a:b] for a, b in zip([0, *cuts], [*cuts, len(data)], strict=True)]
    assert list(tok.encode_iterable(parts)) == ids, (name, parts)
    assert _tokenizer(name, memo_bytes=0).encode(data) == ids, (name, data)
    spans = tok.encode_spans(data)
    assert spans.ids == ids, (name, data)
    assert b"".join(data[start:end] for start, end in spans.byte_spans) == data, (name, data)


def training(rng: random.Random) -> None:
    """The kernel learns the merges of the twin, under every rule for ties."""
    alphabet = rng.choice([b"ab", b"abc", b"a", b" !a\xe9", b"aaab", bytes(range(256))])
    counts: dict[bytes, tuple[int, int]] = {}
    position = 0
    for _ in range(rng.randint(0, 14)):
        pretoken = bytes(rng.choices(alphabet, k=rng.randint(1, 14)))
        if pretoken not in counts:
            counts[pretoken] = (rng.randint(1, rng.choice([1, 2, 3, 2**40])), position)
            position += len(pretoken) + rng.choice([0, 0, 7])
    rule, n_merges = rng.choice(TIES), rng.randint(0, 40)
    expected = twin.learn_merges(counts, n_merges, ties=rule)
    assert by_kernel(counts, n_merges, ties=rule) == expected, (rule, n_merges, counts)


@cache
def _tokenizer(name: str, memo_bytes: int = 1 << 20):
    return trained(name).replace(memo_bytes=memo_bytes)


KERNELS: Mapping[str, Callable[[random.Random], None]] = {
    "splitters": splitters,
    "encoding": encoding,
    "training": training,
}
"""What takes a source of chance, and fails by ``AssertionError``."""

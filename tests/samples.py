"""Texts, special tokens and a tokenizer that cut badly: for every test of the tokenizer."""

import random
from functools import cache

from hypothesis import strategies as st

from subword.patterns import NAMED_PATTERNS
from subword.tokenizer import Tokenizer
from subword.training.bpe import train_bpe

NAMES = sorted(NAMED_PATTERNS)
BYTES = {byte: bytes([byte]) for byte in range(256)}
# Overlapping: each begins or ends another; one has a space, one is longer than any look-ahead.
SPECIALS = [
    "<s>",
    "<s",
    "s><",
    "><s>x",
    "<|a long special token|>",
    "<|a long special token|> b",
    "\n\n",
    "é中",
]
CORPUS = [
    "the cat in the hat sat on the mat, and that's that; we'll see 12345 of them!\n",
    "中文分词 日本語 🙂🙂 naïve café   spaces\t\ttabs\n\nlines\r\n",
    "CamelCase ALLCAPS中中AAAA don't DON'T x's <s> <|a long",
]


@cache
def trained(name: str = "gpt2", specials: bool = True) -> Tokenizer:
    # With one pre-token a document merges cross everything that a wrong cut could cut.
    tok = train_bpe(CORPUS * 2, 256 + 8 + 150, SPECIALS, pattern="none")
    tok = tok.replace(pattern=name)
    return tok if specials else tok.replace(special_tokens={})


pieces = st.one_of(
    st.sampled_from([*SPECIALS, *CORPUS, " ", "  ", "\n", "\r\n", "\u3000", "\x85", "'s", "'ll", "1", "中", "🙂"]),
    st.sampled_from(["<", "<|a lo", ">", "s>", "\n", "A", "a", "é", "!", "/", "\u0301"]),
    st.tuples(st.sampled_from(" \nAa1!'中\u3000\u0301"), st.integers(1, 60)).map(lambda r: r[0] * r[1]),
    st.text(max_size=4),
)  # fmt: skip
texts = st.lists(pieces, max_size=10).map("".join)


@cache
def huge_text() -> str:
    chooser = random.Random(11)
    words = [
        *" ".join(CORPUS).split(" "),
        "\u3000",
        "  ",
        "\n",
        " " * 30,
        "A" * 30,
        "中" * 9,
        *SPECIALS[:5],
    ]
    return " ".join(chooser.choice(words) for _ in range(260_000))


def charsmap(table: dict[bytes, str]) -> bytes:
    """A charsmap of single-byte keys: root at 0, children at 256 ^ byte."""
    units = [0] * 1024
    units[0] = 256 << 10
    strings = b""
    for place, (key, value) in enumerate(sorted(table.items())):
        leaf = 512 + 2 * place
        child = 256 ^ key[0]
        units[child] = key[0] | 0x100 | ((child ^ leaf) << 10)
        units[leaf] = 0x80000000 | len(strings)
        strings += value.encode() + b"\0"
    blob = b"".join(unit.to_bytes(4, "little") for unit in units)
    return len(blob).to_bytes(4, "little") + blob + strings

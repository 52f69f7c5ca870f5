"""Texts cut before they are normalized: the ids are those of the text normalized as a whole.

``encode_spans`` normalizes whole texts and remembers nothing, so it says what is right.
"""

import random
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from samples import BYTES, charsmap
from subword import normalizers, pretokens
from subword.models import Bpe, WordPiece
from subword.normalizers import Charsmap, Replace
from subword.pretokens import ByteLevel, Metaspace, Whitespace, WhitespaceSplit
from subword.special_tokens import TokenFlags
from subword.tokenizer import Tokenizer

MARK = "\u2581"
WORDS = [
    *["the", "The", "THE", "cat", "cat,", "'s", "naïve", "\u0130", "\u03a3\u03c2", "e\u0301"],
    *[
        "中",
        "文",
        "字",
        "\u9fa6",
        "\u3400",
        "か",
        "カナ",
        "한국",
        "\u1100\u1161",
        "слово",
        "क\u093f",
    ],
    *[".", ",", "=\u0338", "$5", "#", "##", "[UNK]", "\u2026", "\u00b4", "\u30fb", "\U0001f642"],
    *["\x00", "\x0b", "\u200d", "\ufffd", "\u0301", "\u0600", "\u0d4e", "\u00ad", MARK, "\u3164"],
    *["x" * 130, "é" * 70, "<|a|>"],
]
SPACES = [" ", " ", " ", "", "  ", "\n", "\r\n", "\r", "\t", "\u00a0", "\u3000", " \u0301"]
RUNS = Replace(" {2,}", " ", regex=True)
MAPPED = Charsmap(
    charsmap({b"\n": " ", b"\t": " ", b"\r": " ", b"\0": "", b"c": "k  ", b"5": "5\u00b4"}),
    per_grapheme=True,
)
USUAL = Charsmap(charsmap({b"\n": " ", b"\t": " ", b"\0": "", b"T": "t"}), per_grapheme=True)
SPACELESS = Charsmap(charsmap({b" ": "", b"\n": "-"}), per_grapheme=True)
KEEPING = Charsmap(
    charsmap({b"c": "k", b"t": "d"}), per_grapheme=True, keep=("cat the", "t\nt", "the cat")
)
# Each way of cutting, and its neighbours that must not be cut so.
KINDS = {
    "bert": ([normalizers.Bert()], [pretokens.Bert()]),
    "bert, accents kept": ([normalizers.Bert(strip_accents=False)], [pretokens.Bert()]),
    "bert, nothing spaced": (
        [normalizers.Bert(handle_chinese_chars=False, clean_text=False)],
        [pretokens.Bert()],
    ),
    "bert, composed": ([normalizers.Nfc(), normalizers.Lowercase()], [pretokens.Bert()]),
    "bert, not normalized": ([], [pretokens.Bert()]),
    "words": ([normalizers.Nfkc(), normalizers.Lowercase()], [Whitespace()]),
    "spaced": ([USUAL, RUNS], [WhitespaceSplit(), Metaspace()]),
    "spaced, mapped": ([MAPPED], [WhitespaceSplit(), Metaspace()]),
    "spaced, spaces lost": ([SPACELESS], [WhitespaceSplit()]),
    "spaced, bytes": ([normalizers.Nfkd()], [WhitespaceSplit(), ByteLevel(add_prefix_space=True)]),
    "marked": ([USUAL, RUNS], [Metaspace()]),
    "marked, mapped": ([MAPPED, RUNS], [Metaspace()]),
    "marked, strings kept": ([KEEPING, RUNS], [Metaspace()]),
    "spaced, strings kept": ([KEEPING], [WhitespaceSplit()]),
    "marked, runs kept": ([normalizers.Nfkc()], [Metaspace()]),
    "marked, spaces lost": ([SPACELESS], [Metaspace()]),
    "marked by spaces": ([], [Metaspace(" ")]),
    "marked at the start": ([], [Metaspace(prepend_scheme="first")]),
    "marked whole": ([RUNS], [Metaspace(split=False)]),
}


def tokenizer(kind: str, memo_bytes: int = 1 << 20) -> Tokenizer:
    """Every character in two forms, at the start of a piece and behind it, and some words."""
    alphabet = {c for text in [*WORDS, *SPACES, *map(chr, range(256))] for c in text}
    alphabet |= {c for text in alphabet for c in unicodedata.normalize("NFKD", text).lower()}
    tokens = ["[UNK]", "<|a|>", *sorted(alphabet), *(f"##{c}" for c in sorted(alphabet))]
    tokens += ["the", f"{MARK}the", "##at", f"{MARK}cat"]
    steps, cuts = KINDS[kind]
    return Tokenizer(
        WordPiece({i: token.encode() for i, token in enumerate(dict.fromkeys(tokens))}),
        {"<|a|>": 1},
        normalizer=tuple(steps),
        pretokenizer=tuple(cuts),
        token_flags={"<|a|>": TokenFlags(normalized=kind == "words")},
        memo_bytes=memo_bytes,
    )


TOKENIZERS = {kind: tokenizer(kind) for kind in KINDS}
texts = st.lists(
    st.tuples(st.sampled_from(WORDS) | st.text(max_size=3), st.sampled_from(SPACES)), max_size=20
).map(lambda drawn: "".join(word + space for word, space in drawn))


@pytest.mark.parametrize("kind", KINDS)
@given(texts, st.sampled_from(["recognize", "as_text"]))
def test_ids_are_those_of_the_whole(kind: str, text: str, special: str) -> None:
    tok = TOKENIZERS[kind]  # of one memo, which remembers what earlier texts left
    expected = list(tok.encode_spans(text, special=special).ids)
    assert tok.encode(text, special=special) == expected
    assert tok.encode(text, special=special) == expected


@pytest.mark.parametrize("kind", KINDS)
def test_bytes_that_are_no_text(kind: str) -> None:
    tok = TOKENIZERS[kind]
    draw = random.Random(2)
    for _ in range(300):
        raw = b"".join(
            draw.choice([b"\xff", b" ", b"the", b",", b"\xe4\xb8", "中".encode(), b"\xc3", b"\n"])
            for _ in range(draw.randrange(20))
        )
        assert tok.encode(raw) == list(tok.encode_spans(raw).ids)


@pytest.mark.parametrize("kind", KINDS)
def test_threads_and_streams_and_a_small_memo(kind: str) -> None:
    tok = tokenizer(kind, memo_bytes=1 << 12)
    draw = random.Random(5)
    drawn = (draw.choice(WORDS) + draw.choice(SPACES) for _ in range(20_000))
    text = "".join(drawn) * 3
    expected = list(tok.encode_spans(text).ids)
    assert tok.encode(text) == expected
    assert list(tok.encode_batch([text, text[:1000]], n_threads=2)[0]) == expected
    parts = [text[at : at + 70_001] for at in range(0, len(text), 70_001)]
    assert list(tok.encode_iterable(parts)) == expected  # of pieces of one text


def test_parts_of_byte_level_bpe_have_no_edges() -> None:
    """What a normalizer joins must not be cut where no merge joins what the text spells."""
    tokens = BYTES | {256: "が".encode()[:2], 257: "が".encode(), 258: b"\x80\xe4"}
    tok = Tokenizer(
        Bpe(tokens, [(0xE3, 0x81), (256, 0x8C), (0x80, 0xE4)]),
        {},
        normalizer=(normalizers.Nfc(),),
        pretokenizer=(WhitespaceSplit(),),
    )
    decomposed = "a " + "か\u3099" * 10
    assert tok.encode(decomposed) == list(tok.encode_spans(decomposed).ids) == [97, *[257] * 10]

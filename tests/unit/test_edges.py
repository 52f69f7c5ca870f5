"""Long pre-tokens of characters of three bytes, stretch by stretch: the ids of the pre-token as a whole.

``encode_spans`` merges whole pre-tokens and remembers nothing, so it says what is right.
"""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from subword import BPETokenizer, Tokenizer, train_bpe
from subword.models import Bpe

CHARACTERS = "中文字典的是一不了人我か カナ。，々〇é\U0001f642丂龥한국어कखิกา’"
BYTES = {byte: bytes([byte]) for byte in range(256)}
RAW = [*(char.encode() for char in "中中文文字字か。é"), b"a", b" "]
HAN = RAW[:6]
HINDI = [char.encode() for char in "कक\u093f"]


def agree(tok: Tokenizer, text: str | bytes) -> None:
    expected = list(tok.encode_spans(text).ids)
    assert tok.encode(text) == expected
    assert tok.encode(text) == expected


@pytest.fixture(scope="module")
def trained() -> Tokenizer:
    draw = random.Random(8)
    words = ["".join(draw.choices(CHARACTERS, k=draw.randint(1, 4))) for _ in range(200)]
    texts = ["".join(draw.choices(words, k=60)) for _ in range(60)]
    return train_bpe(texts, 900, pattern="cl100k")


@given(st.lists(st.text(CHARACTERS, max_size=60) | st.text(max_size=4), max_size=6).map("".join))
def test_a_trained_vocabulary(trained: Tokenizer, text: str) -> None:
    agree(trained, text)
    assert trained.decode(trained.encode(text)) == text


@st.composite
def vocabularies(draw: st.DrawFn) -> tuple[dict[int, bytes], list[tuple[int, int]]]:
    """Merges of any bytes beside each other, parts of characters and more than one among them."""
    text = b"".join(draw(st.lists(st.sampled_from(HAN + HINDI), min_size=2, max_size=20)))
    parts = [bytes([byte]) for byte in text]
    vocab, merges = dict(BYTES), []
    ids = {token: token_id for token_id, token in vocab.items()}
    for _ in range(draw(st.integers(1, 40))):
        if len(parts) < 2:
            break
        at = draw(st.integers(0, len(parts) - 2))
        joined = parts[at] + parts[at + 1]
        if joined not in ids:
            merges.append((ids[parts[at]], ids[parts[at + 1]]))
            ids[joined] = len(vocab)
            vocab[len(vocab)] = joined
        parts[at : at + 2] = [joined]
    return vocab, merges


@given(
    vocabularies(),
    st.lists(
        st.lists(
            st.sampled_from(HAN) | st.sampled_from(HINDI) | st.sampled_from(RAW),
            min_size=6,
            max_size=30,
        ),
        min_size=1,
    ).map(lambda drawn: [b"".join(text) for text in drawn[:3]]),
    st.sampled_from(["none", "gpt2", "cl100k", "deepseek_v3"]),
    st.booleans(),
)
def test_any_merges(
    vocabulary: tuple[dict[int, bytes], list[tuple[int, int]]],
    texts: list[bytes],
    pattern: str,
    whole_first: bool,
) -> None:
    tok = Tokenizer(Bpe(*vocabulary, whole_first=whole_first), {}, pattern=pattern)
    for text in [*texts, b"".join(texts), texts[0] + b"\xe4\xb8", b"\xe4" + texts[0]]:
        agree(tok, text)


def test_a_token_that_only_whole_pretokens_become() -> None:
    """As a stretch it is not made: what whole pre-tokens become must not be taken for it."""
    first, second, third = (char.encode() for char in "中文字")
    tokens = [*(char[:2] for char in (first, second, third)), first, second, third]
    tokens += [second + third, first + second + third, first + second]
    vocab = BYTES | dict(enumerate(tokens, start=256))
    merges = [(char[0], char[1]) for char in (first, second, third)]
    merges += [(256, first[2]), (257, second[2]), (258, third[2]), (260, 261), (259, 262)]
    tok = Tokenizer(Bpe(vocab, merges, whole_first=True), {}, pattern="gpt2")
    for _ in range(2):
        assert tok.encode("中文") == [264]
        assert tok.encode("中文字" * 5) == [263] * 5
        assert tok.encode("か" * 5 + "中文" + "か" * 5)[15:-15] == [259, 260]


def test_a_stretch_without_an_end() -> None:
    """Behind 64 KiB none is looked for: the rest of the pre-token is one stretch."""
    char = "中".encode()
    tokens = {256: char[:2], 257: char, 258: char + char}
    merges = [(char[0], char[1]), (256, char[2]), (257, 257)]
    tok = Tokenizer(Bpe(BYTES | tokens, merges), {}, pattern="gpt2")
    agree(tok, "中" * 70_001 + "文字" * 3)
    assert tok.encode("中" * 70_001) == [258] * 35_000 + [257]


def test_a_byte_that_is_no_token_is_refused_at_its_place() -> None:
    tok = BPETokenizer({i: bytes([b]) for i, b in enumerate("中文".encode())}, [])
    with pytest.raises(Exception, match="at byte 90 of the text"):
        tok.encode("中文" * 15 + "字" + "中文" * 15)

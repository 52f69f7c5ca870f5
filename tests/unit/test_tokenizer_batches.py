"""Many texts at once, and the places of their tokens."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from samples import BYTES, NAMES, huge_text, texts, trained
from subword.errors import (
    ArgumentError,
    SpecialTokenInTextError,
    TextError,
)
from subword.models import Bpe
from subword.tokenizer import Tokenizer

# Batches.


@pytest.mark.parametrize("n_threads", [1, 2, 8, None])
@given(st.lists(texts | texts.map(str.encode), max_size=8), st.sampled_from(NAMES))
def test_a_batch_gives_the_ids_of_each_text(
    n_threads: int | None, batch: list[str | bytes], name: str
) -> None:
    tok = trained(name)
    ragged = tok.encode_batch(batch, n_threads=n_threads)
    assert ragged.tolist() == [tok.encode(text) for text in batch]
    assert (ragged.ids.dtype, ragged.bounds.dtype) == (np.uint32, np.int64)
    assert len(ragged) == len(batch)
    assert [row.tolist() for row in ragged] == ragged.tolist()


@pytest.mark.parametrize("specials", [True, False])
@pytest.mark.parametrize("name", NAMES)
def test_a_huge_document_is_encoded_alike_by_any_number_of_threads(
    name: str, specials: bool
) -> None:
    tok = trained(name).replace(special_tokens={"<s>": 256, "<s": 257} if specials else {})
    text = huge_text()
    assert len(text.encode()) > 1 << 20
    expected = tok.encode(text)
    for n_threads in (1, 2, 8):
        ragged = tok.encode_batch(["the", text, "", text[:1000]], n_threads=n_threads)
        assert ragged[1].tolist() == expected
        assert ragged[0].tolist() == tok.encode("the")
        assert ragged[2].tolist() == []
        assert ragged[3].tolist() == tok.encode(text[:1000])


def test_special_tokens_with_spaces_are_not_cut_for_threads() -> None:
    tok = trained()
    text = "<|a long special token|> b" * 100_000
    expected = tok.encode(text)
    assert expected == [tok.special_tokens["<|a long special token|> b"]] * 100_000
    assert tok.encode_batch([text], n_threads=8)[0].tolist() == expected


def test_a_batch_is_refused_with_the_number_of_the_text() -> None:
    tok = trained()
    for bad in ("ab", b"ab", bytearray(b"ab")):
        with pytest.raises((ArgumentError, TypeError)):
            tok.encode_batch(bad)  # type: ignore[arg-type]
    for n_threads in (0, -1):
        with pytest.raises(ArgumentError):
            tok.encode_batch(["a"], n_threads=n_threads)
    with pytest.raises(SpecialTokenInTextError, match=r"text 1: .* at byte 2"):
        tok.encode_batch(["a", "bb<s>"], special="forbid")
    late = "a " * 600_000 + "<s>"
    for n_threads in (1, 2):
        with pytest.raises(SpecialTokenInTextError, match=r"text 1: .* at byte 1200000"):
            tok.encode_batch(["a", late], special="forbid", n_threads=n_threads)
    with pytest.raises(TextError, match=r"text 1: .*character 2"):
        tok.encode_batch(["a", "ab\udfff"])
    with pytest.raises(TypeError, match="text 1"):
        tok.encode_batch(["a", 5])  # type: ignore[list-item]


def test_batches_pad_and_show() -> None:
    ragged = trained().encode_batch(["the cat", "", "a"])
    padded = ragged.pad(pad_id=9)
    assert padded.ids.shape == padded.mask.shape
    assert padded.ids[padded.mask].tolist() == ragged.ids.tolist()
    assert padded.mask.sum(axis=1).tolist() == [len(row) for row in ragged]
    assert ragged.to_arrow().to_pylist() == ragged.tolist()
    with pytest.raises(ArgumentError):
        ragged.pad(1, side="middle")  # type: ignore[arg-type]
    with pytest.raises(IndexError):
        ragged[3]
    assert ragged[-1].tolist() == [97]


# Spans.


@given(texts, st.sampled_from(NAMES))
def test_spans_tile_the_text(text: str, name: str) -> None:
    tok = trained(name)
    encoding = tok.encode_spans(text)
    assert encoding.ids == tok.encode(text)
    assert len(encoding) == len(encoding.ids)
    raw = text.encode()
    at = 0
    for token_id, (start, end), (first, last) in zip(
        encoding.ids, encoding.byte_spans, encoding.char_spans, strict=True
    ):
        assert start == at
        assert raw[start:end] == tok.token_bytes(token_id)
        # The characters are those that the bytes touch, no more.
        assert len(text[:first].encode()) <= start < len(text[: first + 1].encode())
        assert len(text[: last - 1].encode()) < end <= len(text[:last].encode())
        at = end
    assert at == len(raw)


@given(st.binary(max_size=40))
def test_spans_of_bytes_count_each_broken_byte_as_a_character(raw: bytes) -> None:
    encoding = trained("none", specials=False).encode_spans(raw)
    text = raw.decode("utf-8", "surrogateescape")
    ends = list(itertools.accumulate(len(c.encode("utf-8", "surrogateescape")) for c in text))
    for (start, end), (first, last) in zip(encoding.byte_spans, encoding.char_spans, strict=True):
        assert first == sum(edge <= start for edge in ends)
        assert last == sum(edge < end for edge in ends) + 1


def test_spans_of_special_tokens_and_parts_of_characters() -> None:
    encoding = trained().encode_spans("🙂<s>é")
    assert encoding.byte_spans[-1][1] == 9
    place = encoding.ids.index(trained().special_tokens["<s>"])
    assert encoding.byte_spans[place] == (4, 7)
    assert encoding.char_spans[place] == (1, 4)


def test_b23_spans_of_words_that_are_looked_up_whole() -> None:
    vocab = BYTES | dict(enumerate([b"are", b" you", b" ok", b" yo"], 256))
    tok = Tokenizer(Bpe(vocab, (), whole_first=True)).replace(pattern="gpt2")
    encoding = tok.encode_spans("are you ok?")
    assert encoding.ids == [256, 257, 258, 63]
    assert encoding.char_spans == [(0, 3), (3, 7), (7, 10), (10, 11)]

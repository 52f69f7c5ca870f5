"""Lone surrogates: refused with their place, or replaced, alike by every call."""

import itertools
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from subword.counts import count
from subword.errors import ArgumentError, TextError
from subword.surrogates import checked_parts, replace_surrogates
from subword.templates import Template
from subword.tokenizer import Tokenizer
from subword.training.bpe import train_bpe

SURROGATES = ["\ud800", "\udbff", "\udc00", "\udfff"]

texts = st.lists(
    st.sampled_from([*SURROGATES, "\ud83d\ude42", "a", " cat", "中", "🙂", "<s>"]), max_size=12
).map("".join)


@cache
def trained() -> Tokenizer:
    return train_bpe(["the cat sat", "a中🙂\ufffd\ufffd"] * 4, 270, ["<s>"])


@pytest.mark.parametrize("surrogate", SURROGATES)
def test_b26_a_lone_surrogate_is_refused_with_its_place_or_replaced(surrogate: str) -> None:
    tok = trained()
    text = f"a中{surrogate}b"
    for call in (tok.encode, tok.encode_array, tok.count_tokens, tok.encode_spans):
        with pytest.raises(TextError, match="character 2"):
            call(text)
    with pytest.raises(ValueError, match="character 2"):
        list(tok.encode_iterable(["fine", text]))
    expected = tok.encode("a中\ufffdb")
    assert tok.encode(text, errors="replace") == expected
    assert tok.encode_array(text, errors="replace").tolist() == expected
    assert tok.count_tokens(text, errors="replace") == len(expected)
    assert list(tok.encode_iterable([text], errors="replace")) == expected
    encoding = tok.encode_spans(text, errors="replace")
    assert encoding.ids == expected
    assert encoding.byte_spans[-1][1] == 1 + 3 + 3 + 1
    assert encoding.char_spans[-1] == (3, 4)
    batch = tok.encode_batch([text, text.encode("utf-8", "replace")], errors="replace")
    assert batch[0].tolist() == expected


def test_a_pair_of_texts_is_replaced_alike() -> None:
    tok = trained().replace(template=Template.parse("A", "A <s> B"))
    expected = tok.encode("a\ufffd", "\ufffdb", template=True)
    assert tok.encode("a\ud800", "\ud800b", template=True, errors="replace") == expected
    with pytest.raises(TextError, match="character 0"):
        tok.encode("a", "\ud800b", template=True)


@given(texts, st.data())
def test_parts_give_the_ids_of_the_whole_wherever_a_pair_is_cut(
    text: str, data: st.DataObject
) -> None:
    tok = trained()
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=6)))
    bounds = [0, *cuts, len(text)]
    parts = [text[start:end] for start, end in itertools.pairwise(bounds)]
    expected = tok.encode(text, errors="replace")
    assert list(tok.encode_iterable(parts, errors="replace")) == expected
    assert tok.count_tokens(text, errors="replace") == len(expected)


def test_a_surrogate_before_bytes_is_alone() -> None:
    parts: list[str | bytes] = ["a\ud83d", "\ude42".encode("utf-8", "surrogatepass"), "\ude42"]
    replaced = [
        part if isinstance(part, bytes) else part.encode()
        for part in checked_parts(parts, "replace")
    ]
    assert b"".join(replaced) == b"a\xef\xbf\xbd\xed\xb9\x82\xef\xbf\xbd"


def test_a_stream_is_read_no_further_than_asked_for() -> None:
    read: list[str] = []

    def parts() -> Iterator[str]:
        for part in ["the cat\ud83d", "\ude42 sat", " on"]:
            read.append(part)
            yield part

    stream = checked_parts(parts(), "replace")
    assert (next(stream), next(stream)) == ("the cat", "🙂 sat")
    assert len(read) == 2


@given(texts)
def test_spans_point_into_the_text_as_given(text: str) -> None:
    tok = trained()
    encoding = tok.encode_spans(text, errors="replace")
    replaced = replace_surrogates(text)
    assert isinstance(replaced, str)
    assert encoding.ids == tok.encode(replaced)
    raw = replaced.encode()
    ends = [0]
    for (start, end), (first, last), token_id in zip(
        encoding.byte_spans, encoding.char_spans, encoding.ids, strict=True
    ):
        # The bytes are those that the text is encoded as, the characters its own.
        assert raw[start:end] == tok.token_bytes(token_id)
        assert raw[start:end] in replace_surrogates(text[first:last]).encode()  # type: ignore[union-attr]
        ends.append(last)
    assert ends == sorted(ends)
    assert ends[-1] == len(text)


def test_two_surrogates_that_are_a_pair_are_two_characters_and_four_bytes() -> None:
    encoding = trained().encode_spans("\ud83d\ude42 \ud83da", errors="replace")
    assert encoding.byte_spans[-1] == (8, 9)
    assert encoding.char_spans[-1] == (4, 5)
    assert {first for first, _ in encoding.char_spans} <= {0, 2, 3, 4}


def test_errors_is_checked_before_work_starts() -> None:
    tok = trained()
    calls: list[Any] = [tok.encode, tok.encode_array, tok.encode_spans, tok.count_tokens]
    calls += [tok.encode_batch, tok.encode_iterable, count]
    for call in calls:
        with pytest.raises(ArgumentError, match="errors is 'ignore'"):
            call(["a"] if call in calls[4:] else "a", errors="ignore")


@pytest.mark.parametrize("bad", [5, None, ["a"], bytearray(b"a")])
def test_what_is_no_text_is_refused_under_replace_too(bad: Any) -> None:
    tok = trained()
    for call in (tok.encode, tok.encode_array, tok.count_tokens, tok.encode_spans):
        with pytest.raises(TypeError, match="str or bytes"):
            call(bad, errors="replace")
    with pytest.raises(TypeError, match="str or bytes"):
        list(tok.encode_iterable([bad], errors="replace"))

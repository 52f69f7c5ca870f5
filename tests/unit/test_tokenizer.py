import io
import itertools
import os
import pickle
import random
import subprocess
import sys
import threading
from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from subword.errors import (
    ArgumentError,
    SpecialTokenError,
    SpecialTokenInTextError,
    TextError,
    UnknownTokenError,
    UnknownTokenIdError,
    VocabSizeError,
    VocabularyError,
)
from subword.models import Bpe
from subword.patterns import NAMED_PATTERNS
from subword.special_tokens import TokenFlags
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


# Law 1: decode(encode(x)) == x.


@given(texts, st.sampled_from(NAMES), st.sampled_from(["recognize", "as_text", frozenset(["<s>"])]))
def test_text_round_trips(text: str, name: str, special: Any) -> None:
    tok = trained(name)
    ids = tok.encode(text, special=special)
    assert tok.decode(ids) == text
    assert tok.decode(ids, errors="strict") == text
    assert tok.encode(text.encode(), special=special) == ids
    assert tok.encode_array(text, special=special).tolist() == ids
    assert tok.encode_array(text).dtype == np.uint32
    assert tok.count_tokens(text, special=special) == len(ids)


@given(st.binary(max_size=60) | texts.map(lambda t: t.encode()[1:-1]), st.sampled_from(NAMES))
def test_bytes_round_trip(raw: bytes, name: str) -> None:
    tok = trained(name)
    assert tok.decode_bytes(tok.encode(raw)) == raw
    assert tok.decode(tok.encode(raw)) == raw.decode("utf-8", "replace")


@given(
    texts,
    st.lists(st.sampled_from([r"[a-z]+", r"a*", r"\s+(?!\S)", r"(?<=a)b|", "x|\\d"]), max_size=3),
)
def test_b20_text_round_trips_for_any_pattern(text: str, pattern: list[str]) -> None:
    tok = trained().replace(pattern=pattern)
    assert tok.decode(tok.encode(text)) == text


def test_b20_gaps_are_kept() -> None:
    tok = trained().replace(pattern="[a-z]+")
    assert tok.decode(tok.encode("Hi there, 42!")) == "Hi there, 42!"


def test_an_empty_text_has_no_ids() -> None:
    tok = trained()
    assert tok.encode("") == tok.encode(b"") == []
    assert tok.decode([]) == ""
    assert tok.decode_bytes([]) == b""
    assert tok.count_tokens("") == 0
    assert tok.encode_array("").shape == (0,)
    assert list(tok.encode_iterable([])) == list(tok.encode_iterable(["", b""])) == []
    assert tok.encode_batch([]).tolist() == []
    assert tok.encode_batch(["", "a", ""]).tolist() == [[], [97], []]
    assert len(tok.encode_spans("")) == 0


# Law 6: no merge touches a special token; the longest wins.


@given(texts)
def test_special_tokens_are_cut_out_before_anything_else(text: str) -> None:
    from subword.reference.special_tokens import cut

    tok = trained()
    plain = trained(specials=False)
    expected: list[int] = []
    for part, is_special in cut(text.encode(), [token.encode() for token in SPECIALS]):
        expected += [tok.special_tokens[part.decode()]] if is_special else plain.encode(part)
    assert tok.encode(text) == expected


def test_the_longest_special_token_wins() -> None:
    tok = trained()
    ids = tok.special_tokens
    assert tok.encode("<s><s>") == [ids["<s>"], ids["<s>"]]
    assert tok.encode("<s<s>") == [ids["<s"], ids["<s>"]]
    assert tok.encode("<|a long special token|> b") == [ids["<|a long special token|> b"]]
    assert tok.encode("<|a long special token|> ")[0] == ids["<|a long special token|>"]


# Law 7: any cut gives the ids of the whole.


def joined(parts: list[Any]) -> Any:
    return "".join(parts) if isinstance(parts[0], str) else b"".join(parts)


@given(texts.filter(len), st.sampled_from(NAMES), st.data())
def test_parts_give_the_ids_of_the_whole(text: str, name: str, data: st.DataObject) -> None:
    tok = trained(name)
    expected = tok.encode(text)
    whole: Any = data.draw(st.sampled_from([text, text.encode()]))
    cuts = sorted(data.draw(st.lists(st.integers(0, len(whole)), max_size=6)))
    parts = [whole[start:end] for start, end in itertools.pairwise([0, *cuts, len(whole)])]
    assert list(tok.encode_iterable(parts)) == expected


HOSTILE = [
    "中中中" + "A" * 50 + "b",
    "中中中" + "A" * 50 + "\u0301é" + "A" * 40,
    "x" + " " * 90 + "y",
    "x" + "\u3000" * 40 + "\n" + "\u3000" * 40 + "y",
    "\n" + " " * 70 + "\n" + " " * 70,
    "don't we'll I'M 'S''s " * 3,
    "a<s><s>x<s<|a long special token|> b<|a long special token|> c<|a long special",
    "!!!!\r\n\n/\n/\r/" * 8 + "x",
    "1234567890" * 9 + "½",
    "🙂" * 30 + "é中" + "🙂",
    "\n\n\n" + "a\n\nb" + "\n" * 33,
    "A" * 80 + "中" * 3 + "B" * 80 + "c",
]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_every_cut_of_a_hostile_text_gives_the_ids_of_the_whole(text: str, name: str) -> None:
    tok = trained(name)
    expected = tok.encode(text)
    raw = text.encode()
    for cut in range(len(raw) + 1):
        assert list(tok.encode_iterable([raw[:cut], raw[cut:]])) == expected, cut
    assert list(tok.encode_iterable(text)) == expected
    assert list(tok.encode_iterable(bytes([byte]) for byte in raw)) == expected
    for size in (2, 3, 5, 17, 64):
        parts = [raw[at : at + size] for at in range(0, len(raw), size)]
        assert list(tok.encode_iterable(parts)) == expected


def test_o200k_takes_any_number_of_capitals_back_from_a_word() -> None:
    # The cut between the last Chinese character and the capitals goes when a small letter comes.
    tok = Tokenizer(Bpe(BYTES | {256: b"\xadA"}, ((0xAD, 0x41),))).replace(pattern="o200k")
    text = "中中中" + "A" * 50 + "b"
    assert 256 in tok.encode(text)
    assert 256 not in tok.encode(text[:-1])
    assert list(tok.encode_iterable([text[:-1], text[-1]])) == tok.encode(text)
    assert list(tok.encode_iterable([text.encode()[:-1] + b"\xc3", b"\xa9"])) == tok.encode(
        text[:-1] + "é"
    )


@pytest.mark.parametrize("name", [name for name in NAMES if name not in ("none", "deepseek")])
def test_a_stream_yields_while_it_reads(name: str) -> None:
    tok = trained(name)
    n_read = 0

    def lines() -> Iterator[str]:
        nonlocal n_read
        for n_read in range(1, 10_001):
            yield f"line {n_read} of the cat in the hat, and that's that\n"

    ids = tok.encode_iterable(lines())
    first = [next(ids) for _ in range(5)]
    assert n_read < 10
    assert first == tok.encode("line 1 of the cat in the hat")[:5]
    # What is held never grows with what was read.
    taken = sum(1 for _ in itertools.islice(ids, 50_000))
    assert taken == 50_000
    assert n_read < 10_000


def test_a_stream_holds_no_more_than_what_is_not_settled() -> None:
    code = (
        "import resource\n"
        "from subword.training.bpe import train_bpe\n"
        "tok = train_bpe({'the': 5, ' cat': 4}, 260, ['<s>'])\n"
        "n = sum(1 for _ in tok.encode_iterable(' the cat' * 500 for _ in range(100)))\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "n = sum(1 for _ in tok.encode_iterable(' the cat' * 500 for _ in range(20_000)))\n"
        "print(n, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)\n"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    n_ids, kilobytes = map(int, run.stdout.split())
    assert n_ids > 10_000_000
    # Of 80 MB read.
    assert kilobytes < 8 * 1024


def test_a_stream_reads_an_open_file() -> None:
    text = "".join(CORPUS) * 20
    tok = trained()
    assert list(tok.encode_iterable(io.StringIO(text, newline=""))) == tok.encode(text)
    assert list(tok.encode_iterable(io.BytesIO(text.encode()))) == tok.encode(text)


def test_a_stream_passes_on_what_its_source_raises() -> None:
    def failing() -> Iterator[str]:
        yield "some text and more of it\n" * 10
        raise ZeroDivisionError("mine")

    ids = trained().encode_iterable(failing())
    with pytest.raises(ZeroDivisionError, match="mine"):
        list(ids)


@pytest.mark.parametrize("token", ["<s>", "<|a long special token|>"])
def test_a_stream_refuses_a_forbidden_token_wherever_it_is_cut(token: str) -> None:
    tok = trained()
    text = "the cat in the hat " + token + " sat"
    for cut in range(len(text)):
        with pytest.raises(SpecialTokenInTextError, match=r"at byte 19"):
            list(tok.encode_iterable([text[:cut], text[cut:]], special="forbid"))
    with pytest.raises(SpecialTokenInTextError, match=r"at byte 19"):
        list(tok.encode_iterable(text, special="forbid"))
    free = "the cat in the hat <|a long special toke " * 3
    assert list(tok.encode_iterable(free, special="forbid")) != []


@pytest.mark.parametrize(
    "special", ["recognize", "as_text", frozenset(["<s>", "\n\n"]), frozenset()]
)
def test_a_stream_follows_the_policy(special: Any) -> None:
    tok = trained()
    text = HOSTILE[6] + HOSTILE[10]
    assert list(tok.encode_iterable(text, special=special)) == tok.encode(text, special=special)


def test_a_long_special_token_does_not_make_a_stream_quadratic() -> None:
    tok = trained().with_special_tokens(["<" * 5000 + ">"])
    text = "<" * 20_000
    assert list(tok.encode_iterable(text)) == tok.encode(text)


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


# The policy for special tokens.


def test_b21_a_special_token_in_ordinary_text_does_not_stop_the_work() -> None:
    tok = train_bpe(["some text"] * 3, 260, ["<|endoftext|>"])
    text = "ordinary <|endoftext|> text"
    assert tok.encode(text).count(256) == 1
    assert tok.decode(tok.encode(text)) == text
    as_text = tok.encode(text, special="as_text")
    assert 256 not in as_text
    assert tok.decode(as_text) == text
    with pytest.raises(SpecialTokenInTextError, match=r"endoftext.* byte 9"):
        tok.encode(text, special="forbid")
    with pytest.raises(ValueError, match="as_text"):
        tok.encode(text, special="forbid")
    assert tok.encode("some text", special="forbid") == tok.encode("some text")


def test_a_set_of_special_tokens_recognizes_those_alone() -> None:
    tok = trained()
    ids = tok.special_tokens
    assert tok.encode("<s><s", special={"<s"}) == [ids["<s"], 62, ids["<s"]]
    assert tok.encode("<s>", special=frozenset()) == tok.encode("<s>", special="as_text")
    assert tok.encode("<s>", special=set(ids)) == [ids["<s>"]]
    with pytest.raises(SpecialTokenError, match="nothing"):
        tok.encode("<s>", special={"nothing"})
    with pytest.raises(ArgumentError, match="recognise"):
        tok.encode("<s>", special="recognise")  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        tok.encode("<s>", special=None)  # type: ignore[arg-type]


def test_special_tokens_that_cannot_be_told_apart_are_refused() -> None:
    tok = trained()
    model = tok.model
    for bad in ([""], ["<x>", "<x>"], "<x>", [b"<x>"], ["\ud800"]):
        with pytest.raises((SpecialTokenError, TextError)):
            tok.with_special_tokens(bad)  # type: ignore[arg-type]
    for ids in (
        {"<x>": 97},
        {"<x>": 256, "<y>": 256},
        {"<x>": -1},
        {"<x>": 2**32 - 1},
        {"<x>": 2**40},
    ):
        with pytest.raises(VocabularyError):
            Tokenizer(model, ids).encode("a")


def test_a_special_token_that_is_a_token_keeps_its_id() -> None:
    tok = Tokenizer(Bpe(BYTES | {300: b"ab"}, ((97, 98),)))
    assert tok.with_special_tokens(["ab", "<s>"]).special_tokens == {"ab": 300, "<s>": 301}
    assert tok.with_special_tokens(["a"]).encode("aab") == [97, 97, 98]


def test_an_alias_is_a_second_spelling_of_an_id() -> None:
    ids = {"<a>": 256, "<b>": 256}
    tok = Tokenizer(Bpe(BYTES, ()), ids, token_flags={"<b>": TokenFlags(alias=True)})
    assert tok.encode("<b>x<a>") == [256, 120, 256]
    assert tok.encode("<b>", special={"<b>"}) == [256]
    assert tok.decode([256]) == tok.vocab[256].decode() == "<a>"
    assert tok.token_id("<b>") == tok.token_id("<a>") == 256
    assert tok.decode([256, 120], skip_special=True) == "x"
    more = tok.with_special_tokens(["<b>", "<c>"])
    assert more.special_tokens == {"<a>": 256, "<b>": 256, "<c>": 257}
    assert pickle.loads(pickle.dumps(tok)) == tok  # noqa: S301
    assert tok != Tokenizer(Bpe(BYTES, ()), {"<a>": 256})
    with pytest.raises(VocabularyError, match="which '<a>' has too"):
        Tokenizer(Bpe(BYTES, ()), ids)
    both = dict.fromkeys(ids, TokenFlags(alias=True))
    with pytest.raises(VocabularyError, match="no special token before it"):
        Tokenizer(Bpe(BYTES, ()), ids, token_flags=both)


# Decoding.


def test_what_is_no_utf8_is_decoded_as_errors_says() -> None:
    tok = trained()
    ids = [97, 0xE4, 0xB8, 98]
    assert tok.decode(ids) == "a\ufffdb"
    assert tok.decode(ids, errors="ignore") == "ab"
    assert tok.decode(ids, errors="backslashreplace") == "a\\xe4\\xb8b"
    assert tok.decode(ids, errors="surrogateescape") == "a\udce4\udcb8b"
    with pytest.raises(UnicodeDecodeError):
        tok.decode(ids, errors="strict")
    with pytest.raises(LookupError):
        tok.decode(ids, errors="no such handler")
    assert tok.decode_batch([ids, [], [97]]) == ["a\ufffdb", "", "a"]


def test_special_tokens_can_be_left_out() -> None:
    tok = trained()
    ids = tok.encode("a<s>b\n\nc")
    assert tok.decode(ids, skip_special=True) == "abc"
    assert tok.decode_bytes(ids, skip_special=True) == b"abc"
    assert tok.decode(ids) == "a<s>b\n\nc"


@pytest.mark.parametrize(
    "bad", [-1, 414, 10**6, 2**32 - 1, 2**32, 2**32 + 97, 2**63, 2**64 + 97, -(2**70), np.int64(-1), np.uint64(2**63)]
)  # fmt: skip
def test_an_id_outside_the_vocabulary_is_refused_with_its_position(bad: int) -> None:
    tok = trained()
    for ids in ([97, 98, bad], (i for i in (97, 98, bad))):
        with pytest.raises(UnknownTokenIdError, match="position 2"):
            tok.decode(ids)
    with pytest.raises(UnknownTokenIdError, match="position 2"):
        tok.decode([97, 98, bad], skip_special=True)
    with pytest.raises(UnknownTokenIdError):
        tok.decode_bytes([97, 98, bad])
    with pytest.raises(UnknownTokenIdError):
        tok.token_bytes(bad)
    with pytest.raises(UnknownTokenIdError):
        tok.stream_decoder().push(bad)


def test_ids_in_a_gap_are_refused() -> None:
    tok = Tokenizer(Bpe({0: b"a", 5: b"b"}, ()), {"<s>": 9})
    assert tok.decode([0, 5, 9]) == "ab<s>"
    for bad in (1, 4, 6, 8, 10):
        with pytest.raises(UnknownTokenIdError):
            tok.decode([0, bad])
        with pytest.raises(UnknownTokenIdError):
            tok.token_bytes(bad)


def test_ids_may_be_any_integers() -> None:
    tok = trained()
    expected = "abc"
    for ids in (
        [97, 98, 99],
        (97, 98, 99),
        iter([97, 98, 99]),
        b"abc",
        [np.int64(97), np.uint32(98), np.int8(99)],
        *(
            np.array([97, 98, 99], dtype)
            for dtype in (np.uint8, np.int16, np.uint32, np.int64, np.uint64)
        ),
        np.array([97, 0, 98, 0, 99, 0], np.uint32)[::2],
        {97: 1, 98: 1, 99: 1}.keys(),
    ):
        assert tok.decode(ids) == expected
    # A bool is an int to Python.
    assert tok.decode([True, False]) == "\x01\x00"
    for bad in ([1.0], ["a"], [None], 5, np.array([1.5]), [[97]]):
        with pytest.raises(TypeError):
            tok.decode(bad)  # type: ignore[arg-type]


def test_tokens_and_ids_are_looked_up() -> None:
    tok = trained()
    assert tok.token_id("a") == tok.token_id(b"a") == 97
    assert tok.token_id("<s>") == 256
    assert tok.token_bytes(256) == b"<s>"
    for token_id, token in tok.vocab.items():
        assert tok.token_bytes(token_id) == token
        assert tok.token_id(token) == token_id
    for unknown in ("no such token", b"", "\ud800", b"\xff\xff"):
        with pytest.raises(UnknownTokenError):
            tok.token_id(unknown)


@given(st.lists(st.integers(0, 413), max_size=30))
def test_b32_a_stream_of_ids_joins_to_the_decoded_whole(ids: list[int]) -> None:
    tok = trained()
    decoder = tok.stream_decoder()
    parts = [decoder.push(token_id) for token_id in ids]
    assert "".join(parts) + decoder.finish() == tok.decode(ids)
    # It starts anew.
    assert decoder.push(97) == "a"


@given(st.binary(max_size=30))
def test_b32_b33_bytes_one_by_one_never_raise_or_repeat(raw: bytes) -> None:
    decoder = trained().stream_decoder()
    parts = [decoder.push(byte) for byte in raw]
    assert "".join(parts) + decoder.finish() == raw.decode("utf-8", "replace")


def test_b33_one_id_that_is_part_of_a_character() -> None:
    tok = trained()
    decoder = tok.stream_decoder()
    assert [decoder.push(byte) for byte in "中a".encode()] == ["", "", "中", "a"]
    assert decoder.push(0xE4) == ""
    with pytest.raises(UnknownTokenIdError):
        decoder.push(10**6)
    # The refusal changed nothing.
    assert [decoder.push(0xB8), decoder.push(0xAD)] == ["", "中"]
    assert decoder.push(0xE4) == ""
    assert decoder.finish() == "\ufffd"
    assert tok.decode([0xB8]) == "\ufffd"


# What is no text.


@pytest.mark.parametrize("bad", [5, None, ["a"], bytearray(b"a"), memoryview(b"a"), 1.5])
def test_what_is_no_text_is_refused(bad: Any) -> None:
    tok = trained()
    for call in (tok.encode, tok.encode_array, tok.count_tokens, tok.encode_spans):
        with pytest.raises(TypeError, match="str or bytes"):
            call(bad)


# Law 10: frozen, picklable, thread-safe, fork-safe, interruptible.


def test_a_tokenizer_is_frozen_and_hashable() -> None:
    tok = trained()
    with pytest.raises(AttributeError):
        tok.pattern = ()  # type: ignore[misc]
    with pytest.raises(AttributeError):
        tok.anything = 1  # type: ignore[attr-defined]
    assert hash(tok) == hash(tok.replace())
    assert tok == tok.replace()
    assert len({tok, tok.replace(), tok.replace(pattern="cl100k")}) == 2


def test_a_tokenizer_pickles() -> None:
    for tok in (trained(), trained("deepseek"), trained(specials=False)):
        again = pickle.loads(pickle.dumps(tok))  # noqa: S301
        assert again == tok
        assert again.memo_bytes == tok.memo_bytes
        assert again.merge_counts == tok.merge_counts
        assert repr(again) == repr(tok)
        assert again.encode(huge_text()[:5000]) == tok.encode(huge_text()[:5000])


def test_equality_is_that_of_what_ids_depend_on() -> None:
    tok = trained()
    model = tok.model
    assert isinstance(model, Bpe)
    assert tok != tok.replace(pattern="o200k")
    assert tok != tok.replace(special_tokens={})
    assert tok != tok.replace(model=Bpe(model.vocab, model.merges, whole_first=True))
    assert tok != tok.replace(model=Bpe(model.vocab, model.merges[:-1]))
    assert tok == tok.replace(memo_bytes=0)
    assert tok == tok.replace(model=Bpe(model.vocab, list(model.merges)))
    assert tok != "tok"


def test_what_goes_in_may_change_afterwards() -> None:
    vocab = dict(BYTES)
    special = {"<s>": 256}
    tok = Tokenizer(Bpe(vocab, ()), special)
    special["<t>"] = 257
    assert tok.special_tokens == {"<s>": 256}
    assert tok.encode("<t>") == list(b"<t>")
    tok.vocab[0] = b"changed"
    assert tok.token_bytes(0) == b"\0"
    tok.merges.append((b"a", b"b"))
    assert tok.merges == []


def test_replace_and_with_special_tokens_give_new_tokenizers() -> None:
    tok = trained()
    assert tok.replace(pattern=None).pattern == ()
    assert tok.replace(pattern=r"\d").pattern == (r"\d",)
    more = tok.with_special_tokens(["<new>", "<s>"])
    assert more.special_tokens == {**tok.special_tokens, "<new>": tok.vocab_size}
    assert more.encode("<new>") == [tok.vocab_size]
    assert "<new>" not in tok.special_tokens
    assert more.vocab_size == tok.vocab_size + 1
    with pytest.raises(ArgumentError, match="colour"):
        tok.replace(colour="red")


def test_truncate_gives_the_smaller_training() -> None:
    tok = train_bpe(CORPUS * 2, 340, ["<s>", "<e>"])
    small = tok.truncate(300)
    assert small == train_bpe(CORPUS * 2, 300, ["<s>", "<e>"])
    assert small.vocab_size == len(small) == 300
    assert small.merge_counts == (tok.merge_counts or [])[:42]
    assert tok.truncate(340) == tok
    assert tok.truncate(258).merges == []
    assert small.truncate(270) == tok.truncate(270)
    for vocab_size in (341, 257, 0, -5):
        with pytest.raises(VocabSizeError):
            tok.truncate(vocab_size)
    with pytest.raises(ArgumentError):
        Tokenizer(Bpe(BYTES, ())).truncate(256)


def test_truncate_refuses_to_cut_below_special_tokens_that_were_added() -> None:
    tok = train_bpe(CORPUS * 2, 340, ["<s>"]).with_special_tokens(["<new>"])
    with pytest.raises(ArgumentError, match="<new>"):
        tok.truncate(300)
    assert tok.truncate(341) == tok


def test_threads_share_one_tokenizer() -> None:
    tok = trained("o200k")
    chunks = [huge_text()[at : at + 3000] for at in range(0, 300_000, 3000)]
    expected = [tok.encode(chunk) for chunk in chunks]
    results: list[list[list[int]]] = [[] for _ in range(8)]

    def work(number: int) -> None:
        order = list(range(len(chunks)))
        random.Random(number).shuffle(order)
        found = {at: tok.encode(chunks[at]) for at in order}
        results[number] = [found[at] for at in range(len(chunks))]

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(result == expected for result in results)


def test_a_fork_after_parallel_work_goes_on_working() -> None:
    code = (
        "import os, sys, threading, warnings\n"
        "warnings.simplefilter('ignore', DeprecationWarning)\n"
        "from subword.training.bpe import train_bpe\n"
        "tok = train_bpe(['the cat in the hat'] * 9, 270)\n"
        "texts = ['the cat in the hat ' * 50_000] * 4\n"
        "expected = tok.encode_batch(texts, n_threads=4).tolist()\n"
        "busy = threading.Thread(target=lambda: [tok.encode_batch(texts, n_threads=4) for _ in range(5)])\n"
        "busy.start()\n"
        "for _ in range(3):\n"
        "    child = os.fork()\n"
        "    if child == 0:\n"
        "        ok = tok.encode_batch(texts, n_threads=4).tolist() == expected\n"
        "        ok = ok and tok.encode(texts[0]) == expected[0]\n"
        "        ok = ok and train_bpe(['ab'] * 3, 257, n_threads=4).merges == [(b'a', b'b')]\n"
        "        os._exit(0 if ok else 1)\n"
        "    assert os.waitpid(child, 0)[1] == 0\n"
        "busy.join()\n"
        "print('done')\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False
    )
    assert (run.returncode, run.stdout) == (0, "done\n"), run.stderr


def test_repr_says_what_it_is() -> None:
    assert repr(trained()) == (
        f"Tokenizer(Bpe, vocab_size={trained().vocab_size}, {len(trained().merges)} merges, "
        "8 special tokens, pattern='gpt2')"
    )
    assert os.linesep not in repr(trained().replace(pattern="x" * 500))

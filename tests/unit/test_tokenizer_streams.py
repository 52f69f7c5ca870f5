"""Texts that come in parts."""

import io
import itertools
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from samples import BYTES, CORPUS, NAMES, texts, trained
from subword.errors import (
    SpecialTokenInTextError,
)
from subword.models import Bpe
from subword.tokenizer import Tokenizer

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

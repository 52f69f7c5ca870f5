"""SentencePiece model files, made by hand and damaged in every way."""

import contextlib
import struct
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from subword.errors import FormatError, SourceNotFoundError
from subword.formats.sentencepiece_proto import (
    NormalizerSpec,
    Piece,
    TrainerSpec,
    parse_proto,
    read_proto,
)


def varint(value):
    value &= 2**64 - 1
    parts = []
    while value > 0x7F:
        parts.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*parts, value])


def number(field, value):
    return varint(field << 3) + varint(value)


def block(field, content):
    return varint(field << 3 | 2) + varint(len(content)) + content


def piece(text, score=None, kind=None):
    content = block(1, text.encode())
    content += b"" if score is None else varint(2 << 3 | 5) + struct.pack("<f", score)
    content += b"" if kind is None else number(3, kind)
    return block(1, content)


TRAINER = block(
    2,
    block(1, b"corpus.txt")
    + number(3, 2)
    + number(4, 5)
    + number(24, 1)
    + number(35, 1)
    + number(40, 0)
    + number(41, -1)
    + number(43, 3)
    + block(44, b"?")
    + block(53, b"|"),
)
NORMALIZER = block(
    3, block(1, b"nfkc") + block(2, b"\xff\x00") + number(3, 0) + number(4, 0) + number(5, 0)
)
WHOLE = (
    piece("<unk>", 0.0, 2)
    + piece("<s>", 0.0, 3)
    + piece("▁a", -1.5)
    + piece("<0x0A>", -2.5, 6)
    + piece("zero")
    + TRAINER
    + NORMALIZER
    + block(5, block(2, b"\x01"))
)


def test_a_whole_model():
    model = parse_proto(WHOLE)
    assert model.pieces == (
        Piece("<unk>", 0.0, "unknown"),
        Piece("<s>", 0.0, "control"),
        Piece("▁a", -1.5, "normal"),
        Piece("<0x0A>", -2.5, "byte"),
        Piece("zero", 0.0, "normal"),
    )
    assert model.trainer == TrainerSpec(
        model_type="bpe",
        byte_fallback=True,
        treat_whitespace_as_suffix=True,
        unk_id=0,
        bos_id=-1,
        eos_id=2,
        pad_id=3,
        unk_surface="?",
        pretokenization_delimiter="|",
    )
    assert model.normalizer == NormalizerSpec(
        name="nfkc",
        precompiled_charsmap=b"\xff\x00",
        add_dummy_prefix=False,
        remove_extra_whitespaces=False,
        escape_whitespaces=False,
    )
    assert model.denormalizer == NormalizerSpec(precompiled_charsmap=b"\x01")


def test_what_is_not_said_has_its_default():
    model = parse_proto(piece("a"))
    assert (model.trainer, model.normalizer) == (TrainerSpec(), NormalizerSpec())
    assert model.denormalizer is None


def test_parts_of_a_message_add_up_and_the_last_counts():
    parts = block(2, number(35, 1) + number(40, 7)) + block(2, number(40, 9))
    trainer = parse_proto(piece("a") + parts).trainer
    assert (trainer.byte_fallback, trainer.unk_id) == (True, 9)


def test_unknown_fields_are_passed_over():
    unknown = number(200, 1) + block(201, b"x") + varint(202 << 3 | 5) + b"1234"
    unknown += varint(203 << 3 | 1) + b"12345678" + block(4, b"self test")
    assert parse_proto(unknown + piece("a") + unknown).pieces == (Piece("a", 0.0, "normal"),)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "byte 0: the model has no pieces"),
        (TRAINER, "no pieces"),
        (number(1, 5), "byte 0: a field of wire type 0"),
        (number(2, 5) + piece("a"), "byte 0: a field of wire type 0"),
        (piece("a") + piece("a"), "byte 5: piece 1, 'a', stands twice"),
        (piece(""), "no text"),
        (block(1, b""), "no text"),
        (piece("a", float("nan")), "score"),
        (piece("a", float("inf")), "score"),
        (piece("a", 0.0, 7), "piece_type is 7"),
        (piece("a") + block(2, number(3, 9)), "byte 7: model_type is 9"),
        (piece("a") + block(2, block(3, b"x")), "byte 7: a field of wire type 2"),
        (piece("a") + block(2, block(40, b"x")), "wire type 2"),
        (piece("a") + block(3, number(2, 1)), "wire type 0"),
        (block(1, number(1, 1)), "byte 2: a field of wire type 0"),
        (block(1, block(1, b"a") + number(2, 1)), "wire type 0, where type 5"),
        (block(1, block(1, b"a\xff")), "byte 5: a text is not UTF-8"),
        (b"\x0b", "byte 0: wire type 3"),
        (b"\x0c", "wire type 4"),
        (b"\x0e", "wire type 6"),
        (b"\x02\x00", "field number 0"),
        (b"\x0a" + varint(10**9) + b"abc", "byte 0: field 1 needs 1000000006 bytes, but 9"),
        (b"\x0a" + varint(2**64 - 1), "field 1 needs"),
        (b"\x0a" + b"\x80" * 9 + b"\x02", "more than 64 bits"),
        (b"\x0a" + b"\x80" * 20, "more than 64 bits"),
        (b"\x80", "byte 1: a number is cut short"),
        (block(1, b"\x0a\x05abc"), "byte 2: field 1 needs 7 bytes, but 5"),
        (varint(9 << 3 | 5) + b"abc", "field 9 needs 5 bytes"),
        (b"\x1f\x8b\x08\x00gzip", "byte"),
        (b"IQ== 0\nIg== 1\n", "no pieces"),
        (b'{"version": "1.0"}', "byte 0"),
    ],
)
def test_damage_is_named_by_its_byte(data, message):
    with pytest.raises(FormatError, match="byte"):
        parse_proto(data)
    with pytest.raises(FormatError) as caught:
        parse_proto(data)
    assert message in str(caught.value)


def test_a_cut_file_is_refused_or_ends_between_fields():
    n_whole = 0
    for end in range(len(WHOLE)):
        try:
            model = parse_proto(WHOLE[:end])
        except FormatError:
            continue
        n_whole += 1
        assert model.pieces == parse_proto(WHOLE).pieces[: len(model.pieces)]
    assert n_whole == 7


@given(st.data())
def test_any_bytes_give_a_model_or_a_format_error(data):
    content = bytearray(WHOLE)
    for at in data.draw(st.lists(st.integers(0, len(WHOLE) - 1), max_size=4)):
        content[at] = data.draw(st.integers(0, 255))
    with contextlib.suppress(FormatError):
        parse_proto(bytes(content))


def test_a_claimed_length_is_not_allocated():
    tracemalloc.start()
    try:
        with pytest.raises(FormatError):
            parse_proto(b"\x0a" + varint(10**12) + b"abc")
        assert tracemalloc.get_traced_memory()[1] < 1_000_000
    finally:
        tracemalloc.stop()


def test_the_path_is_named(tmp_path):
    (tmp_path / "x.model").write_bytes(b"\x0a\xff")
    with pytest.raises(FormatError, match=r"x\.model: byte 2"):
        read_proto(tmp_path / "x.model")
    with pytest.raises(SourceNotFoundError):
        read_proto(tmp_path / "missing.model")

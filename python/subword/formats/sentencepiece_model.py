"""SentencePiece's ``.model``: a protocol buffer, read without its library.

Only the wire format is needed: each field is a number, a type and a value. Fields of the file
that say how it was trained, and others that are not named here, are passed over, as protocol
buffers ask of every reader; a named one with another type, or a length past its end, is refused.

Source: google/sentencepiece 0.2.3, src/sentencepiece_model.proto; protocolbuffers/protobuf,
"Encoding" (wire types).
"""

import math
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from os import PathLike
from typing import Final, Literal, NamedTuple

from subword.errors import FormatError
from subword.formats.json_file import read_bytes

__all__ = [
    "ModelType",
    "NormalizerSpec",
    "Piece",
    "PieceType",
    "SentencePieceModel",
    "TrainerSpec",
    "parse_proto",
    "read_proto",
    "role_ids",
]

ModelType = Literal["unigram", "bpe", "word", "char"]

PieceType = Literal["normal", "unknown", "control", "user_defined", "unused", "byte"]

_MODEL_TYPES: Final[dict[int, ModelType]] = {1: "unigram", 2: "bpe", 3: "word", 4: "char"}
_PIECE_TYPES: Final[dict[int, PieceType]] = {
    1: "normal",
    2: "unknown",
    3: "control",
    4: "user_defined",
    5: "unused",
    6: "byte",
}


class Piece(NamedTuple):
    """An entry of the vocabulary; its id is its place in the list.

    Attributes:
        text: Its spelling, with U+2581 for a space; ``<0x0A>`` and the like for bytes.
        score: Log probability (unigram), or minus the rank of its merge (bpe).
        type: What it is for.
    """

    text: str
    score: float
    type: PieceType


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainerSpec:
    """What a training left that matters to encoding; an id of -1 is that of no piece.

    The ids are those that training was asked for. ``role_ids`` gives those that the library uses.

    Attributes:
        model_type: The algorithm.
        byte_fallback: Whether characters without a piece become pieces of their bytes.
        treat_whitespace_as_suffix: Whether a space belongs to the word before it.
        unk_id: Id of the unknown piece.
        bos_id: Id of the piece that begins a text.
        eos_id: Id of the piece that ends a text.
        pad_id: Id of the piece that fills up.
        unk_piece: Spelling of the unknown piece.
        bos_piece: Spelling of the piece that begins a text.
        eos_piece: Spelling of the piece that ends a text.
        pad_piece: Spelling of the piece that fills up.
        unk_surface: What the unknown piece is decoded to.
        pretokenization_delimiter: What training texts were cut at beforehand; empty for nothing.
    """

    model_type: ModelType = "unigram"
    byte_fallback: bool = False
    treat_whitespace_as_suffix: bool = False
    unk_id: int = 0
    bos_id: int = 1
    eos_id: int = 2
    pad_id: int = -1
    unk_piece: str = "<unk>"
    bos_piece: str = "<s>"
    eos_piece: str = "</s>"
    pad_piece: str = "<pad>"
    unk_surface: str = " \u2047 "
    pretokenization_delimiter: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class NormalizerSpec:
    """How text is normalized.

    Attributes:
        name: Name of the rules, such as ``nmt_nfkc``; for the record.
        precompiled_charsmap: The rules, compiled; empty for none.
        add_dummy_prefix: Whether a space is put before the text.
        remove_extra_whitespaces: Whether runs of spaces become one, and those at the ends none.
        escape_whitespaces: Whether spaces become U+2581.
    """

    name: str = ""
    precompiled_charsmap: bytes = b""
    add_dummy_prefix: bool = True
    remove_extra_whitespaces: bool = True
    escape_whitespaces: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class SentencePieceModel:
    """What a ``.model`` file holds.

    Attributes:
        pieces: The vocabulary, in the order of the ids.
        trainer: How it was trained.
        normalizer: What is done to text before encoding.
        denormalizer: What is done to text after decoding; None for nothing.
    """

    pieces: tuple[Piece, ...]
    trainer: TrainerSpec
    normalizer: NormalizerSpec
    denormalizer: NormalizerSpec | None


# Field number -> attribute and the kind of its value.
_TRAINER: Final = {
    3: ("model_type", "model_type"),
    24: ("treat_whitespace_as_suffix", "bool"),
    35: ("byte_fallback", "bool"),
    40: ("unk_id", "int"),
    41: ("bos_id", "int"),
    42: ("eos_id", "int"),
    43: ("pad_id", "int"),
    44: ("unk_surface", "str"),
    45: ("unk_piece", "str"),
    46: ("bos_piece", "str"),
    47: ("eos_piece", "str"),
    48: ("pad_piece", "str"),
    53: ("pretokenization_delimiter", "str"),
}
_NORMALIZER: Final = {
    1: ("name", "str"),
    2: ("precompiled_charsmap", "bytes"),
    3: ("add_dummy_prefix", "bool"),
    4: ("remove_extra_whitespaces", "bool"),
    5: ("escape_whitespaces", "bool"),
}
_PIECE: Final = {1: ("text", "str"), 2: ("score", "float"), 3: ("type", "piece_type")}

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_WIRE_OF: Final = {"str": _BYTES, "bytes": _BYTES, "float": _FIXED32}

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class _Source:
    """The bytes and their name, for messages."""

    data: bytes
    path: str

    def error(self, offset: int, message: str) -> FormatError:
        return FormatError(
            f"{self.path}: byte {offset}: {message}; the file is damaged, or no SentencePiece model"
        )


def read_proto(path: str | PathLike[str]) -> SentencePieceModel:
    """Read a model file.

    Raises:
        FormatError: As ``parse_proto``.
        SourceError: The file cannot be read.
    """
    return parse_proto(read_bytes(path), str(path))


def parse_proto(data: bytes, path: str = "model") -> SentencePieceModel:
    """Parse the content of a model file, in time and memory linear in its size.

    Args:
        data: The content.
        path: What messages call it.

    Raises:
        FormatError: Not a model, or a damaged one: no pieces, an empty or repeated piece, a score
            that is no number, a field cut short or of another type; with the byte's offset.
    """
    source = _Source(data, path)
    pieces: dict[str, Piece] = {}
    specs: dict[int, list[Span]] = {2: [], 3: [], 5: []}
    for number, wire, value, offset in _fields(source, (0, len(data))):
        if number != 1 and number not in specs:
            continue
        span = _span(source, wire, value, offset)
        if number != 1:
            specs[number].append(span)
            continue
        piece = _read_piece(source, span)
        if piece.text in pieces:
            raise source.error(offset, f"piece {len(pieces)}, {piece.text!r:.40}, stands twice")
        pieces[piece.text] = piece
    if not pieces:
        raise source.error(len(data), "the model has no pieces")
    denormalizer = _read_spec(source, specs[5], _NORMALIZER)
    return SentencePieceModel(
        pieces=tuple(pieces.values()),
        trainer=TrainerSpec(**_read_spec(source, specs[2], _TRAINER)),  # type: ignore[arg-type]
        normalizer=NormalizerSpec(**_read_spec(source, specs[3], _NORMALIZER)),  # type: ignore[arg-type]
        denormalizer=NormalizerSpec(**denormalizer) if specs[5] else None,  # type: ignore[arg-type]
    )


def role_ids(model: SentencePieceModel) -> dict[str, int]:
    """Give the ids of the unknown, begin, end and padding pieces, by role.

    A role without a piece is left out. The library finds them by their spelling, and only among
    pieces of the type that is due, so they can differ from the ids that training was asked for.

    Source: google/sentencepiece 0.2.3, src/sentencepiece_processor.cc, ``unk_id`` to ``pad_id``.

    Examples:
        >>> pieces = (Piece("<unk>", 0.0, "unknown"), Piece("<pad>", 0.0, "control"))
        >>> specs = {"trainer": TrainerSpec(), "normalizer": NormalizerSpec(), "denormalizer": None}
        >>> role_ids(SentencePieceModel(pieces=pieces, **specs))
        {'unk': 0, 'pad': 1}
    """
    trainer = model.trainer
    wanted: dict[tuple[str, PieceType], str] = {
        (trainer.pad_piece, "control"): "pad",
        (trainer.eos_piece, "control"): "eos",
        (trainer.bos_piece, "control"): "bos",
        (trainer.unk_piece, "unknown"): "unk",
    }
    found = {
        wanted[piece.text, piece.type]: at
        for at, piece in enumerate(model.pieces)
        if (piece.text, piece.type) in wanted
    }
    return {role: found[role] for role in ("unk", "bos", "eos", "pad") if role in found}


def _read_piece(source: _Source, span: Span) -> Piece:
    fields = _read_spec(source, [span], _PIECE)
    text, score = fields.get("text", ""), fields.get("score", 0.0)
    if not isinstance(text, str) or not text:
        raise source.error(span[0], "a piece has no text")
    if not isinstance(score, float) or not math.isfinite(score):
        raise source.error(span[0], f"the score of piece {text!r:.40} is {score}")
    kind: PieceType = fields.get("type", "normal")  # type: ignore[assignment]
    return Piece(text, score, kind)


def _read_spec(
    source: _Source, spans: list[Span], table: Mapping[int, tuple[str, str]]
) -> dict[str, object]:
    """Read a message, which may come in several parts: of a field given twice the last counts."""
    found: dict[str, object] = {}
    for span in spans:
        for number, wire, value, offset in _fields(source, span):
            if number in table:
                name, kind = table[number]
                found[name] = _value(source, kind, wire, value, offset)
    return found


def _value(source: _Source, kind: str, wire: int, value: int, offset: int) -> object:
    expected = _WIRE_OF.get(kind, _VARINT)
    if wire != expected:
        raise source.error(offset, f"a field of wire type {wire}, where type {expected} is due")
    if kind == "float":
        return struct.unpack("<f", value.to_bytes(4, "little"))[0]
    if kind in ("str", "bytes"):
        start, end = _span(source, wire, value, offset)
        return _text(source, start, end) if kind == "str" else source.data[start:end]
    if kind == "bool":
        return value != 0
    if kind == "int":
        low = value & 0xFFFF_FFFF
        return low - (1 << 32) if low >> 31 else low
    known: Mapping[int, str] = _MODEL_TYPES if kind == "model_type" else _PIECE_TYPES
    if value not in known:
        raise source.error(offset, f"{kind} is {value}, which is none of {sorted(known)}")
    return known[value]


def _text(source: _Source, start: int, end: int) -> str:
    try:
        return source.data[start:end].decode()
    except UnicodeDecodeError as error:
        raise source.error(start + error.start, "a text is not UTF-8") from error


def _span(source: _Source, wire: int, value: int, offset: int) -> Span:
    """Give the place of the bytes of a field; ``value`` packs start and end."""
    if wire != _BYTES:
        raise source.error(offset, f"a field of wire type {wire}, where type {_BYTES} is due")
    return value >> 64, value & (1 << 64) - 1


def _fields(source: _Source, span: Span) -> Iterator[tuple[int, int, int, int]]:
    """Give number, wire type, value and offset of each field.

    The value of a field of bytes is their start and end, packed as ``start << 64 | end``.
    """
    at, end = span
    while at < end:
        offset = at
        key, at = _varint(source, at, end)
        number, wire = key >> 3, key & 7
        if number == 0 or number >= 1 << 29:
            raise source.error(offset, f"field number {number} is not from 1 to 2^29-1")
        if wire == _VARINT:
            value, at = _varint(source, at, end)
        elif wire == _BYTES:
            length, start = _varint(source, at, end)
            at = start + length
            value = start << 64 | at
        elif wire in (_FIXED32, _FIXED64):
            width = 4 if wire == _FIXED32 else 8
            value = int.from_bytes(source.data[at : at + width], "little")
            at += width
        else:
            raise source.error(offset, f"wire type {wire} of field {number} is not read")
        if at > end:
            raise source.error(
                offset, f"field {number} needs {at - offset} bytes, but {end - offset} are left"
            )
        yield number, wire, value, offset


def _varint(source: _Source, at: int, end: int) -> tuple[int, int]:
    """Read a number of 7 bits a byte; give it and the place after it."""
    value = 0
    for shift in range(0, 70, 7):
        if at >= end:
            raise source.error(at, "a number is cut short")
        byte = source.data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            if value >> 64:
                break
            return value, at
    raise source.error(at, "a number has more than 64 bits")

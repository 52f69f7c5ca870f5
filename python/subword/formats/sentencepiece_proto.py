"""The messages of SentencePiece's ``.model``: a protocol buffer, without its library.

Only the wire format is needed: each field is a number, a type and a value. Fields of the file
that say how it was trained, and others that are not named here, are passed over, as protocol
buffers ask of every reader; a named one with another type, or a length past its end, is refused.

Source: google/sentencepiece 0.2.3, src/sentencepiece_model.proto.
"""

import math
import struct
from collections.abc import Mapping
from dataclasses import dataclass, field
from os import PathLike
from typing import Final, Literal, NamedTuple

from subword.formats.json_file import read_bytes
from subword.formats.protobuf import (
    BYTES,
    FIXED32,
    VARINT,
    Source,
    Span,
    block,
    fields,
    float32,
    number,
    span_of,
)

__all__ = [
    "ModelType",
    "NormalizerSpec",
    "Piece",
    "PieceType",
    "SentencePieceModel",
    "TrainerSpec",
    "format_proto",
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
        offsets: The byte of the file at which each piece stands, for messages; empty for a model
            that is of no file.
    """

    pieces: tuple[Piece, ...]
    trainer: TrainerSpec
    normalizer: NormalizerSpec
    denormalizer: NormalizerSpec | None
    offsets: tuple[int, ...] = field(default=(), compare=False, repr=False)


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

_FLOAT: Final = struct.Struct("<f")
_KIND: Final = "SentencePiece model"
_WIRE_OF: Final = {"str": BYTES, "bytes": BYTES, "float": FIXED32}


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
    source = Source(data, path, _KIND)
    pieces, offsets, at = _usual_pieces(data)
    specs: dict[int, list[Span]] = {2: [], 3: [], 5: []}
    for field_number, wire, value, offset in fields(source, (at, len(data))):
        if field_number != 1 and field_number not in specs:
            continue
        span = span_of(source, wire, value, offset)
        if field_number != 1:
            specs[field_number].append(span)
            continue
        piece = _read_piece(source, span)
        if piece.text in pieces:
            raise source.error(offset, f"piece {len(pieces)}, {piece.text!r:.40}, stands twice")
        pieces[piece.text] = piece
        offsets.append(offset)
    if not pieces:
        raise source.error(len(data), "the model has no pieces")
    denormalizer = _read_spec(source, specs[5], _NORMALIZER)
    return SentencePieceModel(
        pieces=tuple(pieces.values()),
        trainer=TrainerSpec(**_read_spec(source, specs[2], _TRAINER)),  # type: ignore[arg-type]
        normalizer=NormalizerSpec(**_read_spec(source, specs[3], _NORMALIZER)),  # type: ignore[arg-type]
        denormalizer=NormalizerSpec(**denormalizer) if specs[5] else None,  # type: ignore[arg-type]
        offsets=tuple(offsets),
    )


def format_proto(model: SentencePieceModel) -> bytes:
    """Give the content of a model file; what ``parse_proto`` reads from it is equal."""
    types = {name: at for at, name in _PIECE_TYPES.items()}
    parts = [
        block(1, block(1, text.encode()) + float32(2, score) + number(3, types[kind]))
        for text, score, kind in model.pieces
    ]
    trainer = number(4, len(model.pieces)) + _format_spec(model.trainer, _TRAINER)
    parts += [block(2, trainer), block(3, _format_spec(model.normalizer, _NORMALIZER))]
    if model.denormalizer is not None:
        parts.append(block(5, _format_spec(model.denormalizer, _NORMALIZER)))
    return b"".join(parts)


def _format_spec(spec: object, table: Mapping[int, tuple[str, str]]) -> bytes:
    types = {name: at for at, name in _MODEL_TYPES.items()}
    parts = []
    for field_number, (name, kind) in table.items():
        value = getattr(spec, name)
        if kind in ("str", "bytes"):
            content = value.encode() if kind == "str" else value
            parts.append(block(field_number, content))
        else:
            parts.append(number(field_number, types[value] if kind == "model_type" else value))
    return b"".join(parts)


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


def _usual_pieces(data: bytes) -> tuple[dict[str, Piece], list[int], int]:
    """Read the pieces that a file begins with while they are written as the library does.

    That is: a text, a score and at most a type, in under 128 bytes. Gives the pieces, their
    offsets, and the place of the first field that is left: for the reader that names what is
    wrong. Reading this way takes a fifth of the time.
    """
    pieces: dict[str, Piece] = {}
    offsets: list[int] = []
    offset, end = 0, len(data) - 2
    while offset + 4 <= end and data[offset] == 0x0A and data[offset + 2] == 0x0A:
        start = offset + 4
        score_at = start + data[offset + 3]
        after = offset + 2 + data[offset + 1]
        if after > end or data[offset + 1] >= 0x80 or after - score_at not in (5, 7):
            break
        kind: PieceType | None = "normal"
        if after - score_at == 7:
            kind = _PIECE_TYPES.get(data[after - 1]) if data[after - 2] == 0x18 else None
        (score,) = _FLOAT.unpack_from(data, score_at + 1)
        try:
            text = data[start:score_at].decode()
        except UnicodeDecodeError:
            break
        is_whole = data[score_at] == 0x15 and text and text not in pieces and math.isfinite(score)
        if not is_whole or kind is None:
            break
        pieces[text] = Piece(text, score, kind)
        offsets.append(offset)
        offset = after
    return pieces, offsets, offset


def _read_piece(source: Source, span: Span) -> Piece:
    found = _read_spec(source, [span], _PIECE)
    text, score = found.get("text", ""), found.get("score", 0.0)
    if not isinstance(text, str) or not text:
        raise source.error(span[0], "a piece has no text")
    if not isinstance(score, float) or not math.isfinite(score):
        raise source.error(span[0], f"the score of piece {text!r:.40} is {score}")
    kind: PieceType = found.get("type", "normal")  # type: ignore[assignment]
    return Piece(text, score, kind)


def _read_spec(
    source: Source, spans: list[Span], table: Mapping[int, tuple[str, str]]
) -> dict[str, object]:
    """Read a message, which may come in several parts: of a field given twice the last counts."""
    found: dict[str, object] = {}
    for span in spans:
        for field_number, wire, value, offset in fields(source, span):
            if field_number in table:
                name, kind = table[field_number]
                found[name] = _value(source, kind, wire, value, offset)
    return found


def _value(source: Source, kind: str, wire: int, value: int, offset: int) -> object:
    expected = _WIRE_OF.get(kind, VARINT)
    if wire != expected:
        raise source.error(offset, f"a field of wire type {wire}, where type {expected} is due")
    if kind == "float":
        return _FLOAT.unpack(value.to_bytes(4, "little"))[0]
    if kind in ("str", "bytes"):
        start, end = span_of(source, wire, value, offset)
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


def _text(source: Source, start: int, end: int) -> str:
    try:
        return source.data[start:end].decode()
    except UnicodeDecodeError as error:
        raise source.error(start + error.start, "a text is not UTF-8") from error

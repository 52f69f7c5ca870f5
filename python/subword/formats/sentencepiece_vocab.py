r"""SentencePiece's ``.vocab``: a piece and its score a line, between them a tab.

The file is a list for people: it does not say what model the pieces are for, which of them are
control or user-defined pieces, or how text is normalized; sentencepiece writes scores with six
digits. All of that has to be given, or the ``.model`` be read instead. Scores that ``write`` wrote
are exact.

Source: google/sentencepiece 0.2.3, src/trainer_interface.cc, ``SaveVocab``.
"""

import math
from collections.abc import Iterable, Iterator
from os import PathLike

from subword.atomic_write import write_atomically
from subword.errors import FormatError
from subword.formats.json_file import decode_text, read_bytes
from subword.formats.reach import refuse_beside
from subword.formats.sentencepiece_model import faults, tokenizer_of
from subword.formats.sentencepiece_parts import check_equal, model_of
from subword.formats.sentencepiece_proto import (
    ModelType,
    NormalizerSpec,
    Piece,
    PieceType,
    SentencePieceModel,
    TrainerSpec,
)
from subword.tokenizer import Tokenizer

__all__ = ["read", "write"]


def read(
    path: str | PathLike[str],
    *,
    model_type: ModelType | None = None,
    normalizer: NormalizerSpec | None = None,
    control: Iterable[str] = ("<s>", "</s>"),
    user_defined: Iterable[str] = (),
    unk_piece: str = "<unk>",
    byte_fallback: bool = False,
) -> Tokenizer:
    """Read a tokenizer from its pieces and what the file does not hold.

    Args:
        path: The file.
        model_type: What the pieces are for; has to be given.
        normalizer: What is done to text; has to be given, ``NormalizerSpec()`` for the handling
            of spaces that sentencepiece has by default, and no charsmap.
        control: Pieces that text never becomes, as far as the file has them.
        user_defined: Pieces that text always becomes.
        unk_piece: The piece of what no piece covers.
        byte_fallback: Whether characters without a piece become pieces of their bytes.

    Raises:
        FormatError: A line that is no piece with a score, a piece twice, or an argument that is
            missing or names no piece; with the line where there is one.
        SourceError: The file cannot be read.
    """
    if model_type is None or normalizer is None:
        missing = "model_type" if model_type is None else "normalizer"
        raise FormatError(
            f"{path}: a .vocab does not say its {missing}; pass {missing}=, or load the .model"
        )
    kinds: dict[str, PieceType] = dict.fromkeys(user_defined, "user_defined")
    pieces = dict(_lines(path))
    for text in kinds:
        if text not in pieces:
            raise FormatError(f"{path}: the user-defined piece {text!r:.40} is not in the file")
    kinds |= dict.fromkeys(control, "control")
    kinds[unk_piece] = "unknown"
    if byte_fallback:
        kinds |= {f"<0x{byte:02X}>": "byte" for byte in range(256)}
    trainer = TrainerSpec(model_type=model_type, byte_fallback=byte_fallback, unk_piece=unk_piece)
    made = tuple(Piece(text, at, kinds.get(text, "normal")) for text, at in pieces.items())
    model = _model_read(made, trainer, normalizer)
    for at, message in faults(model):
        raise FormatError(f"{path}:{at + 1}: {message}")
    return tokenizer_of(model)


def write(tokenizer: Tokenizer, path: str | PathLike[str]) -> None:
    """Write the pieces of a tokenizer; what ``read`` takes as arguments is not in the file.

    Raises:
        FormatError: A tokenizer that no arguments of ``read`` give back, with the part; or a
            piece has a tab or an end of line.
        OSError: The file cannot be written.
    """
    model = model_of(tokenizer, str(path))
    read_back = tokenizer_of(_model_read(model.pieces, model.trainer, model.normalizer))
    check_equal(tokenizer, read_back, str(path))
    refuse_beside(tokenizer, f"{path}: a .vocab")
    for at, piece in enumerate(model.pieces):
        if "\t" in piece.text or "\n" in piece.text:
            raise FormatError(
                f"{path}: piece {at}, {piece.text!r:.40}, has a tab or an end of line, which a "
                ".vocab cannot hold; save a .model"
            )
    # Nine digits tell every number of 32 bits from its neighbours.
    lines = (f"{piece.text}\t{piece.score:.9g}\n".encode() for piece in model.pieces)
    write_atomically(path, list(lines))


def _model_read(
    pieces: tuple[Piece, ...], trainer: TrainerSpec, normalizer: NormalizerSpec
) -> SentencePieceModel:
    """Give the model that pieces are read as; of the trainer, what the arguments say."""
    plain = TrainerSpec(
        model_type=trainer.model_type,
        byte_fallback=trainer.byte_fallback,
        unk_piece=trainer.unk_piece,
    )
    return SentencePieceModel(
        pieces=pieces, trainer=plain, normalizer=normalizer, denormalizer=None
    )


def _lines(path: str | PathLike[str]) -> Iterator[tuple[str, float]]:
    lines = decode_text(read_bytes(path), path).split("\n")
    if lines[-1] == "":
        lines.pop()
    if not lines:
        raise FormatError(f"{path}: the file is empty; expected a piece and its score a line")
    first: dict[str, int] = {}
    for number, line in enumerate(lines, start=1):
        text, _, written = line.removesuffix("\r").rpartition("\t")
        try:
            score = float(written)
        except ValueError:
            score = math.nan
        if not text or not math.isfinite(score):
            raise FormatError(f"{path}:{number}: {line!r:.40} is not a piece, a tab and a number")
        if first.setdefault(text, number) != number:
            raise FormatError(f"{path}:{number}: {text!r:.40} stands on line {first[text]} too")
        yield text, score

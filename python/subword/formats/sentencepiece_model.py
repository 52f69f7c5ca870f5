"""SentencePiece's ``.model`` as a tokenizer: unigram, bpe, word and char models.

``encode`` gives what sentencepiece's ``encode`` gives without ``add_bos`` and ``add_eos``, and
``template=True`` what it gives with both, for the roles that the file has. As there, text never
becomes a control piece or the unknown piece by spelling it, whatever ``special`` says, and always
becomes a user-defined piece. Bytes that are not UTF-8 are characters without a piece: with byte
fallback they are kept, where sentencepiece puts U+FFFD.

Source: google/sentencepiece 0.2.3, src/sentencepiece_processor.cc and src/model_interface.cc.
"""

from os import PathLike

from subword import decoders
from subword.errors import FormatError, VocabularyError
from subword.formats.sentencepiece_proto import (
    NormalizerSpec,
    SentencePieceModel,
    read_proto,
    role_ids,
)
from subword.models import Model, Piece, Pieces, Unigram
from subword.normalizers import Charsmap, Normalizer, NormalizerStep, SentencePieceSpaces
from subword.special_tokens import TokenFlags
from subword.templates import Template, TemplatePart
from subword.tokenizer import Tokenizer

__all__ = ["is_model", "read", "tokenizer_of"]

_BYTES = frozenset(f"<0x{byte:02X}>" for byte in range(256))


def read(path: str | PathLike[str]) -> Tokenizer:
    """Read a tokenizer.

    Its special tokens are the control pieces and the unknown piece. The template has the begin
    and end pieces, where the file names such.

    Raises:
        FormatError: Not a model, or a damaged one, with the byte of the file: no unknown piece or
            several, byte pieces without byte fallback or byte fallback without all of them, or
            what ``parse_proto`` refuses.
        SourceError: The file cannot be read.
    """
    model = read_proto(path)
    _check(model, str(path))
    try:
        return tokenizer_of(model)
    except (VocabularyError, FormatError) as error:
        raise FormatError(f"{path}: {error}") from error


def is_model(data: bytes) -> bool:
    """Say whether content begins as that of a model does: with a piece and its text."""
    if len(data) < 4 or data[0] != 0x0A or data[2] != 0x0A:
        return False
    return 0 < data[3] < data[1] < 0x80


def tokenizer_of(model: SentencePieceModel) -> Tokenizer:
    """Make the tokenizer of a model that has one unknown piece.

    Raises:
        VocabularyError: The pieces can be no vocabulary.
        FormatError: A damaged charsmap.
    """
    kinds = ("control", "unknown")
    special = {piece.text: at for at, piece in enumerate(model.pieces) if piece.type in kinds}
    return Tokenizer(
        _model(model),
        special,
        normalizer=_normalizer(model),
        token_flags=dict.fromkeys(special, TokenFlags(control=True)),
        template=_template(model),
        decoder=_decoder(model),
    )


def _check(model: SentencePieceModel, path: str) -> None:
    def refuse(at: int, message: str) -> FormatError:
        offset = model.offsets[at] if at < len(model.offsets) else "the end"
        return FormatError(f"{path}: byte {offset}: {message}; sentencepiece refuses it too")

    unknown = [at for at, piece in enumerate(model.pieces) if piece.type == "unknown"]
    if not unknown:
        raise refuse(
            len(model.pieces),
            f"none of {len(model.pieces)} pieces is the unknown one; expected one",
        )
    if len(unknown) > 1:
        text = model.pieces[unknown[1]].text
        raise refuse(unknown[1], f"piece {unknown[1]}, {text!r:.40}, is a second unknown piece")
    spelled = {piece.text for piece in model.pieces if piece.type == "byte"}
    for at, piece in enumerate(model.pieces):
        if piece.type == "byte" and piece.text not in _BYTES:
            raise refuse(
                at, f"piece {at}, {piece.text!r:.40}, is a byte; expected '<0x00>' to '<0xFF>'"
            )
        if piece.type == "byte" and not model.trainer.byte_fallback:
            raise refuse(at, f"piece {at}, {piece.text!r:.40}, is a byte, but byte_fallback is off")
    missing = sorted(_BYTES - spelled) if model.trainer.byte_fallback else []
    if missing:
        raise refuse(
            len(model.pieces),
            f"byte_fallback is on, but {len(missing)} byte pieces are missing, {missing[0]} first",
        )


def _model(model: SentencePieceModel) -> Model:
    pieces = tuple(Piece(text.encode(), score, kind) for text, score, kind in model.pieces)
    unk_id = next(at for at, piece in enumerate(pieces) if piece.kind == "unknown")
    kind, byte_fallback = model.trainer.model_type, model.trainer.byte_fallback
    if kind == "unigram":
        return Unigram(pieces, unk_id, byte_fallback)
    return Pieces(kind, pieces, unk_id, byte_fallback)


def _normalizer(model: SentencePieceModel) -> Normalizer:
    spec = model.normalizer
    steps: list[NormalizerStep] = []
    if spec.precompiled_charsmap:
        keep = [piece.text for piece in model.pieces if piece.type == "user_defined"]
        steps.append(Charsmap(spec.precompiled_charsmap, keep=tuple(keep)))
    steps.append(_spaces(spec, as_suffix=model.trainer.treat_whitespace_as_suffix))
    return tuple(steps)


def _spaces(spec: NormalizerSpec, *, as_suffix: bool) -> SentencePieceSpaces:
    return SentencePieceSpaces(
        spec.add_dummy_prefix,
        spec.remove_extra_whitespaces,
        spec.escape_whitespaces,
        as_suffix,
    )


def _template(model: SentencePieceModel) -> Template:
    roles = role_ids(model)

    def parts(role: str) -> tuple[TemplatePart, ...]:
        return (TemplatePart(model.pieces[roles[role]].text),) if role in roles else ()

    if not roles.keys() & {"bos", "eos"}:
        return Template()
    return Template((*parts("bos"), TemplatePart(), *parts("eos")))


def _decoder(model: SentencePieceModel) -> decoders.Decoder:
    spec = model.normalizer
    step = decoders.SentencePiece(
        control=frozenset(piece.text for piece in model.pieces if piece.type == "control"),
        unknown=next(piece.text for piece in model.pieces if piece.type == "unknown"),
        unknown_surface=model.trainer.unk_surface,
        byte_fallback=model.trainer.byte_fallback,
        strip_prefix=spec.add_dummy_prefix,
        strip_all=spec.remove_extra_whitespaces,
    )
    last = model.denormalizer
    if last is None or not last.precompiled_charsmap:
        return (step,)
    steps = (Charsmap(last.precompiled_charsmap), _spaces(last, as_suffix=False))
    return (step, decoders.Normalize(steps))

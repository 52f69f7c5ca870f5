"""SentencePiece's ``.model`` as a tokenizer: unigram, bpe, word and char models.

``encode`` gives what sentencepiece's ``encode`` gives without ``add_bos`` and ``add_eos``, and
``template=True`` what it gives with both, for the roles that the file has. As there, text never
becomes a control piece or the unknown piece by spelling it, whatever ``special`` says, and always
becomes a user-defined piece. Bytes that are not UTF-8 are characters without a piece: with byte
fallback they are kept, where sentencepiece puts U+FFFD.

Source: google/sentencepiece 0.2.3, src/sentencepiece_processor.cc and src/model_interface.cc.
"""

from collections.abc import Iterator
from os import PathLike

from subword import decoders
from subword.atomic_write import write_atomically
from subword.errors import FormatError, VocabularyError
from subword.formats.json_file import read_bytes
from subword.formats.reach import refuse_beside
from subword.formats.sentencepiece_parts import check_equal, model_of, to_sentencepiece
from subword.formats.sentencepiece_proto import (
    NormalizerSpec,
    SentencePieceModel,
    format_proto,
    parse_proto,
    role_ids,
)
from subword.models import Model, Piece, Pieces, Unigram
from subword.normalizers import Charsmap, Normalizer, NormalizerStep, SentencePieceSpaces
from subword.special_tokens import TokenFlags
from subword.templates import Template, TemplatePart
from subword.tokenizer import Tokenizer

__all__ = ["faults", "is_model", "read", "to_sentencepiece", "tokenizer_of", "write"]

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
    data = read_bytes(path)
    model = parse_proto(data, str(path))
    for at, message in faults(model):
        offset = (*model.offsets, len(data))[at]
        raise FormatError(f"{path}: byte {offset}: {message}; sentencepiece refuses it too")
    try:
        return tokenizer_of(model)
    except (VocabularyError, FormatError) as error:
        raise FormatError(f"{path}: {error}") from error


def write(tokenizer: Tokenizer, path: str | PathLike[str]) -> None:
    """Write a model that sentencepiece loads, and that gives the same ids there.

    Begin and end pieces are those of the template; without a template they are the control pieces
    of sentencepiece's own names, ``<s>`` and ``</s>``. Scores are rounded to 32 bits, as the model
    itself rounds them.

    Raises:
        FormatError: The format cannot hold the tokenizer, with the part that it cannot hold;
            ``to_sentencepiece`` gives a tokenizer that it can.
        OSError: The file cannot be written.
    """
    model = model_of(tokenizer, str(path))
    for _, message in faults(model):
        raise FormatError(f"{path}: {message}; sentencepiece would refuse the file")
    check_equal(tokenizer, tokenizer_of(model), str(path))
    refuse_beside(tokenizer, f"{path}: a model file")
    write_atomically(path, [format_proto(model)])


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


def faults(model: SentencePieceModel) -> Iterator[tuple[int, str]]:
    """Give what sentencepiece, too, would refuse: the number of the piece, and what is wrong.

    What is wrong with none has the number after the last.
    """
    unknown = [at for at, piece in enumerate(model.pieces) if piece.type == "unknown"]
    behind = len(model.pieces)
    if not unknown:
        yield behind, f"none of {behind} pieces is the unknown one; expected one"
    for at in unknown[1:]:
        yield at, f"piece {at}, {model.pieces[at].text!r:.40}, is a second unknown piece"
    spelled = set()
    for at, piece in enumerate(model.pieces):
        if piece.type != "byte":
            continue
        spelled.add(piece.text)
        if piece.text not in _BYTES:
            yield at, f"piece {at}, {piece.text!r:.40}, is a byte; expected '<0x00>' to '<0xFF>'"
        if not model.trainer.byte_fallback:
            yield at, f"piece {at}, {piece.text!r:.40}, is a byte, but byte_fallback is off"
    missing = sorted(_BYTES - spelled) if model.trainer.byte_fallback else []
    if missing:
        yield behind, f"byte_fallback is on, but {len(missing)} byte pieces lack, as {missing[0]}"


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
    if spec.add_dummy_prefix or spec.remove_extra_whitespaces or spec.escape_whitespaces:
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

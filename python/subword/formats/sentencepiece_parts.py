"""What a tokenizer must be like for SentencePiece's ``.model`` to hold it."""

import struct
from collections.abc import Sequence
from dataclasses import replace

from subword import decoders
from subword.errors import FormatError
from subword.formats.sentencepiece_proto import (
    ModelType,
    NormalizerSpec,
    Piece,
    SentencePieceModel,
    TrainerSpec,
)
from subword.models import Model, Pieces, Unigram
from subword.normalizers import Charsmap, Normalizer, SentencePieceSpaces
from subword.special_tokens import TokenFlags
from subword.templates import Template
from subword.tokenizer import Tokenizer

__all__ = ["check_equal", "model_of", "to_sentencepiece"]

_SPACE, _MARK = b" ", "▁".encode()
_WAY_ON = "subword.formats.sentencepiece_model.to_sentencepiece gives a tokenizer that it holds"


def to_sentencepiece(tokenizer: Tokenizer) -> Tokenizer:
    """Give the tokenizer that sentencepiece would run with the same pieces.

    It has no split pattern, its special tokens are control pieces, which are never found in text,
    and spaces in its pieces are ``▁``, as they become in text. Ids stay the same where no piece
    reaches over a cut of the pattern, and no text spells a special token.

    Args:
        tokenizer: One of pieces, such as ``train_unigram`` gives, that normalizes nothing.

    Raises:
        FormatError: It is none of these.
    """
    model = _checked(tokenizer.model, "the tokenizer")
    if tokenizer.normalizer or tokenizer.pretokenizer is not None:
        raise _refusal("the tokenizer", "it has a normalizer or a pretokenizer of its own")
    pieces = tuple(replace(p, text=p.text.replace(_SPACE, _MARK)) for p in model.pieces)
    model = replace(model, pieces=pieces)
    if isinstance(model, Unigram):
        model = replace(model, fuse_unknown=True, single_precision=True)
    names = {piece.text: piece.kind for piece in pieces}
    control = [
        token for token in tokenizer.special_tokens if names.get(token.encode()) == "control"
    ]
    unknown = pieces[model.unk_id].text.decode()
    decoder = decoders.SentencePiece(
        control=frozenset(control),
        unknown=unknown,
        byte_fallback=model.byte_fallback,
        strip_prefix=False,
    )
    return tokenizer.replace(
        model=model,
        pattern="none",
        normalizer=(SentencePieceSpaces(add_dummy_prefix=False, remove_extra_whitespaces=False),),
        token_flags=dict.fromkeys(tokenizer.special_tokens, TokenFlags(control=True)),
        decoder=(decoder,),
    )


def model_of(tokenizer: Tokenizer, path: str) -> SentencePieceModel:
    """Give what a file would hold; ``check_equal`` tells whether that is the tokenizer.

    Raises:
        FormatError: Pieces are not what the tokenizer is made of, or not what normalizes it.
    """
    model = _checked(tokenizer.model, path)
    pieces = _pieces(model, path)
    kind: ModelType = model.kind if isinstance(model, Pieces) else "unigram"
    charsmap, spaces = _charsmap_and_spaces(tokenizer.normalizer, path)
    trainer = TrainerSpec(
        model_type=kind,
        byte_fallback=model.byte_fallback,
        treat_whitespace_as_suffix=spaces.treat_whitespace_as_suffix,
        unk_piece=next((piece.text for piece in pieces if piece.type == "unknown"), "<unk>"),
    )
    step = tokenizer.decoder[0] if tokenizer.decoder else None
    if isinstance(step, decoders.SentencePiece):
        trainer = replace(trainer, unk_surface=step.unknown_surface)
    return SentencePieceModel(
        pieces=pieces,
        trainer=_with_roles(trainer, tokenizer.template, pieces),
        normalizer=_normalizer_spec(charsmap, spaces),
        denormalizer=_denormalizer(tokenizer.decoder, path),
    )


def check_equal(tokenizer: Tokenizer, made: Tokenizer, path: str) -> None:
    """Refuse a tokenizer that a file would not bring back, by the part that differs.

    Raises:
        FormatError: Names the part.
    """
    if tokenizer.pattern or tokenizer.pretokenizer is not None:
        raise _refusal(path, "a model file has no split pattern and no pretokenizer")
    for token, token_id in tokenizer.special_tokens.items():
        if made.special_tokens.get(token) != token_id:
            raise _refusal(path, f"special token {token!r:.40} is no control piece with its id")
        if tokenizer.token_flags.get(token) != made.token_flags[token]:
            raise _refusal(
                path,
                f"special token {token!r:.40} is found in text, where control pieces never are",
            )
    model, other = tokenizer.model, made.model
    for name in ("unk_id", "byte_fallback", "fuse_unknown", "single_precision"):
        value = getattr(model, name, None)
        if value != getattr(other, name, None):
            raise _refusal(path, f"{name} is {value}, as it never is in sentencepiece")
    parts = {
        "normalizer": (tokenizer.normalizer, made.normalizer),
        "decoder": (tokenizer.decoder, made.decoder),
        "template": (
            tokenizer.template,
            made.template if tokenizer.template.single else Template(),
        ),
    }
    for name, (ours, theirs) in parts.items():
        if ours != theirs:
            shown = f"{ours!r:.60}, where sentencepiece does {theirs!r:.60}"
            raise _refusal(path, f"the {name} is {shown}")


def _refusal(path: str, message: str) -> FormatError:
    return FormatError(f"{path}: SentencePiece's format cannot hold this: {message}; {_WAY_ON}")


def _checked(model: Model, path: str) -> Unigram | Pieces:
    if not isinstance(model, Unigram | Pieces):
        raise _refusal(path, f"the model is {type(model).__name__}, not one of pieces")
    return model


def _pieces(model: Unigram | Pieces, path: str) -> tuple[Piece, ...]:
    pieces = []
    for at, piece in enumerate(model.pieces):
        try:
            (score,) = struct.unpack("<f", struct.pack("<f", piece.score))
        except OverflowError as error:
            message = f"the score {piece.score} of piece {at} does not fit in 32 bits"
            raise _refusal(path, message) from error
        pieces.append(Piece(piece.text.decode(), score, piece.kind))
    distinct = {piece.score for piece in model.pieces}
    if isinstance(model, Pieces) and len({piece.score for piece in pieces}) != len(distinct):
        raise _refusal(path, "scores that differ are equal in 32 bits, which would change merges")
    return tuple(pieces)


def _charsmap_and_spaces(
    normalizer: Normalizer, path: str
) -> tuple[Charsmap | None, SentencePieceSpaces]:
    steps = list(normalizer)
    charsmap = steps.pop(0) if steps and isinstance(steps[0], Charsmap) else None
    spaces = SentencePieceSpaces(
        add_dummy_prefix=False, remove_extra_whitespaces=False, escape_whitespaces=False
    )
    if steps and isinstance(steps[0], SentencePieceSpaces):
        spaces = steps.pop(0)  # type: ignore[assignment]
    if steps:
        raise _refusal(path, f"the normalizer has the step {steps[0]!r:.60}")
    return charsmap, spaces  # type: ignore[return-value]


def _normalizer_spec(charsmap: Charsmap | None, spaces: SentencePieceSpaces) -> NormalizerSpec:
    return NormalizerSpec(
        name="user_defined" if charsmap else "identity",
        precompiled_charsmap=charsmap.data if charsmap else b"",
        add_dummy_prefix=spaces.add_dummy_prefix,
        remove_extra_whitespaces=spaces.remove_extra_whitespaces,
        escape_whitespaces=spaces.escape_whitespaces,
    )


def _denormalizer(decoder: decoders.Decoder, path: str) -> NormalizerSpec | None:
    step = decoder[1] if len(decoder) == 2 else None
    if not isinstance(step, decoders.Normalize):
        return None
    return _normalizer_spec(*_charsmap_and_spaces(step.steps, path))


def _with_roles(trainer: TrainerSpec, template: Template, pieces: Sequence[Piece]) -> TrainerSpec:
    """Say which control pieces begin, end and fill up; the spelling of no piece where none does."""
    control = {piece.text for piece in pieces if piece.type == "control"}
    if "<pad>" not in control and "[PAD]" in control:
        trainer = replace(trainer, pad_piece="[PAD]")
    if template.single:
        taken = {piece.text for piece in pieces}
        absent = next(name for n in range(len(taken) + 1) if (name := f"<none{n}>") not in taken)
        first, last = template.single[0].token, template.single[-1].token
        trainer = replace(trainer, bos_piece=first or absent, eos_piece=last or absent)
    special = ("control", "unknown")
    ids = {piece.text: at for at, piece in enumerate(pieces) if piece.type in special}
    return replace(
        trainer,
        unk_id=ids.get(trainer.unk_piece, -1),
        bos_id=ids.get(trainer.bos_piece, -1),
        eos_id=ids.get(trainer.eos_piece, -1),
        pad_id=ids.get(trainer.pad_piece, -1),
    )

"""SentencePiece's BPE in a ``tokenizer.json``: as merges, in the parts that Llama's files have.

Control and unknown pieces are no added tokens, since HF looks for those in text, where
sentencepiece never finds a control piece. Scores, kinds and what unknown pieces decode to stand in
``model.subword.pieces``, with a digest of them and of the merges made of them: to make these again
takes longer than all other reading, and a file that was changed by hand is refused all the same.

Source: huggingface/transformers 4, ``convert_slow_tokenizer.py`` (``LlamaConverter``);
huggingface/tokenizers 0.23.3, tokenizers/src/tokenizer/added_vocabulary.rs.
"""

import hashlib
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, get_args

import numpy as np

from subword import decoders
from subword.decoders import Decoder
from subword.errors import FormatError
from subword.formats.json_file import checked, refuse_others
from subword.formats.piece_merges import merges_of_pieces
from subword.models import CharacterBpe, Piece, PieceKind, Pieces
from subword.normalizers import Charsmap, Normalizer, Prepend, Replace, SentencePieceSpaces
from subword.special_tokens import TokenFlags
from subword.tokenizer import Tokenizer
from subword.types import Pair

__all__ = ["as_character_bpe", "is_held", "read_pieces", "write_pieces"]

_MARK: Final = "▁"
_KINDS: Final = get_args(PieceKind)
_USER_DEFINED: Final = TokenFlags(special=False, normalized=True)


def is_held(tokenizer: Tokenizer) -> bool:
    """Say whether ``as_character_bpe`` is to write a tokenizer: one of SentencePiece's BPE."""
    return isinstance(tokenizer.model, Pieces) and tokenizer.model.kind == "bpe"


def as_character_bpe(tokenizer: Tokenizer) -> Tokenizer:
    """Give the tokenizer of HF's parts that has the same ids.

    User-defined pieces become added tokens, found in normalized text.

    Args:
        tokenizer: One of SentencePiece's BPE.

    Raises:
        FormatError: HF's parts would give other ids, with the part that would.
    """
    model = tokenizer.model
    if not isinstance(model, Pieces):
        raise _refusal(f"a {type(model).__name__} model is not one of pieces")
    if tokenizer.pattern or tokenizer.pretokenizer is not None:
        raise _refusal("SentencePiece's BPE has no split pattern and no pretokenizer")
    parts = _equal_parts(model, tokenizer.normalizer, tokenizer.decoder)
    parts["model"] = replace(parts["model"], merges=_merges(model))
    found = _of_kind(model, "user_defined")
    if found:
        _check_special(tokenizer, found)
    return tokenizer.replace(
        **parts,
        special_tokens={**tokenizer.special_tokens, **found},
        token_flags={**tokenizer.token_flags, **dict.fromkeys(found, _USER_DEFINED)},
    )


def write_pieces(tokenizer: Tokenizer, written: Tokenizer) -> dict[str, object]:
    """Give what a tokenizer has and the one that ``as_character_bpe`` gave for it does not hold."""
    pieces = tokenizer.model.pieces if isinstance(tokenizer.model, Pieces) else ()
    step = tokenizer.decoder[0]
    return {
        "unknown_surface": getattr(step, "unknown_surface", ""),
        "sha256": _digest(pieces, getattr(written.model, "merges", ())),
        "kinds": [[at, piece.kind] for at, piece in enumerate(pieces) if piece.kind != "normal"],
        "scores": [piece.score for piece in pieces],
    }


def read_pieces(parts: Mapping[str, Any], found: Any, place: str) -> dict[str, Any]:
    """Give the fields of the tokenizer that was written.

    Args:
        parts: The fields that the rest of the file says.
        found: What ``write_pieces`` gave.
        place: Where it stands.

    Raises:
        FormatError: Damaged, or not what the rest of the file is made of.
    """
    fields = checked(found, dict, place)
    refuse_others(fields, {"unknown_surface", "sha256", "kinds", "scores"}, place)
    model = _read_model(parts["model"], fields, place)
    merges = parts["model"].merges
    if _digest(model.pieces, merges) != fields.get("sha256"):
        raise _stale("one of vocab, merges, kinds and scores", place)
    normalizer = _read_spaces(parts["normalizer"])
    surface = checked(fields.get("unknown_surface"), str, f"{place}.unknown_surface")
    is_stripped = any(isinstance(step, decoders.Strip) for step in parts["decoder"])
    decoder = (_decoder(model, surface, strip_prefix=is_stripped),)
    made = _equal_parts(model, normalizer, decoder) | {"pattern": (), "pretokenizer": None}
    made["model"] = replace(made["model"], merges=merges)
    for name, part in made.items():
        if part != parts[name]:
            raise _stale(name, place)
    special, flags = _without_added(model, parts, place)
    return {
        "model": model,
        "normalizer": normalizer,
        "decoder": decoder,
        "special_tokens": special,
        "token_flags": flags,
    }


def _without_added(
    model: Pieces, parts: Mapping[str, Any], place: str
) -> tuple[dict[str, int], dict[str, TokenFlags]]:
    """Give special tokens and flags without those of user-defined pieces."""
    special, flags = dict(parts["special_tokens"]), dict(parts["token_flags"])
    for token, token_id in _of_kind(model, "user_defined").items():
        if (special.pop(token, None), flags.pop(token, None)) != (token_id, _USER_DEFINED):
            raise _stale(f"the added token {token!r:.40}", place)
    return special, flags


def _check_special(tokenizer: Tokenizer, found: Mapping[str, int]) -> None:
    """Refuse special tokens that HF would look for together with user-defined pieces."""
    for token in tokenizer.special_tokens:
        own = tokenizer.token_flags.get(token, TokenFlags())
        if token in found or (own.normalized and not own.control):
            raise _refusal(
                f"special token {token!r:.40} is looked for before user-defined pieces are, and "
                "HF tokenizers looks for both at once"
            )


def _equal_parts(model: Pieces, normalizer: Normalizer, decoder: Decoder) -> dict[str, Any]:
    """Give model, normalizer and decoder as HF's; the model has no merges yet.

    Raises:
        FormatError: They would not do the same.
    """
    spaces = _spaces(normalizer)
    _check_pieces(model, spaces)
    prefix = (Prepend(_MARK),) if spaces.add_dummy_prefix else ()
    return {
        "model": CharacterBpe(
            model.vocab,
            (),
            unk_token=model.pieces[model.unk_id].text.decode(),
            fuse_unk=True,
            byte_fallback=model.byte_fallback,
        ),
        "normalizer": (*prefix, Replace(" ", _MARK)),
        "decoder": _equal_decoder(model, decoder),
    }


def _merges(model: Pieces) -> tuple[Pair, ...]:
    try:
        return merges_of_pieces(model)
    except FormatError as error:
        raise _refusal(str(error)) from error


def _digest(pieces: Sequence[Piece], merges: Sequence[Pair]) -> str:
    """Give the SHA-256 of texts, kinds, scores and merges, each with its length before it."""
    listed = [b"\0".join(piece.text for piece in pieces)]
    listed.append("\0".join(piece.kind for piece in pieces).encode())
    listed.append(np.array([piece.score for piece in pieces], "<f8").tobytes())
    listed.append(np.array(merges, "<u4").tobytes())
    digest = hashlib.sha256()
    for data in listed:
        digest.update(len(data).to_bytes(8, "little") + data)
    return digest.hexdigest()


def _spaces(normalizer: Normalizer) -> SentencePieceSpaces:
    """Give the step that writes spaces, where Prepend and Replace do the same."""
    if len(normalizer) != 1 or not isinstance(normalizer[0], SentencePieceSpaces):
        if any(isinstance(step, Charsmap) for step in normalizer):
            raise _refusal("the normalizer has a charsmap, which changes text before spaces do")
        raise _refusal(f"the normalizer is {normalizer!r:.60}; expected SentencePieceSpaces alone")
    step = normalizer[0]
    if step.remove_extra_whitespaces:
        raise _refusal("the normalizer has remove_extra_whitespaces, which HF tokenizers lacks")
    if step.treat_whitespace_as_suffix:
        raise _refusal("the normalizer has treat_whitespace_as_suffix, which HF tokenizers lacks")
    if not step.escape_whitespaces:
        raise _refusal("the normalizer leaves spaces as they are (escape_whitespaces is off)")
    return step


def _check_pieces(model: Pieces, spaces: SentencePieceSpaces) -> None:
    """Refuse pieces that HF would find where sentencepiece does not, or the other way round."""
    for piece in model.pieces:
        fault = _fault(piece, spaces)
        if fault:
            raise _refusal(f"the {piece.kind} piece {piece.text.decode()!r:.40} {fault}")


def _fault(piece: Piece, spaces: SentencePieceSpaces) -> str:
    is_found = piece.kind in ("normal", "user_defined")
    if not _is_number(piece.score):
        return f"has the score {piece.score}, which JSON lacks"
    if piece.kind == "unused":
        return "is merged and then taken apart again, which HF tokenizers does not do"
    if not is_found and len(piece.text.decode()) == 1:
        return "is one character, which HF tokenizers would find in text"
    if piece.kind == "user_defined" and spaces.add_dummy_prefix:
        return (
            "stands beside add_dummy_prefix, and HF tokenizers would put another '▁' behind it; "
            "make it a control piece, which no text gives, to leave it out"
        )
    if piece.kind == "user_defined" and b" " in piece.text:
        return "has a space, so that sentencepiece never finds it, and HF tokenizers would"
    return ""


def _equal_decoder(model: Pieces, decoder: Decoder) -> Decoder:
    """Give HF's steps; they differ in what control and unknown pieces become."""
    step = decoder[0] if len(decoder) == 1 else None
    if not isinstance(step, decoders.SentencePiece) or step != _decoder(
        model, step.unknown_surface, strip_prefix=step.strip_prefix
    ):
        raise _refusal(f"the decoder is {decoder!r:.60}, and not SentencePiece's for these pieces")
    return (
        decoders.Replace(_MARK, " "),
        *([decoders.ByteFallback()] if model.byte_fallback else []),
        decoders.Fuse(),
        *([decoders.Strip(" ", start=1)] if step.strip_prefix else []),
    )


def _decoder(model: Pieces, surface: str, *, strip_prefix: bool) -> decoders.SentencePiece:
    return decoders.SentencePiece(
        control=frozenset(_of_kind(model, "control")),
        unknown=model.pieces[model.unk_id].text.decode(),
        unknown_surface=surface,
        byte_fallback=model.byte_fallback,
        strip_prefix=strip_prefix,
    )


def _of_kind(model: Pieces, kind: PieceKind) -> dict[str, int]:
    """Give the ids of the pieces of a kind."""
    pieces = enumerate(model.pieces)
    return {piece.text.decode(): at for at, piece in pieces if piece.kind == kind}


def _read_model(model: Any, fields: Mapping[str, Any], place: str) -> Pieces:
    if not isinstance(model, CharacterBpe) or list(model.vocab) != list(range(len(model.vocab))):
        raise _stale("model.vocab", place)
    scores = checked(fields.get("scores"), list, f"{place}.scores")
    if len(scores) != len(model.vocab) or not all(map(_is_number, scores)):
        raise FormatError(f"{place}.scores: expected {len(model.vocab)} numbers, one for each id")
    texts = model.vocab.values()
    pieces = [Piece(text, float(score)) for text, score in zip(texts, scores, strict=True)]
    for entry in checked(fields.get("kinds"), list, f"{place}.kinds"):
        if type(entry) is not list or len(entry) != 2 or entry[1] not in _KINDS:
            message = f"expected an id and one of {_KINDS}, got {entry!r:.60}"
            raise FormatError(f"{place}.kinds: {message}")
        at = checked(entry[0], int, f"{place}.kinds")
        if not 0 <= at < len(pieces):
            raise FormatError(f"{place}.kinds names piece {at} of {len(pieces)}")
        pieces[at] = replace(pieces[at], kind=entry[1])
    wanted = (model.unk_token or "").encode()
    unk_id = next((at for at, text in model.vocab.items() if text == wanted), None)
    if unk_id is None:
        raise _stale("model.unk_token", place)
    return Pieces("bpe", tuple(pieces), unk_id, model.byte_fallback)


def _is_number(score: Any) -> bool:
    return type(score) in (int, float) and abs(score) <= sys.float_info.max


def _read_spaces(normalizer: Normalizer) -> Normalizer:
    has_prefix = any(isinstance(step, Prepend) for step in normalizer)
    return (SentencePieceSpaces(add_dummy_prefix=has_prefix, remove_extra_whitespaces=False),)


def _refusal(reason: str) -> FormatError:
    return FormatError(f"tokenizer.json cannot hold this SentencePiece model: {reason}")


def _stale(name: str, place: str) -> FormatError:
    return FormatError(
        f"{place}: {name} is not what was written with these pieces; undo the change"
    )

"""``model.subword`` of a ``tokenizer.json``: what a tokenizer knows and the format does not.

HF's reader passes over unknown fields of a model, and nowhere else.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final, get_args

from subword.errors import FormatError
from subword.formats.hf_pieces import read_pieces
from subword.formats.json_file import checked, read_chat, refuse_others
from subword.formats.oniguruma import from_oniguruma, to_oniguruma
from subword.models import (
    Bpe,
    CharacterBpe,
    Model,
    Piece,
    PieceKind,
    Ties,
    Training,
    Unigram,
    WordPiece,
    Words,
)
from subword.patterns import Pattern
from subword.pretokens import Split
from subword.special_tokens import TokenFlags
from subword.templates import Template
from subword.tokenizer import Tokenizer
from subword.types import TokenId

__all__ = ["read_block", "read_control", "write_block"]

_FIELDS: Final = {
    "version",
    "pattern",
    "special_in_model",
    "ties",
    "min_frequency",
    "merge_counts",
    "kinds",
    "single_precision",
    "refuses_unknown",
    "joins_no_pair",
    "has_steps",
    "control",
    "roles",
    "chat_template",
    "pieces",
}
_KINDS: Final = get_args(PieceKind)


def write_block(tokenizer: Tokenizer) -> dict[str, object]:
    """Give what only subword reads."""
    model, special_ids = tokenizer.model, set(tokenizer.special_tokens.values())
    block: dict[str, object] = {"version": 1, "pattern": list(tokenizer.pattern)}
    block["special_in_model"] = [token_id for token_id in model.vocab if token_id in special_ids]
    training = None if isinstance(model, Unigram) else getattr(model, "training", None)
    if training is not None:
        block["ties"] = training.ties
        block["min_frequency"] = training.min_frequency
        block["merge_counts"] = list(training.merge_counts)
    if isinstance(model, Unigram):
        block["single_precision"] = model.single_precision
        odd = {at: piece.kind for at, piece in enumerate(model.pieces) if piece.kind != "normal"}
        block["kinds"] = [[at, kind] for at, kind in odd.items()]
    elif not isinstance(model, Bpe | CharacterBpe) and getattr(model, "unk_token", "") is None:
        block["refuses_unknown"] = True
    if tokenizer.pretokenizer is not None:
        block["has_steps"] = True
    if tokenizer.template.single and not tokenizer.template.pair:
        block["joins_no_pair"] = True
    control = {text: own.special for text, own in tokenizer.token_flags.items() if own.control}
    if control:
        block["control"] = control
    if tokenizer.roles:
        block["roles"] = dict(tokenizer.roles)
    if tokenizer.chat_template is not None:
        block["chat_template"] = tokenizer.chat_template
    return block


def read_block(parts: Mapping[str, Any], found: Any, place: str) -> dict[str, Any]:
    """Give the fields of a tokenizer that only subword's block says.

    Args:
        parts: The fields that the rest of the file says.
        found: The block.
        place: Where it stands.

    Raises:
        FormatError: A damaged block, or one that does not fit the rest of the file.
    """
    block = checked(found, dict, place)
    refuse_others(block, _FIELDS, place)
    if block.get("version") != 1:
        raise FormatError(f"{place}.version is {block.get('version')!r:.40}; this reads 1")
    model = _read_model(parts["model"], parts["special_tokens"], block, place)
    changes: dict[str, Any] = {"model": model}
    if "pieces" in block:
        changes |= read_pieces({**parts, **changes}, block["pieces"], f"{place}.pieces")
    if block.get("has_steps"):
        # Steps that are all patterns are read as such.
        if parts["pretokenizer"] is None:
            changes["pretokenizer"] = tuple(map(Split, parts["pattern"]))
        changes["pattern"] = _spelt_pattern(block, place)
    elif parts["pretokenizer"] is None:
        changes["pattern"] = _read_pattern(block, parts["pattern"], place)
    if block.get("joins_no_pair"):
        changes["template"] = Template(parts["template"].single)
    if "roles" in block:
        roles = checked(block["roles"], dict, f"{place}.roles")
        changes["roles"] = {
            role: checked(token, str, f"{place}.roles.{role}") for role, token in roles.items()
        }
    if "chat_template" in block:
        changes["chat_template"] = read_chat(block["chat_template"], f"{place}.chat_template")
    return changes


def read_control(found: Any, vocab: Mapping[str, TokenId], place: str) -> dict[str, TokenFlags]:
    """Give the control tokens, which stand in the vocabulary and are no added tokens.

    Raises:
        FormatError: A damaged block, or a token that is not in the vocabulary.
    """
    block = checked({} if found is None else found, dict, place)
    flags: dict[str, TokenFlags] = {}
    for text, special in checked(block.get("control", {}), dict, f"{place}.control").items():
        if text not in vocab:
            raise FormatError(f"{place}.control: {text!r:.40} is not in the vocabulary")
        is_special = checked(special, bool, f"{place}.control[{text!r:.40}]")
        flags[text] = TokenFlags(special=is_special, control=True)
    return flags


def _read_model(
    model: Model, special: Mapping[str, TokenId], block: Mapping[str, Any], place: str
) -> Model:
    ids = checked(block.get("special_in_model"), list, f"{place}.special_in_model")
    kept = {checked(at, int, f"{place}.special_in_model") for at in ids}
    match model:
        case Bpe() | CharacterBpe() | WordPiece():
            training = _read_training(block, len(getattr(model, "merges", ())), place)
            vocab = _read_vocab(model.vocab, special, kept)
            if block.get("refuses_unknown") and isinstance(model, WordPiece):
                model = replace(model, unk_token=None)
            return replace(model, vocab=vocab, training=training)
        case Unigram():
            pieces = _read_kinds(model, block, f"{place}.kinds")
            single = checked(block.get("single_precision"), bool, f"{place}.single_precision")
            return replace(model, pieces=pieces, single_precision=single)
        case Words():
            vocab = _read_vocab(model.vocab, special, kept)
            unk_token = None if block.get("refuses_unknown") else model.unk_token
            return replace(model, vocab=vocab, unk_token=unk_token)
        case _:
            return model


def _read_vocab(
    vocab: Mapping[TokenId, bytes], special: Mapping[str, TokenId], kept: set[TokenId]
) -> dict[TokenId, bytes]:
    """Give the model's tokens: the special ones that are among them, and no others."""
    found = dict(vocab)
    for text, token_id in special.items():
        if token_id in kept:
            found[token_id] = text.encode()
        else:
            found.pop(token_id, None)
    return dict(sorted(found.items()))


def _read_training(block: Mapping[str, Any], n_merges: int, place: str) -> Training | None:
    if "ties" not in block:
        return None
    if block["ties"] not in get_args(Ties):
        raise FormatError(
            f"{place}.ties is {block['ties']!r:.40}; expected one of {get_args(Ties)}"
        )
    counts = checked(block.get("merge_counts"), list, f"{place}.merge_counts")
    if n_merges and len(counts) != n_merges:
        raise FormatError(f"{place}.merge_counts has {len(counts)} counts for {n_merges} merges")
    for at, count in enumerate(counts):
        checked(count, int, f"{place}.merge_counts[{at}]")
    least = checked(block.get("min_frequency"), int, f"{place}.min_frequency")
    return Training(block["ties"], tuple(counts), least)


def _read_kinds(model: Unigram, block: Mapping[str, Any], place: str) -> tuple[Piece, ...]:
    pieces = [replace(piece, kind="normal") for piece in model.pieces]
    for entry in checked(block.get("kinds"), list, place):
        if type(entry) is not list or len(entry) != 2 or entry[1] not in _KINDS:
            raise FormatError(f"{place}: expected an id and one of {_KINDS}, got {entry!r:.60}")
        at = checked(entry[0], int, place)
        if not 0 <= at < len(pieces):
            raise FormatError(f"{place} names piece {at} of {len(pieces)}")
        pieces[at] = replace(pieces[at], kind=entry[1])
    return tuple(pieces)


def _spelt_pattern(block: Mapping[str, Any], place: str) -> Pattern:
    parts = checked(block.get("pattern"), list, f"{place}.pattern")
    return tuple(checked(part, str, f"{place}.pattern[{at}]") for at, part in enumerate(parts))


def _read_pattern(block: Mapping[str, Any], pattern: Pattern, place: str) -> Pattern:
    """Give the pattern as it was written, where the file still splits by it."""
    spelt = _spelt_pattern(block, place)
    if spelt == pattern:
        return pattern
    try:
        translated = tuple(from_oniguruma(to_oniguruma(part)) for part in spelt)
    except FormatError:
        translated = ()
    if translated != pattern:
        raise FormatError(
            f"{place}.pattern is not what pre_tokenizer splits by; remove the one that is wrong"
        )
    return spelt

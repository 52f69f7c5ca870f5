"""The union of two vocabularies."""

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from subword.errors import ArgumentError
from subword.models import Bpe, Model, Pieces, Unigram, WordPiece
from subword.tokenizer import Tokenizer
from subword.types import TokenId
from subword.vocabulary.adapted import Adapted
from subword.vocabulary.certificate import check_allowed
from subword.vocabulary.certify import certified
from subword.vocabulary.checks import Texts
from subword.vocabulary.extend import with_merges
from subword.vocabulary.given_tokens import faults, merges_of_tokens
from subword.vocabulary.pieces import reached_pieces, with_pieces
from subword.vocabulary.wordpieces import with_wordpieces

__all__ = ["merge"]


def merge(
    tokenizer: Tokenizer, other: Tokenizer, *, texts: Texts = (), allow: Iterable[str] = ()
) -> Adapted:
    """Give a tokenizer the tokens of another one; those it has keep ids and precedence.

    New tokens come after all old ones: in byte-level BPE with the steps that make them of old
    pieces, in SentencePiece's models with scores as ``extend`` gives them. Special tokens of the
    other are not taken over, nor are tokens that no text could give here, because the pattern cuts
    them or the normalizer changes them: ``left_out`` lists these.

    Args:
        tokenizer: What keeps its ids.
        other: Where new tokens come from; what has a smaller id there (a greater score) goes
            first.
        texts: Documents, or sources of documents by name, that the certificate looks at.
        allow: Names of laws (``subword.vocabulary.certificate.LAWS``) that may be broken.

    Returns:
        The new tokenizer, the id map, and the certificate.

    Raises:
        ArgumentError: The two are not of the same kind, or of one that cannot be merged.
        BrokenLawError: A law of the certificate does not hold.

    Examples:
        >>> from subword import train_bpe
        >>> english = train_bpe({"low": 5, "lower": 2}, 258)
        >>> german = train_bpe({"los": 5, "lose": 2}, 258)
        >>> merge(english, german).tokenizer.merges
        [(b'o', b'w'), (b'l', b'ow'), (b'o', b's'), (b'l', b'os')]
    """
    allowed = check_allowed(allow)
    models = tokenizer.model, other.model
    if isinstance(models[0], Bpe) and isinstance(models[1], Bpe):
        new, left_out = _byte_level(tokenizer, other)
    elif isinstance(models[0], WordPiece) and isinstance(models[1], WordPiece):
        new, left_out = _wordpieces(tokenizer, models[0], models[1])
    elif all(map(_is_bpe, models)) or all(isinstance(model, Unigram) for model in models):
        new, left_out = _pieces(tokenizer, other)
    else:
        kinds = " and ".join(type(model).__name__ for model in models)
        raise ArgumentError(
            "merge takes two of byte-level BPE, of WordPiece, of SentencePiece's BPE, or of its "
            f"Unigram; got {kinds}"
        )
    old_to_new: dict[TokenId, TokenId | None] = {at: at for at in tokenizer.vocab}
    change = certified("merge", tokenizer, new, old_to_new, None, texts, allowed)
    return replace(change, left_out=tuple(left_out))


def _byte_level(tokenizer: Tokenizer, other: Tokenizer) -> tuple[Tokenizer, list[bytes]]:
    known = set(tokenizer.vocab.values())
    special = set(other.special_tokens.values())
    missing = [
        token
        for at, token in sorted(other.model.vocab.items())
        if at not in special and token not in known
    ]
    fault_of = faults(tokenizer)
    wanted = [token for token in missing if fault_of(token) is None]
    # What the other learnt first is worth most: it decides which steps are made.
    weights = np.arange(len(wanted), 0, -1, dtype=np.uint64)
    first_id = tokenizer.vocab_size
    merges, _ = merges_of_tokens(tokenizer, wanted, first_id=first_id, weights=weights)
    made = {step.token for step in merges}
    left_out = [token for token in missing if token not in made]
    return with_merges(tokenizer, merges, first_id), left_out


def _wordpieces(
    tokenizer: Tokenizer, model: WordPiece, other: WordPiece
) -> tuple[Tokenizer, list[bytes]]:
    """Take over what no split cuts; the other's prefix becomes that of the tokenizer."""
    reserved = {text.encode() for text in (*tokenizer.special_tokens, other.unk_token or "")}
    spelt = {}
    for _, token in sorted(other.vocab.items()):
        body = token.removeprefix(other.prefix.encode())
        spelt[token] = body if body == token else model.prefix.encode() + body
    known = set(model.vocab.values()) | reserved
    missing = {token: name for token, name in spelt.items() if name not in known}
    fault_of = faults(tokenizer)
    wanted = [name for name in missing.values() if fault_of(name) is None]
    taken = set(wanted)
    left_out = [token for token, name in missing.items() if name not in taken]
    return with_wordpieces(tokenizer, wanted, tokenizer.vocab_size), left_out


def _is_bpe(model: Model) -> bool:
    return isinstance(model, Pieces) and model.kind == "bpe"


def _pieces(tokenizer: Tokenizer, other: Tokenizer) -> tuple[Tokenizer, list[bytes]]:
    pieces = other.model.pieces if isinstance(other.model, Pieces | Unigram) else ()
    known = set(tokenizer.vocab.values())
    normal = [p for p in pieces if p.kind == "normal" and p.text not in known]
    if isinstance(other.model, Unigram):
        # A score counts on the pieces inside: these come first.
        normal.sort(key=lambda piece: (len(piece.text), -piece.score))
    else:
        normal.sort(key=lambda piece: -piece.score)
    missing = [piece.text for piece in normal]
    fault_of = faults(tokenizer)
    wanted = reached_pieces(tokenizer, [text for text in missing if fault_of(text) is None], [])
    taken = set(wanted)
    return with_pieces(tokenizer, wanted), [text for text in missing if text not in taken]

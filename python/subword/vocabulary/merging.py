"""The union of two vocabularies."""

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from subword.errors import ArgumentError
from subword.models import Bpe, Pieces
from subword.tokenizer import Tokenizer
from subword.types import TokenId
from subword.vocabulary.adapted import Adapted
from subword.vocabulary.certificate import check_allowed
from subword.vocabulary.certify import certified
from subword.vocabulary.checks import Texts
from subword.vocabulary.extend import with_merges
from subword.vocabulary.given_tokens import faults, merges_of_tokens
from subword.vocabulary.pieces import reached_pieces, with_pieces

__all__ = ["merge"]


def merge(
    tokenizer: Tokenizer, other: Tokenizer, *, texts: Texts = (), allow: Iterable[str] = ()
) -> Adapted:
    """Give a tokenizer the tokens of another one; those it has keep ids and precedence.

    New tokens come after all old ones, in byte-level BPE with the steps that make them of old
    pieces. Special tokens of the other are not taken over, nor are tokens that no text could give
    here, because the pattern cuts them or the normalizer changes them: ``left_out`` lists these.

    Args:
        tokenizer: What keeps its ids.
        other: Where new tokens come from; what has a smaller id there (a greater score) goes
            first.
        texts: Documents, or sources of documents by name, that the certificate looks at.
        allow: Names of laws (``subword.vocabulary.certificate.LAWS``) that may be broken.

    Returns:
        The new tokenizer, the id map, and the certificate.

    Raises:
        ArgumentError: The two are not both byte-level BPE or both SentencePiece BPE.
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
    elif all(isinstance(model, Pieces) and model.kind == "bpe" for model in models):
        new, left_out = _pieces(tokenizer, other)
    else:
        kinds = " and ".join(type(model).__name__ for model in models)
        raise ArgumentError(
            f"merge takes two of byte-level BPE, or two of SentencePiece BPE; got {kinds}"
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


def _pieces(tokenizer: Tokenizer, other: Tokenizer) -> tuple[Tokenizer, list[bytes]]:
    pieces = other.model.pieces if isinstance(other.model, Pieces) else ()
    known = set(tokenizer.vocab.values())
    normal = [p for p in pieces if p.kind == "normal" and p.text not in known]
    missing = [p.text for p in sorted(normal, key=lambda piece: -piece.score)]
    wanted = reached_pieces(tokenizer, missing, [])
    taken = set(wanted)
    return with_pieces(tokenizer, wanted), [text for text in missing if text not in taken]

"""A smaller vocabulary: tokens that no other token is made of go, the least used first."""

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import replace

import numpy as np

from subword.counts import PretokenCounts
from subword.errors import ArgumentError, VocabSizeError, VocabularyError
from subword.models import Bpe, Model, Pieces, Unigram, WordPiece
from subword.tokenizer import Tokenizer
from subword.types import TextLike, TokenId
from subword.vocabulary.adapted import Adapted
from subword.vocabulary.certificate import check_allowed
from subword.vocabulary.certify import certified
from subword.vocabulary.checks import Texts
from subword.vocabulary.fitting import fitting_counts
from subword.vocabulary.leaves import Leaves, not_prunable, use_of

__all__ = ["prune"]


def prune(
    tokenizer: Tokenizer,
    vocab_size: int | None = None,
    counts: PretokenCounts | Mapping[str, int] | Mapping[bytes, int] | None = None,
    *,
    min_count: int | None = None,
    tokens: Sequence[TextLike] | None = None,
    texts: Texts = (),
    allow: Iterable[str] = (),
) -> Adapted:
    """Give a tokenizer without some of its tokens.

    Only a leaf goes: a token that no other one is made of. Its use is passed to the parts that its
    text has without it, which may be leaves then. So what stays is reached as before, and a text
    without a removed token has the same tokens. In byte-level BPE and SentencePiece's BPE, these
    are the two tokens that are merged; in Unigram and WordPiece no token needs another one, and
    each is a leaf. Bytes, characters, special tokens, and what has no other parts stay always.
    Equal use goes to the greater id. Ids close up: each moves down by the number of removed ids
    below it.

    Args:
        tokenizer: What to make smaller.
        vocab_size: All ids that stay: leaves go until it is reached, the least used first.
        counts: Pre-tokens with their counts, made with the tokenizer's pattern.
        min_count: In place of a size: leaves go as long as their use is below it; 1 for those
            that the counts never need.
        tokens: In place of both: the tokens that go.
        texts: Documents, or sources of documents by name, that the certificate looks at.
        allow: Names of laws (``subword.vocabulary.certificate.LAWS``) that may be broken.

    Returns:
        The new tokenizer, the id map, and the certificate.

    Raises:
        ArgumentError: Not exactly one of ``vocab_size``, ``min_count`` and ``tokens``; a size or
            least count without counts; a model of another kind.
        VocabSizeError: A size above what there is, or below what has to stay.
        VocabularyError: A given token that is none, has to stay, or is a part of one that stays.
        CountsError: Counts that were made with another pattern.
        BrokenLawError: A law of the certificate does not hold.

    Source: Purason et al. 2025, "Teaching Old Tokenizers New Words: Efficient Tokenizer
    Adaptation for Pre-trained Models" (leaf-based pruning).

    Examples:
        >>> from subword import train_bpe
        >>> tok = train_bpe({"low": 5, "lower": 2}, 260)
        >>> tok.merges
        [(b'o', b'w'), (b'l', b'ow'), (b'low', b'e'), (b'lowe', b'r')]
        >>> prune(tok, 258, {"low": 5}).tokenizer.merges
        [(b'o', b'w'), (b'l', b'ow')]
    """
    allowed = check_allowed(allow)
    if sum(option is not None for option in (vocab_size, min_count, tokens)) != 1:
        raise ArgumentError("give one of vocab_size, min_count and tokens")
    if tokens is None and counts is None:
        raise ArgumentError("vocab_size and min_count need counts, to know which tokens are used")
    table = None if counts is None else fitting_counts(counts, tokenizer)
    leaves = Leaves(tokenizer)
    if tokens is not None:
        removed = leaves.take(_ids_of(tokenizer, tokens))
    elif table is not None:
        use = use_of(tokenizer, table)
        removed = leaves.least_used(use, _n_to_remove(tokenizer, leaves, vocab_size), min_count)
    old_to_new = _closed_up(tokenizer, removed)
    new = _without(tokenizer, old_to_new)
    return certified("prune", tokenizer, new, old_to_new, table, texts, allowed)


def _ids_of(tokenizer: Tokenizer, tokens: Sequence[TextLike]) -> list[TokenId]:
    if isinstance(tokens, str | bytes):
        raise ArgumentError("tokens is a single token; pass a list of tokens")
    found = []
    for token in tokens:
        token_id = tokenizer.find_id(token)
        if token_id is None:
            raise VocabularyError(f"{token[:40]!r} is no token of the vocabulary; leave it out")
        found.append(token_id)
    return found


def _n_to_remove(tokenizer: Tokenizer, leaves: Leaves, vocab_size: int | None) -> int | None:
    """Give how many tokens go.

    Raises:
        VocabSizeError: A size above what there is, or below what has to stay.
    """
    if vocab_size is None:
        return None
    smallest = tokenizer.vocab_size - leaves.removable()
    if not smallest <= vocab_size <= tokenizer.vocab_size:
        raise VocabSizeError(
            f"vocab_size is {vocab_size}; bytes, characters and special tokens stay, so give "
            f"{smallest} to {tokenizer.vocab_size}"
        )
    return tokenizer.vocab_size - vocab_size


def _closed_up(tokenizer: Tokenizer, removed: Set[TokenId]) -> dict[TokenId, TokenId | None]:
    gone = np.array(sorted(removed), np.int64)
    ids = np.fromiter(tokenizer.vocab, np.int64, len(tokenizer.vocab))
    new_ids = ids - np.searchsorted(gone, ids)
    return {
        old: None if old in removed else new
        for old, new in zip(ids.tolist(), new_ids.tolist(), strict=True)
    }


def _without(tokenizer: Tokenizer, old_to_new: Mapping[TokenId, TokenId | None]) -> Tokenizer:
    place = {old: new for old, new in old_to_new.items() if new is not None}
    padding = tokenizer.padding
    if padding is not None and padding.pad_id in place:
        padding = replace(padding, pad_id=place[padding.pad_id])
    return tokenizer.replace(
        model=_smaller(tokenizer.model, place),
        special_tokens={text: place[at] for text, at in tokenizer.special_tokens.items()},
        padding=padding,
    )


def _smaller(model: Model, place: Mapping[TokenId, TokenId]) -> Model:
    """Give a model of the ids that stay."""
    if isinstance(model, Pieces | Unigram):
        pieces = tuple(piece for at, piece in enumerate(model.pieces) if at in place)
        return replace(model, pieces=pieces, unk_id=place[model.unk_id])
    vocab = {place[at]: token for at, token in model.vocab.items() if at in place}
    if isinstance(model, WordPiece):
        return replace(model, vocab=vocab, training=None)
    if not isinstance(model, Bpe):
        raise not_prunable(model)
    kept = set(vocab.values())
    merges = tuple(
        (place[left], place[right])
        for left, right in model.merges
        if left in place and right in place and model.vocab[left] + model.vocab[right] in kept
    )
    return replace(model, vocab=vocab, merges=merges, training=None)

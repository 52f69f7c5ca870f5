"""Byte-level BPE models made of what files and trainings have, and smaller ones made of them."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from operator import itemgetter

from subword import _core
from subword.errors import ArgumentError, VocabSizeError, VocabularyError
from subword.models import Bpe, Model, as_model
from subword.types import Pair, TokenId

__all__ = ["bpe_from_ranks", "bpe_from_tokens", "truncated", "without_tokens"]


def bpe_from_tokens(vocab: Mapping[TokenId, bytes], merges: Sequence[tuple[bytes, bytes]]) -> Bpe:
    """Make a model whose merges are given as byte strings.

    Raises:
        VocabularyError: An id that is no int of 32 bits, a token that is no bytes or has two
            ids, or a merge that names a token which the vocabulary lacks.

    Examples:
        >>> bpe_from_tokens({0: b"a", 1: b"b", 2: b"ab"}, [(b"a", b"b")]).merges
        ((0, 1),)
    """
    ids: dict[bytes, int] = {}
    for token_id, token in vocab.items():
        if not isinstance(token, bytes) or not isinstance(token_id, int):
            raise VocabularyError(
                f"vocab maps {token_id!r:.40} to {token!r:.40}; "
                "expected ids (int) to tokens (bytes)"
            )
        if not 0 <= token_id < 2**32 - 1:
            raise VocabularyError(f"id {token_id} of token {token!r:.40} is not from 0 to 2^32-2")
        if token in ids:
            raise VocabularyError(f"token {token!r:.40} has two ids, {ids[token]} and {token_id}")
        ids[token] = token_id
    pairs: list[Pair] = []
    for rank, merge in enumerate(merges):
        if not isinstance(merge, tuple | list) or len(merge) != 2:
            raise VocabularyError(f"merge {rank} is {merge!r:.40}; expected a pair of tokens")
        left, right = merge
        for part in merge:
            if part not in ids:
                raise VocabularyError(
                    f"merge {rank} names {part!r:.40}, which is not in the vocabulary"
                )
        pairs.append((ids[left], ids[right]))
    return Bpe(dict(vocab), tuple(pairs))


def bpe_from_ranks(ranks: Mapping[bytes, int]) -> Bpe:
    """Make the model that tiktoken would run: merges implied by ranked tokens.

    Source: tiktoken 0.14.0, src/lib.rs, ``byte_pair_merge``; the merges are equal to its rule
    because each token is only ever made of the two parts that all other tokens leave of it.

    Raises:
        VocabularyError: A rank twice, or one of more than 32 bits.

    Examples:
        >>> bpe_from_ranks({b"a": 0, b"b": 1, b"ab": 2}).merges
        ((0, 1),)
    """
    ids, tokens = list(ranks.values()), list(ranks)
    in_order = sorted(ids)
    if ids != in_order:
        tokens = [token for token, _ in sorted(ranks.items(), key=itemgetter(1))]
        ids = in_order
    try:
        return as_model(_core.Bpe.from_ranks(ids, tokens))
    except OverflowError as error:
        raise VocabularyError(f"a rank is not from 0 to 2^32-2 ({error})") from error


def without_tokens(model: Bpe, special_tokens: Mapping[str, TokenId]) -> Bpe:
    """Give the model without entries that are there only to give special tokens their ids.

    An entry that a merge makes or reads stays: it is an ordinary token as well.
    """
    entries = {
        token_id: text.encode()
        for text, token_id in special_tokens.items()
        if model.vocab.get(token_id) == text.encode() and len(text.encode()) > 1
    }
    if not entries:
        return model
    lengths = {len(token) for token in entries.values()}
    made: set[bytes] = set()
    for pair in model.merges:
        left, right = (model.vocab[part] for part in pair)
        if len(left) + len(right) in lengths:
            made.add(left + right)
    read = {part for pair in model.merges for part in pair}
    kept = {
        token_id: token
        for token_id, token in model.vocab.items()
        if token_id not in entries or token_id in read or token in made
    }
    return replace(model, vocab=kept)


def truncated(
    model: Model, special_tokens: Mapping[str, TokenId], old_size: int, vocab_size: int
) -> Bpe:
    """Give the model that the same training has at a smaller size; as ``Tokenizer.truncate``."""
    training = model.training if isinstance(model, Bpe) else None
    if training is None or not isinstance(model, Bpe):
        raise ArgumentError("truncate needs a tokenizer that was trained by subword")
    n_removed = old_size - vocab_size
    n_kept = len(model.merges) - n_removed
    if n_removed < 0 or n_kept < 0:
        raise VocabSizeError(
            f"vocab_size is {vocab_size}, but this training gives {old_size - len(model.merges)} "
            f"to {old_size}"
        )
    behind = [token for token, token_id in special_tokens.items() if token_id >= vocab_size]
    if behind:
        raise ArgumentError(
            f"special token {behind[0]!r:.40} has an id behind the merges that would go; "
            "truncate first, then add it"
        )
    return Bpe(
        {token_id: token for token_id, token in model.vocab.items() if token_id < vocab_size},
        tuple(model.merges[:n_kept]),
        whole_first=model.whole_first,
        training=replace(training, merge_counts=training.merge_counts[:n_kept]),
    )

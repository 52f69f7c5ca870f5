"""A smaller vocabulary: tokens that no other token is made of go, the least used first."""

import heapq
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import replace

import numpy as np

from subword.counts import PretokenCounts
from subword.errors import ArgumentError, VocabSizeError, VocabularyError
from subword.models import Bpe
from subword.tokenizer import Tokenizer
from subword.types import TextLike, TokenId
from subword.vocabulary.adapted import Adapted
from subword.vocabulary.certificate import check_allowed
from subword.vocabulary.certify import certified
from subword.vocabulary.checks import Texts
from subword.vocabulary.fitting import fitting_counts

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

    Only a leaf goes: a token that no merge reads. Its use is passed to the two parts it was made
    of, which may be leaves then. So what stays is reached as before, and a text without a removed
    token has the same tokens. Bytes and special tokens stay always. Equal use goes to the greater
    id. Ids close up: each moves down by the number of removed ids below it.

    Args:
        tokenizer: What to make smaller; byte-level BPE.
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
            least count without counts; a model other than byte-level BPE.
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
    model = tokenizer.model
    if not isinstance(model, Bpe):
        raise ArgumentError(
            f"prune takes byte-level BPE; in a {type(model).__name__} model a removed piece "
            "changes how texts without it are cut"
        )
    if sum(option is not None for option in (vocab_size, min_count, tokens)) != 1:
        raise ArgumentError("give one of vocab_size, min_count and tokens")
    if tokens is None and counts is None:
        raise ArgumentError("vocab_size and min_count need counts, to know which tokens are used")
    table = None if counts is None else fitting_counts(counts, tokenizer)
    leaves = _Leaves(tokenizer, model)
    if tokens is not None:
        removed = leaves.take(_ids_of(tokenizer, tokens))
    elif table is not None:
        use = _use(model, table)
        removed = leaves.least_used(use, _n_to_remove(tokenizer, leaves, vocab_size), min_count)
    old_to_new = _closed_up(tokenizer, removed)
    new = _without(tokenizer, model, old_to_new)
    return certified("prune", tokenizer, new, old_to_new, table, texts, allowed)


class _Leaves:
    """How many tokens are made of each, and which may go."""

    def __init__(self, tokenizer: Tokenizer, model: Bpe) -> None:
        ids = {token: token_id for token_id, token in model.vocab.items()}
        self.vocab = model.vocab
        self.parts: dict[TokenId, tuple[TokenId, ...]] = {}
        self.readers: dict[TokenId, set[TokenId]] = {at: set() for at in model.vocab}
        for left, right in model.merges:
            made = ids[model.vocab[left] + model.vocab[right]]
            self.parts.setdefault(made, (left, right))
            self.readers[left].add(made)
            self.readers[right].add(made)
        special = set(tokenizer.special_tokens.values())
        self.fixed = special | {at for at, token in model.vocab.items() if len(token) < 2}
        self._find_parts_of_whole_tokens(model)

    def _find_parts_of_whole_tokens(self, model: Bpe) -> None:
        """Give tokens that no merge makes the parts that their bytes merge to."""
        whole = [at for at in model.vocab if at not in self.parts and at not in self.fixed]
        if whole:
            merging = Tokenizer(Bpe(model.vocab, model.merges))
            found = merging.encode_batch([model.vocab[at] for at in whole])
            self.parts.update(
                (at, tuple(ids.tolist())) for at, ids in zip(whole, found, strict=True)
            )

    def removable(self) -> int:
        """Give the number of tokens that can go one after another."""
        return sum(at not in self.fixed for at in self.vocab)

    def least_used(
        self, use: dict[TokenId, int], n_tokens: int | None, min_count: int | None
    ) -> set[TokenId]:
        """Remove leaves, the least used first, until the number or the bound is reached."""
        heap = [
            (use.get(at, 0), -at)
            for at, readers in self.readers.items()
            if not readers and at not in self.fixed
        ]
        heapq.heapify(heap)
        removed: set[TokenId] = set()
        while heap and (n_tokens is None or len(removed) < n_tokens):
            count, negative = heapq.heappop(heap)
            token_id = -negative
            if min_count is not None and count >= min_count:
                break
            removed.add(token_id)
            for part in self.parts[token_id]:
                use[part] = use.get(part, 0) + count
            for part in set(self.parts[token_id]):
                self.readers[part].discard(token_id)
                if not self.readers[part] and part not in self.fixed and part not in removed:
                    heapq.heappush(heap, (use.get(part, 0), -part))
        return removed

    def take(self, wanted: Sequence[TokenId]) -> set[TokenId]:
        """Remove exactly these.

        Raises:
            VocabularyError: One that has to stay, or is a part of a token that stays.
        """
        removed = set(wanted)
        for token_id in wanted:
            token = self.vocab.get(token_id)
            if token is None or token_id in self.fixed:
                raise VocabularyError(
                    f"token {token!r:.40} (id {token_id}) is a byte or a special token, which stay"
                )
            readers = self.readers[token_id] - removed
            if readers:
                raise VocabularyError(
                    f"token {token!r:.40} is a part of {self.vocab[min(readers)]!r:.40}, which "
                    "stays; remove that too, or neither"
                )
        return removed


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


def _use(model: Bpe, counts: PretokenCounts) -> dict[TokenId, int]:
    """Count how often each token comes up; whole look-ups count as what merging gives."""
    merging = Tokenizer(Bpe(model.vocab, model.merges))
    encoded = merging.encode_batch(list(counts))
    weights = np.repeat(counts.counts(), np.diff(encoded.bounds))
    order = np.argsort(encoded.ids, kind="stable")
    ids = encoded.ids[order]
    if not len(ids):
        return {}
    starts = np.flatnonzero(np.concatenate([[True], ids[1:] != ids[:-1]]))
    # Python's integers do not wrap around where a sum passes 64 bits.
    exact = int(counts.counts().max()) * len(ids) >= 2**64
    weights = weights[order].astype(object) if exact else weights[order]
    sums = np.add.reduceat(weights, starts)
    return dict(zip(ids[starts].tolist(), sums.tolist(), strict=True))


def _n_to_remove(tokenizer: Tokenizer, leaves: _Leaves, vocab_size: int | None) -> int | None:
    """Give how many tokens go.

    Raises:
        VocabSizeError: A size above what there is, or below what has to stay.
    """
    if vocab_size is None:
        return None
    smallest = tokenizer.vocab_size - leaves.removable()
    if not smallest <= vocab_size <= tokenizer.vocab_size:
        raise VocabSizeError(
            f"vocab_size is {vocab_size}; bytes and special tokens stay, so give {smallest} to "
            f"{tokenizer.vocab_size}"
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


def _without(
    tokenizer: Tokenizer, model: Bpe, old_to_new: Mapping[TokenId, TokenId | None]
) -> Tokenizer:
    place = {old: new for old, new in old_to_new.items() if new is not None}
    vocab = {place[at]: token for at, token in model.vocab.items() if at in place}
    kept = set(vocab.values())
    merges = tuple(
        (place[left], place[right])
        for left, right in model.merges
        if left in place and right in place and model.vocab[left] + model.vocab[right] in kept
    )
    padding = tokenizer.padding
    if padding is not None and padding.pad_id in place:
        padding = replace(padding, pad_id=place[padding.pad_id])
    return tokenizer.replace(
        model=replace(model, vocab=vocab, merges=merges, training=None),
        special_tokens={text: place[at] for text, at in tokenizer.special_tokens.items()},
        padding=padding,
    )

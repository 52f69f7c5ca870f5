"""Tokens that may go from a vocabulary: what they are made of, and how much they are used."""

import heapq
from collections.abc import Sequence, Set
from itertools import pairwise

import numpy as np

from subword.counts import PretokenCounts
from subword.errors import ArgumentError, VocabularyError
from subword.models import Bpe, Model, Pieces, Unigram, WordPiece, unknown_id
from subword.tokenizer import Tokenizer
from subword.types import TokenId, is_utf8
from subword.vocabulary.checks import model_alone
from subword.vocabulary.words import words_of

__all__ = ["Leaves", "not_prunable", "parts_of", "use_of"]


class Leaves:
    """Which tokens are made of which, and which may go.

    Attributes:
        vocab: Token of each id.
        parts: What the text of each token that may go has without it.
        readers: The tokens that are made of each.
        needed: What stays always: bytes, special tokens, the unknown one.
        fixed: What stays unless it is asked for by name: those, and what has no parts.
    """

    def __init__(self, tokenizer: Tokenizer) -> None:
        self.vocab = tokenizer.model.vocab
        self.parts = parts_of(tokenizer)
        self.readers: dict[TokenId, set[TokenId]] = {at: set() for at in self.vocab}
        if isinstance(tokenizer.model, Bpe):
            self._read_merges(tokenizer.model)
        elif isinstance(tokenizer.model, Pieces):
            for made, parts in self.parts.items():
                for part in parts:
                    self.readers[part].add(made)
        self.needed = _needed(tokenizer)
        self.fixed = self.needed | {at for at in self.vocab if at not in self.parts}

    def _read_merges(self, model: Bpe) -> None:
        ids = {token: token_id for token_id, token in model.vocab.items()}
        for left, right in model.merges:
            made = ids[model.vocab[left] + model.vocab[right]]
            self.readers[left].add(made)
            self.readers[right].add(made)

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
            if token_id in removed or count != use.get(token_id, 0):
                continue
            if min_count is not None and count >= min_count:
                break
            removed.add(token_id)
            for part in self._parts_that_stay(token_id, removed):
                use[part] = use.get(part, 0) + count
                self.readers[part].discard(token_id)
                if not self.readers[part] and part not in self.fixed:
                    heapq.heappush(heap, (use[part], -part))
        return removed

    def _parts_that_stay(self, token_id: TokenId, removed: Set[TokenId]) -> list[TokenId]:
        """Give what a token's use is passed to, in place of what is gone what that had."""
        found: list[TokenId] = []
        waiting = list(self.parts[token_id])
        while waiting:
            part = waiting.pop()
            if part in removed:
                waiting += self.parts[part]
            else:
                found.append(part)
        return found

    def take(self, wanted: Sequence[TokenId]) -> set[TokenId]:
        """Remove exactly these.

        Raises:
            VocabularyError: One that has to stay, or is a part of a token that stays.
        """
        removed = set(wanted)
        for token_id in wanted:
            token = self.vocab.get(token_id)
            if token is None or token_id in self.needed:
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


def _needed(tokenizer: Tokenizer) -> set[TokenId]:
    """Give the ids of bytes, special tokens and the unknown one."""
    model = tokenizer.model
    needed = set(tokenizer.special_tokens.values())
    needed.update(at for at in [unknown_id(model)] if at is not None)
    if isinstance(model, Bpe):
        needed.update(at for at, token in model.vocab.items() if len(token) < 2)
    elif isinstance(model, Pieces | Unigram):
        needed.update(at for at, piece in enumerate(model.pieces) if piece.kind != "normal")
    return needed


def not_prunable(model: Model) -> ArgumentError:
    """Give the refusal of a model of another kind."""
    return ArgumentError(
        f"prune takes byte-level BPE, WordPiece, and SentencePiece's BPE and Unigram; in a "
        f"{type(model).__name__} model no token is made of others"
    )


def parts_of(tokenizer: Tokenizer) -> dict[TokenId, tuple[TokenId, ...]]:
    """Give what the text of each token has without it; left out is what has nothing else.

    Raises:
        ArgumentError: A model of another kind.
    """
    model = tokenizer.model
    if isinstance(model, Bpe):
        return _parts_of_merges(tokenizer, model)
    if isinstance(model, WordPiece):
        return _parts_of_words(model)
    if isinstance(model, Unigram):
        return _parts_of_paths(model)
    if isinstance(model, Pieces) and model.kind == "bpe":
        return _parts_of_pieces(model)
    raise not_prunable(model)


def _parts_of_merges(tokenizer: Tokenizer, model: Bpe) -> dict[TokenId, tuple[TokenId, ...]]:
    ids = {token: token_id for token_id, token in model.vocab.items()}
    parts: dict[TokenId, tuple[TokenId, ...]] = {}
    for left, right in model.merges:
        parts.setdefault(ids[model.vocab[left] + model.vocab[right]], (left, right))
    special = set(tokenizer.special_tokens.values())
    # What no merge makes has the parts that its bytes merge to.
    whole = [
        at
        for at, token in model.vocab.items()
        if at not in parts and at not in special and len(token) > 1
    ]
    if whole:
        merging = Tokenizer(Bpe(model.vocab, model.merges))
        found = merging.encode_batch([model.vocab[at] for at in whole])
        parts.update((at, tuple(ids.tolist())) for at, ids in zip(whole, found, strict=True))
    return parts


def _parts_of_pieces(model: Pieces) -> dict[TokenId, tuple[TokenId, ...]]:
    """Merge the characters of each piece, the best score first, until two parts are left."""
    normal = {
        piece.text.decode(): (-piece.score, at)
        for at, piece in enumerate(model.pieces)
        if piece.kind == "normal" and is_utf8(piece.text)
    }
    parts: dict[TokenId, tuple[TokenId, ...]] = {}
    for text, (_, token_id) in normal.items():
        symbols = list(text)
        while len(symbols) > 2:
            joined = enumerate(left + right for left, right in pairwise(symbols))
            best = min(
                ((normal[token], at) for at, token in joined if token in normal), default=None
            )
            if best is None:
                break
            (_, _), at = best
            symbols[at : at + 2] = [symbols[at] + symbols[at + 1]]
        # A piece that merging does not reach has no parts, and one of bytes stays.
        if len(symbols) == 2 and all(symbol in normal for symbol in symbols):
            parts[token_id] = tuple(normal[symbol][1] for symbol in symbols)
    return parts


def _parts_of_paths(model: Unigram) -> dict[TokenId, tuple[TokenId, ...]]:
    """Give the best path of each piece's text that has at least two pieces."""
    normal = {
        piece.text.decode(): (piece.score, at)
        for at, piece in enumerate(model.pieces)
        if piece.kind == "normal" and is_utf8(piece.text)
    }
    parts: dict[TokenId, tuple[TokenId, ...]] = {}
    for text, (_, token_id) in normal.items():
        best: list[tuple[float, tuple[TokenId, ...]]] = [(0.0, ())]
        for end in range(1, len(text) + 1):
            ways = [
                (best[start][0] + normal[part][0], (*best[start][1], normal[part][1]))
                for start in range(end)
                if (part := text[start:end]) in normal and part != text
            ]
            best.append(max(ways, default=(float("-inf"), ())))
        if best[-1][1] and best[-1][0] > float("-inf"):
            parts[token_id] = best[-1][1]
    return parts


def _parts_of_words(model: WordPiece) -> dict[TokenId, tuple[TokenId, ...]]:
    """Give the longest matches of each token's text but itself; characters stay."""
    ids = {token: at for at, token in model.vocab.items()}
    prefix = model.prefix.encode()
    parts: dict[TokenId, tuple[TokenId, ...]] = {}
    for token_id, token in model.vocab.items():
        begin = prefix if token.startswith(prefix) and token != prefix else b""
        rest = token.removeprefix(begin)
        found: list[TokenId] = []
        # At first the whole is left out of what matches.
        longest = len(rest) - 1
        while rest:
            match = next((n for n in range(longest, 0, -1) if begin + rest[:n] in ids), 0)
            if not match:
                break
            found.append(ids[begin + rest[:match]])
            rest, begin = rest[match:], prefix
            longest = len(rest)
        if found and not rest:
            parts[token_id] = tuple(found)
    return parts


def use_of(tokenizer: Tokenizer, counts: PretokenCounts) -> dict[TokenId, int]:
    """Count how often each token comes up; whole look-ups count as what merging gives."""
    model = tokenizer.model
    if isinstance(model, Bpe):
        words, numbers = list(counts), counts.counts()
        alone = Tokenizer(Bpe(model.vocab, model.merges))
    else:
        words, numbers = words_of(tokenizer, counts)
        alone = model_alone(tokenizer)
    encoded = alone.encode_batch(words)
    weights = np.repeat(numbers, np.diff(encoded.bounds))
    order = np.argsort(encoded.ids, kind="stable")
    ids = encoded.ids[order]
    if not len(ids):
        return {}
    starts = np.flatnonzero(np.concatenate([[True], ids[1:] != ids[:-1]]))
    # Python's integers do not wrap around where a sum passes 64 bits.
    exact = int(numbers.max()) * len(ids) >= 2**64
    weights = weights[order].astype(object) if exact else weights[order]
    sums = np.add.reduceat(weights, starts)
    return dict(zip(ids[starts].tolist(), sums.tolist(), strict=True))

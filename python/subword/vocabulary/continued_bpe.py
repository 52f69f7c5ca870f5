"""Learn merges that go on from what a tokenizer already does.

Source: Sennrich, Haddow and Birch 2016, algorithm 1, started from the tokens of an old tokenizer
in place of characters, as in Purason et al. 2025, "Teaching Old Tokenizers New Words".
"""

import heapq
import itertools
from collections import defaultdict
from collections.abc import Mapping, Set
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from subword.errors import CountOverflowError
from subword.types import Pair, Ragged, TokenId

__all__ = ["NewMerge", "continue_merges", "pairs_of"]


@dataclass(frozen=True, slots=True)
class NewMerge:
    """A learned merge.

    Attributes:
        pair: The ids that it joins.
        token: What they spell together.
        count: Occurrences of the pair when it was chosen.
    """

    pair: Pair
    token: bytes
    count: int


def continue_merges(
    encoded: Ragged,
    counts: npt.NDArray[np.uint64],
    tokens: Mapping[TokenId, bytes],
    n_merges: int,
    *,
    first_id: TokenId,
    taken: Set[bytes] = frozenset(),
    forbidden: Set[Pair] = frozenset(),
    min_frequency: int = 1,
    max_token_length: int | None = None,
) -> list[NewMerge]:
    """Learn up to ``n_merges`` merges; fewer when no pair with enough count is left.

    Equal counts go to the lexicographically greatest pair of byte strings. A pair whose joined
    bytes are a token already is never merged: the token would come up in other places than
    before. Merge ``i`` makes the id ``first_id + i``.

    Args:
        encoded: The ids of each distinct pre-token.
        counts: Occurrences of each, shape (len(encoded),), uint64.
        tokens: Bytes of every id in ``encoded``.
        n_merges: Merges wanted.
        first_id: The id of the first new token.
        taken: Byte strings that no merge may make; those of ``tokens`` are such without it.
        forbidden: Pairs that are never merged.
        min_frequency: Stop below this count; at least 1.
        max_token_length: Most bytes of a token; None for no limit.

    Raises:
        CountOverflowError: The occurrences of all pairs may pass 64 bits.

    Examples:
        >>> ids = Ragged(np.array([0, 1, 2, 0, 1], np.uint32), np.array([0, 3, 5]))
        >>> made = continue_merges(
        ...     ids, np.array([3, 4], np.uint64), {0: b"a", 1: b"b", 2: b"c"}, 2, first_id=9
        ... )
        >>> [(merge.pair, merge.token, merge.count) for merge in made]
        [((0, 1), b'ab', 7), ((9, 2), b'abc', 3)]
    """
    training = _Training(
        encoded, counts, tokens, taken, forbidden, max(min_frequency, 1), max_token_length
    )
    merges: list[NewMerge] = []
    while len(merges) < n_merges:
        merge = training.next_merge()
        if merge is None:
            break
        training.apply(merge, first_id + len(merges))
        merges.append(merge)
    return merges


def pairs_of(encoded: Ragged) -> frozenset[Pair]:
    """Give every pair of neighbours in the ids of texts; none crosses from text to text."""
    keys = np.unique(_pair_keys(encoded)[0])
    return frozenset(zip((keys >> 32).tolist(), (keys & 0xFFFFFFFF).tolist(), strict=True))


def _pair_keys(
    encoded: Ragged,
) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.int64]]:
    """Give each pair of neighbours as ``left << 32 | right``, and the text that it is of."""
    ids = encoded.ids.astype(np.uint64)
    text = np.repeat(np.arange(len(encoded), dtype=np.int64), np.diff(encoded.bounds))
    inside = text[1:] == text[:-1]
    return (ids[:-1][inside] << np.uint64(32)) | ids[1:][inside], text[:-1][inside]


class _Training:
    """Words as lists of ids, the count of each pair, and which words held it once."""

    def __init__(
        self,
        encoded: Ragged,
        counts: npt.NDArray[np.uint64],
        tokens: Mapping[TokenId, bytes],
        taken: Set[bytes],
        forbidden: Set[Pair],
        min_frequency: int,
        max_token_length: int | None,
    ) -> None:
        lengths = np.diff(encoded.bounds)
        longest = int(lengths.max(initial=0))
        if longest * int(counts.sum(dtype=object) if len(counts) else 0) >= 2**64:
            raise CountOverflowError(
                "the occurrences of a pair may pass 2^64-1; scale the counts down with subword.mix"
            )
        flat, bounds = encoded.ids.tolist(), encoded.bounds.tolist()
        # Words of one token have no pair, but keep their place: words are named by number.
        self.words: list[list[int]] = [
            flat[start:end] if end - start > 1 else [] for start, end in itertools.pairwise(bounds)
        ]
        self.weights: list[int] = counts.tolist()
        self.tokens = dict(tokens)
        self.taken = {*taken, *tokens.values()}
        self.forbidden = forbidden
        self.min_frequency = min_frequency
        self.max_token_length = max_token_length
        self.keys: dict[TokenId, str] = {}
        self.counts: dict[Pair, int] = {}
        # Words that held the pair when it was entered; some may stand there twice.
        self.where: dict[Pair, set[int] | npt.NDArray[np.int64]] = {}
        self.heap: list[tuple[int, str, str, Pair]] = []
        self._count_pairs(encoded, counts)

    def _count_pairs(self, encoded: Ragged, counts: npt.NDArray[np.uint64]) -> None:
        keys, text = _pair_keys(encoded)
        if not len(keys):
            return
        order = np.argsort(keys, kind="stable")
        keys, text = keys[order], text[order]
        starts = np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]]))
        sums = np.add.reduceat(counts[text], starts).tolist()
        ends = np.append(starts[1:], len(keys)).tolist()
        found = keys[starts]
        pairs = zip((found >> 32).tolist(), (found & 0xFFFFFFFF).tolist(), strict=True)
        for pair, count, start, end in zip(pairs, sums, starts.tolist(), ends, strict=True):
            self._insert(pair, count, text[start:end])
        heapq.heapify(self.heap)

    def _insert(self, pair: Pair, count: int, where: set[int] | npt.NDArray[np.int64]) -> bool:
        """Enter a new pair, unless it may never be merged; its heap entry is appended."""
        # A pair only ever loses occurrences: one that is too rare now stays so.
        if count < self.min_frequency:
            return False
        token = self.tokens[pair[0]] + self.tokens[pair[1]]
        too_long = self.max_token_length is not None and len(token) > self.max_token_length
        if too_long or pair in self.forbidden or token in self.taken:
            return False
        self.counts[pair] = count
        self.where[pair] = where
        self.heap.append(self._entry(pair, count))
        return True

    def _entry(self, pair: Pair, count: int) -> tuple[int, str, str, Pair]:
        return -count, self._key(pair[0]), self._key(pair[1]), pair

    def _key(self, token_id: TokenId) -> str:
        """Give a string whose order is the reverse of that of the token's bytes."""
        key = self.keys.get(token_id)
        if key is None:
            # The end of a token is greater than any inverted byte: the longer one goes first.
            key = self.tokens[token_id].translate(_INVERTED).decode("latin-1") + "\u0100"
            self.keys[token_id] = key
        return key

    def next_merge(self) -> NewMerge | None:
        """Give the pair that is merged next; entries of the heap may be stale."""
        while self.heap:
            negative, *_, pair = heapq.heappop(self.heap)
            count = self.counts.get(pair, 0)
            token = self.tokens[pair[0]] + self.tokens[pair[1]]
            if token in self.taken or count < self.min_frequency:
                self.counts.pop(pair, None)
                self.where.pop(pair, None)
            elif count == -negative:
                return NewMerge(pair, token, count)
            else:
                heapq.heappush(self.heap, self._entry(pair, count))
        return None

    def apply(self, merge: NewMerge, joined: TokenId) -> None:
        """Replace the pair by the new id wherever it stands, from left to right."""
        self.tokens[joined] = merge.token
        self.taken.add(merge.token)
        changes: defaultdict[Pair, int] = defaultdict(int)
        new_where: defaultdict[Pair, set[int]] = defaultdict(set)
        del self.counts[merge.pair]
        where = self.where.pop(merge.pair)
        for index in where if isinstance(where, set) else where.tolist():
            merged = _merged(self.words[index], merge.pair, joined)
            if merged is None:
                continue
            word, lost, gained = merged
            weight = self.weights[index]
            for pair in lost:
                changes[pair] -= weight
            for pair in gained:
                changes[pair] += weight
                new_where[pair].add(index)
            self.words[index] = word
        for pair, change in changes.items():
            if pair in new_where:
                if change > 0 and self._insert(pair, change, new_where[pair]):
                    heapq.heappush(self.heap, self.heap.pop())
            elif pair in self.counts:
                self.counts[pair] += change


_INVERTED = bytes(255 - byte for byte in range(256))


def _merged(
    word: list[TokenId], pair: Pair, joined: TokenId
) -> tuple[list[TokenId], list[Pair], list[Pair]] | None:
    """Give the word with the pair replaced, and the neighbours that it lost and gained.

    The pair itself is not among those lost. None where the word does not hold it any more.
    """
    left, right = pair
    last = len(word) - 1
    done = 0
    merged: list[TokenId] = []
    lost: list[Pair] = []
    gained: list[Pair] = []
    at = _index(word, left, 0)
    while 0 <= at < last:
        if word[at + 1] != right:
            at = _index(word, left, at + 1)
            continue
        merged += word[done:at]
        if merged:
            gained.append((merged[-1], joined))
            if at > done or not done:
                lost.append((word[at - 1], left))
        merged.append(joined)
        done = at + 2
        if done <= last:
            lost.append((right, word[done]))
        at = done if done < last and word[done] == left and word[done + 1] == right else -1
        if at < 0:
            if done <= last:
                gained.append((joined, word[done]))
            at = _index(word, left, done)
    if not done:
        return None
    return merged + word[done:], lost, gained


def _index(word: list[TokenId], symbol: TokenId, start: int) -> int:
    try:
        return word.index(symbol, start)
    except ValueError:
        return -1

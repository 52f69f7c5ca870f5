"""Learn merges that go on from what a tokenizer already does.

Source: Sennrich, Haddow and Birch 2016, algorithm 1, started from the tokens of an old tokenizer
in place of characters, as in Purason et al. 2025, "Teaching Old Tokenizers New Words".
"""

from collections.abc import Mapping, Set
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from subword import _core
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
        CountOverflowError: The occurrences of a pair pass 64 bits.

    Examples:
        >>> ids = Ragged(np.array([0, 1, 2, 0, 1], np.uint32), np.array([0, 3, 5]))
        >>> made = continue_merges(
        ...     ids, np.array([3, 4], np.uint64), {0: b"a", 1: b"b", 2: b"c"}, 2, first_id=9
        ... )
        >>> [(merge.pair, merge.token, merge.count) for merge in made]
        [((0, 1), b'ab', 7), ((9, 2), b'abc', 3)]
    """
    used = np.unique(encoded.ids)
    symbols = {token_id: at for at, token_id in enumerate(used.tolist())}
    closed = [
        symbols[left] << 32 | symbols[right]
        for left, right in forbidden
        if left in symbols and right in symbols
    ]
    spelt = [tokens[token_id] for token_id in symbols]
    learnt = _core.continue_merges(
        np.searchsorted(used, encoded.ids).astype(np.uint32),
        np.ascontiguousarray(encoded.bounds, np.int64),
        np.ascontiguousarray(counts, np.uint64),
        spelt,
        n_merges,
        taken=[*taken, *tokens.values()],
        forbidden=np.array(closed, np.uint64),
        min_frequency=min_frequency,
        max_token_length=max_token_length,
    )
    ids = [*symbols, *range(first_id, first_id + len(learnt))]
    merges = []
    for left, right, count in learnt:
        spelt.append(spelt[left] + spelt[right])
        merges.append(NewMerge((ids[left], ids[right]), spelt[-1], count))
    return merges


def pairs_of(encoded: Ragged) -> frozenset[Pair]:
    """Give every pair of neighbours in the ids of texts; none crosses from text to text."""
    ids = encoded.ids.astype(np.uint64)
    text = np.repeat(np.arange(len(encoded), dtype=np.int64), np.diff(encoded.bounds))
    inside = text[1:] == text[:-1]
    keys = np.unique((ids[:-1][inside] << np.uint64(32)) | ids[1:][inside])
    return frozenset(zip((keys >> 32).tolist(), (keys & 0xFFFFFFFF).tolist(), strict=True))

"""Learn BPE merges by counting every pair again after every merge; apply them.

Symbols are numbered: the bytes 0 to 255, or the tokens of an older tokenizer, then one for the
result of each merge.

Source: Sennrich, Haddow and Birch 2016, "Neural Machine Translation of Rare Words with Subword
Units", algorithm 1; over bytes as in GPT-2 (Radford et al. 2019, section 2.2).
"""

from collections import Counter
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Final, Literal, TypeVar

from subword.byte_characters import BYTE_CHARACTERS
from subword.errors import ArgumentError, CountOverflowError
from subword.types import Pair

__all__ = ["Ties", "continue_merges", "encode", "encode_by_ranks", "learn_merges", "replace_pair"]

Ties = Literal["greatest", "first", "hf", "smallest_id"]
"""Which pair of those with the greatest count is merged: see ``learn_merges``."""

Symbol = TypeVar("Symbol", int, bytes)
Word = tuple[list[int], int, int]
"""The symbols of a pre-token, its count and its first-seen position."""

_MAX_COUNT: Final = 2**64 - 1


def learn_merges(
    pretoken_counts: Mapping[bytes, tuple[int, int]],
    n_merges: int,
    *,
    ties: Ties = "greatest",
    min_frequency: int = 1,
    max_token_length: int | None = None,
) -> list[tuple[Pair, int]]:
    """Learn up to ``n_merges`` merges, each of the pair that is most frequent at that moment.

    An occurrence is a pair of neighbours within a pre-token, and occurrences may overlap:
    ``aaa`` has ``(a, a)`` twice. Merging does not: it goes from left to right and makes
    ``aa a``. Equal counts are decided by ``ties``:

    - ``greatest``: the pair of byte strings that is lexicographically greatest.
    - ``first``: the pair whose first occurrence in the corpus, as merged so far, is earliest.
    - ``hf``: the smallest pair of numbers, where bytes are numbered in the order of their
      printable GPT-2 characters, and merges after them in the order they were made.
    - ``smallest_id``: the smallest pair of symbol numbers.

    Args:
        pretoken_counts: Pre-token to ``(count, first_seen)``; ``first_seen`` is the byte
            position of its first occurrence, and matters to ``first`` alone.
        n_merges: Number of merges wanted.
        ties: The rule for equal counts.
        min_frequency: The count below which no pair is merged; 0 is as good as 1.
        max_token_length: Bytes; a pair that would make a longer token is never merged.

    Returns:
        The pairs in the order merged, each with its count when it was chosen. Fewer than
        wanted when no pair is left that may be merged.

    Raises:
        ArgumentError: An unknown ``ties``.
        CountOverflowError: A pair's count that passes 64 bits.

    Examples:
        >>> learn_merges({b"aaab": (2, 0), b"ab": (1, 4)}, n_merges=2)
        [((97, 97), 4), ((97, 98), 3)]
        >>> learn_merges({b"ab": (1, 0), b"cd": (1, 2)}, n_merges=1, ties="first")
        [((97, 98), 1)]
    """
    if ties not in ("greatest", "first", "hf", "smallest_id"):
        raise ArgumentError(f"ties is {ties!r:.40}; it is greatest, first, hf or smallest_id")
    tokens = [bytes([byte]) for byte in range(256)]
    words = [(list(pretoken), *seen) for pretoken, seen in pretoken_counts.items()]
    return _learn(words, tokens, n_merges, lambda _: False, ties, min_frequency, max_token_length)


def continue_merges(
    words: Iterable[tuple[Sequence[int], int]],
    tokens: Sequence[bytes],
    n_merges: int,
    *,
    taken: Iterable[bytes] = (),
    forbidden: Container[Pair] = (),
    min_frequency: int = 1,
    max_token_length: int | None = None,
) -> list[tuple[Pair, int]]:
    """Learn merges as ``learn_merges`` does, of words that are encoded already.

    No merge makes a token that is there, old or new. Equal counts go to the lexicographically
    greatest pair of byte strings, and of pairs that are spelt alike to the smallest numbers.

    Args:
        words: The symbols of each word, places in ``tokens``, and its count.
        tokens: What each symbol spells.
        n_merges: Number of merges wanted.
        taken: What no merge may make, besides ``tokens``.
        forbidden: Pairs of symbols that are never merged.
        min_frequency: The count below which no pair is merged.
        max_token_length: Bytes; a pair that would make a longer token is never merged.

    Returns:
        As ``learn_merges``; merge ``i`` makes the symbol ``len(tokens) + i``.

    Raises:
        CountOverflowError: A pair's count that passes 64 bits.

    Source: Purason et al. 2025, "Teaching Old Tokenizers New Words", section 3.

    Examples:
        >>> continue_merges([([0, 1, 2], 3), ([0, 1], 4)], [b"a", b"b", b"c"], 2)
        [((0, 1), 7), ((3, 2), 3)]
    """
    spelt = list(tokens)
    known = {*taken, *tokens}

    def is_closed(pair: Pair) -> bool:
        token = spelt[pair[0]] + spelt[pair[1]]
        return pair in forbidden or token in known or token in spelt[len(tokens) :]

    start = [(list(symbols), count, at) for at, (symbols, count) in enumerate(words)]
    return _learn(start, spelt, n_merges, is_closed, "greatest", min_frequency, max_token_length)


def _learn(
    words: list[Word],
    tokens: list[bytes],
    n_merges: int,
    is_closed: Callable[[Pair], bool],
    ties: Ties,
    min_frequency: int,
    max_token_length: int | None,
) -> list[tuple[Pair, int]]:
    """Merge the most frequent open pair again and again; new tokens are appended."""
    merges: list[tuple[Pair, int]] = []
    while len(merges) < n_merges:
        pair_counts = _count_pairs(words)
        for pair in list(pair_counts):
            n_bytes = len(tokens[pair[0]]) + len(tokens[pair[1]])
            too_long = max_token_length is not None and n_bytes > max_token_length
            if too_long or is_closed(pair):
                del pair_counts[pair]
        highest = max(pair_counts.values(), default=0)
        if highest < max(min_frequency, 1):
            break
        tied = [pair for pair, pair_count in pair_counts.items() if pair_count == highest]
        best = _break_tie(tied, ties, tokens, words)
        words = [(replace_pair(word[0], best, len(tokens)), *word[1:]) for word in words]
        tokens.append(tokens[best[0]] + tokens[best[1]])
        merges.append((best, highest))
    return merges


def _count_pairs(words: Iterable[Word]) -> Counter[Pair]:
    """Count every pair of neighbours, occurrences that overlap included."""
    pair_counts: Counter[Pair] = Counter()
    for symbols, word_count, _ in words:
        for pair in pairwise(symbols):
            pair_counts[pair] += word_count
    for pair, pair_count in pair_counts.items():
        if pair_count > _MAX_COUNT:
            raise CountOverflowError(f"the pair {pair} occurs {pair_count} times, past 64 bits")
    return pair_counts


def _break_tie(
    tied: Sequence[Pair], ties: Ties, tokens: Sequence[bytes], words: Iterable[Word]
) -> Pair:
    """Choose one of the pairs whose counts are equal."""
    if ties == "greatest":
        return max(sorted(tied), key=lambda pair: (tokens[pair[0]], tokens[pair[1]]))
    if ties == "first":
        positions = _first_positions(tokens, words)
        return min(tied, key=positions.__getitem__)
    if ties == "hf":
        return min(tied, key=lambda pair: (_hf_number(pair[0]), _hf_number(pair[1])))
    return min(tied)


def _first_positions(tokens: Sequence[bytes], words: Iterable[Word]) -> dict[Pair, int]:
    """Give the byte position of each pair's first occurrence, that of its left symbol."""
    positions: dict[Pair, int] = {}
    for symbols, _, first_seen in words:
        position = first_seen
        for pair in pairwise(symbols):
            positions[pair] = min(position, positions.get(pair, position))
            position += len(tokens[pair[0]])
    return positions


def _hf_number(symbol: int) -> int:
    """Number a symbol as HF does: bytes by their characters, then merges.

    Special tokens have the smallest numbers there, are in no pair, and so change no order.
    """
    return ord(BYTE_CHARACTERS[symbol]) if symbol < 256 else 0x110000 + symbol


def replace_pair(symbols: list[Symbol], pair: tuple[Symbol, Symbol], new: Symbol) -> list[Symbol]:
    """Replace each occurrence of a pair, from left to right, without overlap.

    Examples:
        >>> replace_pair([1, 1, 1], (1, 1), 2)
        [2, 1]
    """
    replaced: list[Symbol] = []
    position = 0
    while position < len(symbols):
        if symbols[position] == pair[0] and symbols[position + 1 : position + 2] == [pair[1]]:
            replaced.append(new)
            position += 2
        else:
            replaced.append(symbols[position])
            position += 1
    return replaced


def encode(
    pretoken: bytes,
    ranks: Mapping[tuple[bytes, bytes], int],
    *,
    dropout: float = 0.0,
    uniform: Callable[[], float] | None = None,
) -> list[bytes]:
    """Merge the bytes of a pre-token by a list of merges.

    Again and again the pair of neighbours with the lowest rank is merged, the leftmost of equal
    ones, until no pair has a rank. A merge that brings up a pair of a lower rank, as a list in
    another order than it was learnt in can have it, is followed by that pair at once.

    Args:
        pretoken: Any bytes; an empty one has no tokens.
        ranks: Merge to its place in the list.
        dropout: The probability with which a pair is passed over when its turn comes: pairs take
            their turns from the lowest rank up, and all take them again after a merge.
        uniform: Gives numbers in ``[0, 1)``; needed for ``dropout``.

    Returns:
        Tokens that join to ``pretoken``.

    Raises:
        ArgumentError: ``dropout`` without ``uniform``.

    Source: HF tokenizers 0.23.3, ``models/bpe/word.rs``, ``merge_all``; openai/gpt-2,
    src/encoder.py, ``Encoder.bpe``, is the same for merges in the order they were learnt.
    Dropout: Provilkov, Emelianenko and Voita 2020, "BPE-Dropout", section 3.

    Examples:
        >>> encode(b"aaab", {(b"a", b"a"): 0, (b"aa", b"b"): 1})
        [b'aa', b'a', b'b']
    """
    if dropout and uniform is None:
        raise ArgumentError("dropout needs uniform, a source of random numbers")
    tokens = [bytes([byte]) for byte in pretoken]
    while True:
        pairs = enumerate(pairwise(tokens))
        turns = sorted((ranks[pair], place) for place, pair in pairs if pair in ranks)
        for _, place in turns:
            if not (uniform and dropout and uniform() < dropout):
                tokens[place : place + 2] = [tokens[place] + tokens[place + 1]]
                break
        else:
            return tokens


def encode_by_ranks(pretoken: bytes, ranks: Mapping[bytes, int]) -> list[bytes]:
    """Merge the bytes of a pre-token by the ranks of tokens, without a list of merges.

    A pre-token that is a token is left whole. Otherwise, again and again, the neighbours
    whose concatenation has the lowest rank are merged, the leftmost of equal ones, until no
    concatenation has a rank.

    Args:
        pretoken: Any bytes; an empty one has no tokens.
        ranks: Token to rank, as a ``.tiktoken`` file has them.

    Returns:
        Parts that join to ``pretoken``; a single byte may be one that ``ranks`` lacks.

    Source: tiktoken 0.14.0, src/lib.rs, ``byte_pair_encode``.

    Examples:
        >>> encode_by_ranks(b"abcd", {b"bc": 0, b"abc": 1, b"cd": 2})
        [b'abc', b'd']
    """
    if pretoken in ranks:
        return [pretoken]
    parts = [pretoken[place : place + 1] for place in range(len(pretoken))]
    while True:
        joined = [left + right for left, right in pairwise(parts)]
        ranked = [(ranks[token], place) for place, token in enumerate(joined) if token in ranks]
        if not ranked:
            return parts
        _, place = min(ranked)
        parts[place : place + 2] = [joined[place]]

"""Replay merges that a twin has chosen, and write down what else there was to choose from.

Here a symbol is its id: two merges can make the same bytes, and stay two symbols.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Final, NamedTuple

from subword.errors import ArgumentError
from subword.trace.plain import Symbol
from subword.trace.records import Candidate, MergeStep, Word
from subword.types import Pair, TokenId

__all__ = ["IdWord", "Rules", "check_steps", "named", "replay"]

IdWord = tuple[int, tuple[TokenId, ...]]
"""Occurrences of a word, and its symbols."""

Scored = tuple[Fraction, Pair, int, tuple[int, int]]
"""Score of a pair, the pair, its count, and the counts of its symbols."""

_RULES_IN_WORDS: Final = {
    "greatest": "the lexicographically greatest pair",
    "first": "the pair seen first",
    "hf": "the smallest pair of ids, bytes numbered as their printable GPT-2 characters",
    "smallest_id": "the smallest pair of ids",
}


class Rules(NamedTuple):
    """What the twin went by.

    Attributes:
        score: ``frequency`` or ``likelihood``.
        ties: The rule for equal scores.
        may_merge: Whether a pair of this count may be merged at all.
        number_of: What the rules ``hf`` and ``smallest_id`` compare, of a symbol.
        top: Candidates that a step keeps.
    """

    score: str
    ties: str
    may_merge: Callable[[Pair, int], bool]
    number_of: Callable[[TokenId], int]
    top: int


def check_steps(n_steps: int, top: int) -> None:
    """Refuse numbers out of range.

    Raises:
        ArgumentError: ``n_steps`` is negative, or ``top`` below 1.
    """
    if n_steps < 0:
        raise ArgumentError(f"n_merges is {n_steps}; it cannot be negative")
    if top < 1:
        raise ArgumentError(f"top is {top}; keep at least the candidate that is chosen: 1")


def replay(
    words: Sequence[IdWord],
    merges: Iterable[tuple[Pair, TokenId]],
    tokens: Sequence[Symbol],
    rules: Rules,
    n_initial: int,
) -> tuple[MergeStep, ...]:
    """Give a step for each merge.

    Args:
        words: The words before the first merge, in the order in which they are seen.
        merges: The twin's pairs and what each becomes, in order.
        tokens: Spelling of each id.
        rules: What the twin went by.
        n_initial: Tokens before the first merge.

    Returns:
        One step a merge; the candidate that stands first is the twin's pair.
    """
    steps: list[MergeStep] = []
    shown = named(words, tokens)
    n_tokens = n_initial
    for rank, (pair, merged_id) in enumerate(merges):
        scored = _scored(words, tokens, rules)
        n_tied = sum(candidate[0] == scored[0][0] for candidate in scored)
        # The twin's choice comes first, whatever the order here.
        scored.sort(key=lambda candidate: candidate[1] != pair)
        kept = [_candidate(candidate, tokens) for candidate in scored[: rules.top]]
        after = [_merged(word, pair, merged_id) for word in words]
        changed = tuple(at for at, word in enumerate(after) if word is not words[at])
        shown = _renamed(shown, after, changed, tokens)
        steps.append(
            MergeStep(
                rank=rank,
                n_pairs=len(scored),
                candidates=tuple(kept),
                n_tied=n_tied,
                tied=tuple(c.pair for c in kept if c.score == kept[0].score),
                reason=_reason(kept[0], n_tied, rules),
                merged=tokens[merged_id],
                merged_id=merged_id,
                is_new=merged_id == n_tokens,
                n_occurrences=sum(
                    words[at][0] * (len(words[at][1]) - len(after[at][1])) for at in changed
                ),
                changed=changed,
                words=shown,
            )
        )
        n_tokens += merged_id == n_tokens
        words = after
    return tuple(steps)


def named(words: Iterable[IdWord], tokens: Sequence[Symbol]) -> tuple[Word, ...]:
    """Give the words with the spellings of their symbols."""
    return tuple(Word(count, tuple(tokens[symbol] for symbol in ids)) for count, ids in words)


def _renamed(
    shown: tuple[Word, ...],
    words: Sequence[IdWord],
    changed: Iterable[int],
    tokens: Sequence[Symbol],
) -> tuple[Word, ...]:
    """Spell the words that changed; the others are shared with the step before."""
    listed = list(shown)
    for at in changed:
        (listed[at],) = named([words[at]], tokens)
    return tuple(listed)


def _scored(words: Iterable[IdWord], tokens: Sequence[Symbol], rules: Rules) -> list[Scored]:
    """All pairs that may be merged, the best score first, equal ones in the order of the rule."""
    singles: Counter[TokenId] = Counter()
    pairs: Counter[Pair] = Counter()
    for count, symbols in words:
        for symbol in symbols:
            singles[symbol] += count
        for pair in pairwise(symbols):
            pairs[pair] += count
    scored: list[Scored] = []
    for pair, n in pairs.items():
        if rules.may_merge(pair, n):
            parts = (singles[pair[0]], singles[pair[1]])
            of_parts = parts[0] * parts[1] if rules.score == "likelihood" else 1
            scored.append((Fraction(n, of_parts), pair, n, parts))
    if rules.ties == "greatest":
        scored.sort(key=lambda row: [_sort_key(tokens[symbol]) for symbol in row[1]], reverse=True)
    elif rules.ties != "first":  # pairs stand in the order in which they are seen
        scored.sort(key=lambda row: [rules.number_of(symbol) for symbol in row[1]])
    scored.sort(key=lambda row: -row[0])
    return scored


def _sort_key(symbol: Symbol) -> bytes:
    """Code points order as their UTF-8 bytes do."""
    return symbol.encode() if isinstance(symbol, str) else symbol


def _candidate(scored: Scored, tokens: Sequence[Symbol]) -> Candidate:
    score, (left, right), count, parts = scored
    return Candidate((tokens[left], tokens[right]), count, score, *parts)


def _reason(best: Candidate, n_tied: int, rules: Rules) -> str:
    score = f"count {best.count}"
    if rules.score == "likelihood":
        score = f"score {best.score} = {best.count} / ({best.left_count} × {best.right_count})"
    if n_tied == 1:
        return f"alone has the greatest {score}"
    rule = _RULES_IN_WORDS[rules.ties]
    return f"one of {n_tied} with the greatest {score}; ties={rules.ties!r} takes {rule}"


def _merged(word: IdWord, pair: Pair, merged_id: TokenId) -> IdWord:
    """The word after a merge, or itself if that does not touch it."""
    count, symbols = word
    merged: list[TokenId] = []
    at = 0
    while at < len(symbols):
        is_pair = symbols[at : at + 2] == pair
        merged.append(merged_id if is_pair else symbols[at])
        at += 2 if is_pair else 1
    return word if len(merged) == len(symbols) else (count, tuple(merged))

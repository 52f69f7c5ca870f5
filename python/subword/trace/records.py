"""What the traces of merges are made of: frozen records that print."""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from subword.trace.plain import Symbol, readable
from subword.types import TokenId

__all__ = [
    "SHOWN_WORDS",
    "Candidate",
    "MergeStep",
    "MergeTrace",
    "Word",
    "listed",
]

SHOWN_WORDS = 8
"""Words that a printed step shows; the record has all."""


@dataclass(frozen=True, slots=True)
class Word:
    """A distinct word as it is cut now.

    Attributes:
        count: Its occurrences.
        symbols: Its parts, in order.
    """

    count: int
    symbols: tuple[Symbol, ...]

    def __str__(self) -> str:
        """Give the symbols, and the count where there are several occurrences."""
        times = f" ×{self.count}" if self.count > 1 else ""
        return "|".join(map(readable, self.symbols)) + times


@dataclass(frozen=True, slots=True)
class Candidate:
    """A pair that could be merged.

    Attributes:
        pair: The two symbols.
        count: Occurrences, overlapping ones included.
        score: What is compared, exactly: ``count`` by frequency,
            ``count / (left_count * right_count)`` by likelihood.
        left_count: Occurrences of the left symbol.
        right_count: Occurrences of the right symbol.
    """

    pair: tuple[Symbol, Symbol]
    count: int
    score: Fraction
    left_count: int
    right_count: int

    def __str__(self) -> str:
        """Give the pair and its score."""
        return f"{readable(self.pair[0])} + {readable(self.pair[1])} ({self.score})"


@dataclass(frozen=True, slots=True)
class MergeStep:
    """One merge: what was to be had, what was taken and why, and what came of it.

    Attributes:
        rank: Place in the list of merges.
        n_pairs: Distinct pairs that could be merged.
        candidates: The best of them, in the order of score and tie rule; the first is taken.
        n_tied: Pairs with the best score; 1 when there is no tie.
        tied: Those among ``candidates``.
        reason: In words, the tie rule named where it decided.
        merged: The symbol made.
        merged_id: Its id.
        is_new: False when a token with this spelling was there already.
        n_occurrences: Places where the merge was applied: fewer than the pair's count where
            occurrences overlap.
        changed: Places in ``words`` of those that changed.
        words: All words after the merge.
    """

    rank: int
    n_pairs: int
    candidates: tuple[Candidate, ...]
    n_tied: int
    tied: tuple[tuple[Symbol, Symbol], ...]
    reason: str
    merged: Symbol
    merged_id: TokenId
    is_new: bool
    n_occurrences: int
    changed: tuple[int, ...]
    words: tuple[Word, ...]

    @property
    def chosen(self) -> Candidate:
        """The pair that was merged."""
        return self.candidates[0]

    def __str__(self) -> str:
        """Give the merge, its reason and the words it changed."""
        head = f"{self.rank + 1}. {self.chosen} -> {readable(self.merged)}, id {self.merged_id}"
        return f"{head}\n   {self.reason}\n   {listed(self.words[at] for at in self.changed)}"


@dataclass(frozen=True, slots=True)
class MergeTrace:
    """The training of a model that merges pairs: BPE or WordPiece.

    Attributes:
        algorithm: ``bpe`` or ``wordpiece``.
        alphabet: ``bytes`` or ``characters``.
        score: ``frequency`` or ``likelihood``.
        ties: The rule for equal scores.
        n_merges: Merges asked for; fewer steps mean that no pair was left.
        special_tokens: Reserved strings.
        words: The distinct words before the first merge, in the order in which they were seen.
        tokens: Token of each id, before and after: shape (vocab_size,).
        n_initial: Tokens before the first merge.
        steps: The merges.
    """

    algorithm: str
    alphabet: str
    score: str
    ties: str
    n_merges: int
    special_tokens: tuple[str, ...]
    words: tuple[Word, ...]
    tokens: tuple[Symbol, ...]
    n_initial: int
    steps: tuple[MergeStep, ...]

    @property
    def merges(self) -> list[tuple[Symbol, Symbol]]:
        """The pairs in rank order."""
        return [step.chosen.pair for step in self.steps]

    @property
    def vocab(self) -> dict[TokenId, Symbol]:
        """Token of each id."""
        return dict(enumerate(self.tokens))

    def __str__(self) -> str:
        """Give the words and every step."""
        head = f"{self.algorithm} over {self.alphabet}, by {self.score}, ties {self.ties}"
        lines = [head, f"   {listed(self.words)}", *map(str, self.steps)]
        if len(self.steps) < self.n_merges:
            lines.append(f"stopped: no pair is left after {len(self.steps)} merges")
        return "\n".join(lines)


def listed(words: Iterable[Word]) -> str:
    """Write words on one line, the first of them where they are many."""
    texts = [str(word) for word in words]
    more = f", and {len(texts) - SHOWN_WORDS} more" if len(texts) > SHOWN_WORDS else ""
    return ", ".join(texts[:SHOWN_WORDS]) + more

"""What the traces of merges and of encoding are made of: frozen records that print."""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from subword.trace.plain import Symbol, readable
from subword.types import Span, TokenId

__all__ = [
    "SHOWN_WORDS",
    "Candidate",
    "EncodeTrace",
    "EncodedPart",
    "MergeApplied",
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


@dataclass(frozen=True, slots=True)
class MergeApplied:
    """A merge at one place.

    Attributes:
        rank: Its place in the list of merges.
        pair: The two tokens.
        position: Place of the left one among the parts before.
        parts: The parts after.
    """

    rank: int
    pair: tuple[bytes, bytes]
    position: int
    parts: tuple[bytes, ...]

    def __str__(self) -> str:
        """Give rank, pair and the parts after."""
        left, right = map(readable, self.pair)
        parts = "|".join(map(readable, self.parts))
        return f"rank {self.rank}: {left} + {right} at {self.position} -> {parts}"


@dataclass(frozen=True, slots=True)
class EncodedPart:
    """A special token or a pre-token, and how it came to its ids.

    Attributes:
        kind: ``special`` or ``pretoken``.
        text: Its bytes.
        byte_span: Where it stands in the text.
        start: Its parts before the first merge: its bytes, or itself where it is a token as a
            whole and that is looked up first.
        merges: The merges in the order in which they apply.
        tokens: The parts after the last.
        ids: Their ids.
    """

    kind: str
    text: bytes
    byte_span: Span
    start: tuple[bytes, ...]
    merges: tuple[MergeApplied, ...]
    tokens: tuple[bytes, ...]
    ids: tuple[TokenId, ...]

    def __str__(self) -> str:
        """Give the part, its merges and its ids."""
        head = f"{self.kind} {readable(self.text)} at {self.byte_span[0]}"
        ends = f"   ids {list(self.ids)}"
        return "\n".join([head, *(f"   {merge}" for merge in self.merges), ends])


@dataclass(frozen=True, slots=True)
class EncodeTrace:
    """A text on its way to ids.

    Attributes:
        text: Its bytes.
        parts: Special tokens and pre-tokens, in order; they join to the text.
        tokens: The tokens of all parts.
        ids: Their ids.
    """

    text: bytes
    parts: tuple[EncodedPart, ...]
    tokens: tuple[bytes, ...]
    ids: tuple[TokenId, ...]

    @property
    def bytes_per_token(self) -> float:
        """Mean bytes per token; NaN for an empty text."""
        return len(self.text) / len(self.ids) if self.ids else float("nan")

    def __str__(self) -> str:
        """Give every part and the ids."""
        return "\n".join([*map(str, self.parts), f"ids {list(self.ids)}"])


def listed(words: Iterable[Word]) -> str:
    """Write words on one line, the first of them where they are many."""
    texts = [str(word) for word in words]
    more = f", and {len(texts) - SHOWN_WORDS} more" if len(texts) > SHOWN_WORDS else ""
    return ", ".join(texts[:SHOWN_WORDS]) + more

"""What a trace is made of: frozen records that print, and their form in JSON.

A symbol is ``bytes`` where the model's units are bytes, ``str`` where they are characters.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from fractions import Fraction
from typing import Any

from subword.types import Span, TokenId

__all__ = [
    "Candidate",
    "EncodeTrace",
    "EncodedPart",
    "Loss",
    "MergeApplied",
    "MergeStep",
    "MergeTrace",
    "PieceScore",
    "Symbol",
    "UnigramStep",
    "UnigramTrace",
    "Word",
    "as_dict",
    "readable",
]

Symbol = str | bytes
"""A token on its way: a run of bytes or of characters."""

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
        return f"{head}\n   {self.reason}\n   {_shown(self.words[at] for at in self.changed)}"


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
        lines = [head, f"   {_shown(self.words)}", *map(str, self.steps)]
        if len(self.steps) < self.n_merges:
            lines.append(f"stopped: no pair is left after {len(self.steps)} merges")
        return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class PieceScore:
    """A piece of a unigram model.

    Attributes:
        piece: Its characters.
        score: Natural logarithm of its probability.
        expected: Occurrences that the model before this step expects; None for seed pieces.
    """

    piece: str
    score: float
    expected: float | None

    def __str__(self) -> str:
        """Give piece and score."""
        return f"{readable(self.piece)} {self.score:.3f}"


@dataclass(frozen=True, slots=True)
class Loss:
    """What a piece is worth: the log-likelihood per word that its removal would cost.

    Attributes:
        piece: The piece.
        count: Occurrences in the best segmentations.
        loss: None where the piece goes in any case, being unused or never the best way to
            write its own characters.
        alternative: How its own characters would be cut without it.
    """

    piece: str
    count: int
    loss: float | None
    alternative: tuple[str, ...]

    def __str__(self) -> str:
        """Give the piece, its loss and its alternative."""
        worth = "not needed" if self.loss is None else f"loss {self.loss:.4f}"
        return f"{readable(self.piece)} -> {'|'.join(map(readable, self.alternative))} ({worth})"


@dataclass(frozen=True, slots=True)
class UnigramStep:
    """One estimation or one pruning.

    Attributes:
        kind: ``estimate`` (expectation and maximization) or ``prune``.
        n_pieces: Pieces after the step.
        log_likelihood: Of all words under the scores after the step, each by its best
            segmentation, with their counts.
        pieces: The best pieces after the step.
        removed: The pieces it removed, for a pruning those of least loss first: with their
            losses.
        reason: In words.
        words: The best segmentation of each word after the step.
    """

    kind: str
    n_pieces: int
    log_likelihood: float
    pieces: tuple[PieceScore, ...]
    removed: tuple[Loss, ...]
    reason: str
    words: tuple[Word, ...]

    def __str__(self) -> str:
        """Give what was done and the words as they are cut now."""
        lines = [
            f"{self.kind}: {self.n_pieces} pieces, log-likelihood {self.log_likelihood:.3f}",
            f"   {self.reason}",
            f"   {_shown(self.words)}",
        ]
        if self.removed:
            lines.insert(2, "   removed: " + ", ".join(map(str, self.removed[:SHOWN_WORDS])))
        return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class UnigramTrace:
    """The training of a unigram language model.

    Attributes:
        vocab_size: Pieces asked for.
        words: The distinct words, each as one symbol, in the order of their spelling.
        required: Characters that every vocabulary keeps, with their occurrences.
        n_seed: Pieces to start from.
        seed: The best of them.
        steps: Estimations and prunings.
        pieces: The final pieces with their scores, best first.
        segmentations: The words as the final pieces cut them.
    """

    vocab_size: int
    words: tuple[Word, ...]
    required: tuple[tuple[str, int], ...]
    n_seed: int
    seed: tuple[PieceScore, ...]
    steps: tuple[UnigramStep, ...]
    pieces: tuple[PieceScore, ...]
    segmentations: tuple[Word, ...]

    def __str__(self) -> str:
        """Give the words, every step and the result."""
        lines = [
            f"unigram: {_shown(self.words)}",
            f"seed: {self.n_seed} pieces",
            *map(str, self.steps),
            f"result: {len(self.pieces)} pieces: {', '.join(map(str, self.pieces[:SHOWN_WORDS]))}",
            f"   {_shown(self.segmentations)}",
        ]
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


def readable(symbol: Symbol) -> str:
    r"""Write a symbol so that it can be read: a space as ␠, what cannot be printed escaped.

    Bytes are read as UTF-8; those that are none are written as ``\xNN``.

    Examples:
        >>> print(readable(" the"), readable("喜\n"), readable(b"\xe5\x96\x9c"), readable(b"\xe5"))
        ␠the 喜\n 喜 \xe5
    """
    text = symbol if isinstance(symbol, str) else symbol.decode("utf-8", "backslashreplace")
    return "".join(
        "␠" if char == " " else char if char.isprintable() else repr(char)[1:-1] for char in text
    )


def as_dict(record: object) -> Any:
    r"""Give a record as what JSON has: dicts, lists, strings, numbers.

    A fraction is a string such as ``"1/20"``. Bytes are a string in UTF-8 where each byte that
    is none is written ``\xNN`` and each backslash is doubled, so that no two are the same.

    Args:
        record: A trace, a part of it, or a tuple, list or dict of those.

    Examples:
        >>> as_dict(Candidate((b"\xe5", b"a"), 2, Fraction(1, 3), 2, 3))["pair"]
        ['\\xe5', 'a']
    """
    if is_dataclass(record) and not isinstance(record, type):
        return {field.name: as_dict(getattr(record, field.name)) for field in fields(record)}
    if isinstance(record, Mapping):
        return {str(key): as_dict(value) for key, value in record.items()}
    if isinstance(record, tuple | list):
        return [as_dict(item) for item in record]
    if isinstance(record, Fraction):
        return str(record)
    if isinstance(record, bytes):
        return record.replace(b"\\", b"\\\\").decode("utf-8", "backslashreplace")
    return record


def _shown(words: Iterable[Word]) -> str:
    listed = list(words)
    more = f", and {len(listed) - SHOWN_WORDS} more" if len(listed) > SHOWN_WORDS else ""
    return ", ".join(map(str, listed[:SHOWN_WORDS])) + more

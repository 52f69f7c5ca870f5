"""What the trace of a unigram model is made of: frozen records that print."""

from dataclasses import dataclass

from subword.trace.plain import readable
from subword.trace.records import SHOWN_WORDS, Word, listed

__all__ = ["Loss", "PieceScore", "UnigramStep", "UnigramTrace"]


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
            f"   {listed(self.words)}",
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
            f"unigram: {listed(self.words)}",
            f"seed: {self.n_seed} pieces",
            *map(str, self.steps),
            f"result: {len(self.pieces)} pieces: {', '.join(map(str, self.pieces[:SHOWN_WORDS]))}",
            f"   {listed(self.segmentations)}",
        ]
        return "\n".join(lines)

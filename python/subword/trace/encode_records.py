"""What the traces of encoding are made of: frozen records that print."""

from dataclasses import dataclass

from subword.trace.plain import readable
from subword.types import Span, TokenId

__all__ = [
    "EncodeTrace",
    "EncodedPart",
    "MatchTried",
    "MergeApplied",
    "PathCandidate",
    "PathStep",
    "Step",
]


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
class MatchTried:
    """A step of WordPiece: the longest token that goes on from here.

    Attributes:
        position: Bytes of the word before it.
        tried: What was looked up, longest first, with the prefix where it is inside the word.
        token: The last of ``tried``, or None: then the word is unknown as a whole.
    """

    position: int
    tried: tuple[bytes, ...]
    token: bytes | None

    def __str__(self) -> str:
        """Give the token and how many longer ones were tried."""
        found = "nothing fits" if self.token is None else readable(self.token)
        n_longer = len(self.tried) - (self.token is not None)
        return f"from {self.position}: {found}" + (f", {n_longer} tried before" * bool(n_longer))


@dataclass(frozen=True, slots=True)
class PathCandidate:
    """A piece as the last one of a way to some place.

    Attributes:
        piece: What it covers; where that is no piece, the character is unknown.
        start: Bytes of the pre-token before it.
        score: Its own score.
        total: Its score and that of the best way to ``start``.
    """

    piece: bytes
    start: int
    score: float
    total: float

    def __str__(self) -> str:
        """Give the piece and the total."""
        return f"{readable(self.piece)} from {self.start} ({self.total:.3f})"


@dataclass(frozen=True, slots=True)
class PathStep:
    """A step of Unigram: the best way to one place.

    Attributes:
        end: Bytes of the pre-token up to there.
        candidates: The pieces that end there, best first; of equal ones the longer.
        is_on_path: Whether the best segmentation passes here.
    """

    end: int
    candidates: tuple[PathCandidate, ...]
    is_on_path: bool

    def __str__(self) -> str:
        """Give the candidates, and whether the best segmentation passes here."""
        mark = "*" if self.is_on_path else " "
        return f"{mark} to {self.end}: {', '.join(map(str, self.candidates))}"


Step = MergeApplied | MatchTried | PathStep
"""What one step of encoding is, by the kind of the model."""


@dataclass(frozen=True, slots=True)
class EncodedPart:
    """A special token or a pre-token, and how it came to its ids.

    Attributes:
        kind: ``special`` or ``pretoken``.
        text: Its bytes, normalized.
        byte_span: Where it stands in the text as given.
        start: Its parts before the first step: its bytes or characters; itself where nothing is
            merged, or where it is a token as a whole and that is looked up first.
        merges: The merges in the order in which they apply, for BPE.
        tokens: The tokens at the end.
        ids: Their ids.
        matches: The longest matches from left to right, for WordPiece.
        ways: The best way to each place, for Unigram.
    """

    kind: str
    text: bytes
    byte_span: Span
    start: tuple[bytes, ...]
    merges: tuple[MergeApplied, ...]
    tokens: tuple[bytes, ...]
    ids: tuple[TokenId, ...]
    matches: tuple[MatchTried, ...] = ()
    ways: tuple[PathStep, ...] = ()

    @property
    def steps(self) -> tuple[Step, ...]:
        """The steps, of whichever kind they are; none for words and characters."""
        return self.merges or self.matches or self.ways

    def __str__(self) -> str:
        """Give the part, its steps and its ids."""
        head = f"{self.kind} {readable(self.text)} at {self.byte_span[0]}"
        ends = f"   ids {list(self.ids)}"
        return "\n".join([head, *(f"   {step}" for step in self.steps), ends])


@dataclass(frozen=True, slots=True)
class EncodeTrace:
    """A text on its way to ids.

    Attributes:
        text: Its bytes.
        parts: Special tokens and pre-tokens, in order. They join to the text where nothing is
            normalized and the split drops nothing.
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

"""SentencePiece's BPE pieces as merges in rank order.

Among neighbours whose concatenation is a piece, sentencepiece merges the one with the best score,
and of equal ones the leftmost. Until a piece is made nothing reaches over its borders, so that
each is only ever made of the two parts that merging its own text comes to: one merge a piece,
ranked by score, does the same. HF takes the lowest rank first, then the leftmost.

Pieces of one score get different ranks. That gives the same tokens where the order of their merges
does not matter: where no part of one is the other end of another's, and no better piece is made of
them. It also does for runs of one character, as Mistral's of ``▁``: the leftmost first fills a run
from the left, and joins what is full to what is before it, and so does the longest first.

Source: sentencepiece 0.2.3, src/bpe_model.cc; huggingface/tokenizers 0.23.3,
tokenizers/src/models/bpe/word.rs.
"""

import heapq
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import NamedTuple

from subword.errors import FormatError
from subword.models import Pieces
from subword.types import Pair

__all__ = ["merges_of_pieces"]


class _Made(NamedTuple):
    """A piece, and the two parts that it is made of."""

    text: str
    left: str
    right: str


def merges_of_pieces(model: Pieces) -> tuple[Pair, ...]:
    """Give merges by whose ranks every text gets the tokens that the scores give it.

    A piece that no text reaches has no merge.

    Args:
        model: SentencePiece's BPE, without unused pieces.

    Raises:
        FormatError: A piece with a part that is no piece, or scores that tie where the order of
            merges matters.

    Examples:
        >>> from subword.models import Piece
        >>> texts = [b"<unk>", b"ab", b"aab", b"a", b"b"]
        >>> pieces = [Piece(text, -float(at)) for at, text in enumerate(texts)]
        >>> merges_of_pieces(Pieces("bpe", pieces))
        ((3, 4), (3, 1))
    """
    ids = {piece.text.decode(): at for at, piece in enumerate(model.pieces)}
    known = {ids[text] for text in _found(model)}
    made = list(_made(_scores(model)))
    for text, *parts in made:
        missing = next((part for part in parts if ids.get(part) not in known), None)
        if missing is not None:
            raise FormatError(
                f"the piece {text!r:.40} is made of {missing!r:.40}, which is no piece: in merges "
                "of HF tokenizers every part is a token"
            )
    scores = {text: model.pieces[ids[text]].score for text, *_ in made}
    made.sort(key=lambda piece: (-scores[piece.text], ids[piece.text]))
    ranked = _ranked(made, scores)
    return tuple((ids[left], ids[right]) for _, left, right in ranked)


def _found(model: Pieces) -> Iterator[str]:
    return (piece.text.decode() for piece in model.pieces if piece.kind == "normal")


def _scores(model: Pieces) -> dict[str, float]:
    """Give the scores of the pieces that can be merged: no user-defined one cuts them."""
    cuts = {piece.text.decode() for piece in model.pieces if piece.kind == "user_defined"}
    lengths = sorted({len(text) for text in cuts})

    def is_cut(text: str) -> bool:
        return any(
            text[at : at + n] in cuts
            for n in lengths
            if n <= len(text)
            for at in range(len(text) - n + 1)
        )

    return {
        text: piece.score
        for piece in model.pieces
        if piece.kind == "normal" and len(text := piece.text.decode()) > 1 and not is_cut(text)
    }


def _made(scores: Mapping[str, float]) -> Iterator[_Made]:
    """Give the pieces that merging their own text makes."""
    lengths = {len(text) for text in scores}
    for text in scores:
        cut = 1 if len(text) == 2 else _last_cut(text, scores, lengths)
        if cut:
            yield _Made(text, text[:cut], text[cut:])


def _last_cut(text: str, scores: Mapping[str, float], lengths: set[int]) -> int:
    """Merge the characters of a text; give where its last two parts meet, or 0 for more parts."""
    n = len(text)
    ends = list(range(1, n + 1))
    before = list(range(-1, n - 1))
    heap: list[tuple[float, int, int, int]] = []

    def offer(at: int, middle: int, end: int) -> None:
        if end - at in lengths and (score := scores.get(text[at:end])) is not None:
            heapq.heappush(heap, (-score, at, middle, end))

    for at in range(n - 1):
        offer(at, at + 1, at + 2)
    while heap:
        _, at, middle, end = heapq.heappop(heap)
        # What has merged otherwise in between has another end, or none.
        if ends[at] != middle or ends[middle] != end:
            continue
        if at == 0 and end == n:
            return middle
        ends[at], ends[middle] = end, 0
        if end < n:
            before[end] = at
            offer(at, end, ends[end])
        if at > 0:
            offer(before[at], at, end)
    return 0


def _ranked(made: Sequence[_Made], scores: Mapping[str, float]) -> Iterator[_Made]:
    """Order pieces of equal scores, which are in groups already.

    Raises:
        FormatError: Their order matters, and no ranks keep it.
    """
    better: set[str] = set()
    for score, group in groupby(made, key=lambda piece: scores[piece.text]):
        tied = list(group)
        if len(tied) > 1:
            tied = _ordered(tied, better, score)
        yield from tied
        better.update(part for _, *parts in tied for part in parts)


def _ordered(tied: Sequence[_Made], better: set[str], score: float) -> list[_Made]:
    """Give pieces of one score in an order that does as the leftmost first does."""
    products = {piece.text for piece in tied}
    by_left: dict[str, list[_Made]] = {}
    for piece in tied:
        by_left.setdefault(piece.left, []).append(piece)
    runs = _runs(tied)

    def may_meet(piece: _Made, other: _Made) -> bool:
        if piece in runs and other in runs:
            return piece.text[0] == other.text[0]
        return piece is other and piece.left not in products

    for piece in tied:
        met = by_left.get(piece.right, ())
        if piece.text in better or not all(may_meet(piece, other) for other in met):
            raise _tie(piece, score)
    free = [piece for piece in tied if piece not in runs]
    return sorted(runs, key=lambda piece: (-len(piece.text), piece.text)) + free


def _runs(tied: Sequence[_Made]) -> set[_Made]:
    """Give the runs of a character that begin with two of it, each made of shorter ones."""
    symbols = {piece.left for piece in tied if piece.left == piece.right and len(piece.left) == 1}
    runs: dict[str, _Made] = {}
    for piece in sorted(tied, key=lambda piece: len(piece.text)):
        symbol = piece.text[0]
        is_run = symbol in symbols and piece.text == symbol * len(piece.text)
        if is_run and all(part == symbol or part in runs for part in piece[1:]):
            runs[piece.text] = piece
    return set(runs.values())


def _tie(piece: _Made, score: float) -> FormatError:
    return FormatError(
        f"the piece {piece.text!r:.40} has the score {score} of other pieces, and which of them "
        "is made first depends on the place in the text; HF tokenizers' merges have one order. "
        "Give each piece a score of its own"
    )

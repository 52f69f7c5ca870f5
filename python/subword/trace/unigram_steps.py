"""A unigram language model, learnt step by step."""

import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Final

from subword.errors import ArgumentError, TextError, VocabSizeError
from subword.reference import unigram as twin
from subword.special_tokens import check_special_tokens
from subword.trace.records import Word
from subword.trace.sources import TraceSource, read_words
from subword.trace.unigram_records import Loss, PieceScore, UnigramStep, UnigramTrace

__all__ = ["unigram"]

MAX_SUBSTRINGS: Final = 1_000_000
"""Substrings of the distinct words; the twin looks at every one in every step."""

_METASPACE: Final = "▁"


def unigram(
    source: TraceSource,
    vocab_size: int,
    *,
    pattern: str | Sequence[str] | None = "whitespace",
    special_tokens: Sequence[str] = (),
    metaspace: bool = False,
    character_coverage: float = 0.9995,
    max_piece_length: int = 16,
    seed_size: int = 1_000_000,
    shrinking_factor: float = 0.75,
    n_sub_iterations: int = 2,
    top: int = 10,
) -> UnigramTrace:
    """Learn the pieces of a unigram model from a small source and keep every step.

    Seed pieces are the characters and the substrings that occur more than once. Then, in turn,
    ``n_sub_iterations`` estimations (expected counts under the scores so far, then new scores
    from them) and a pruning (the pieces whose loss costs most likelihood stay), until there are
    at most 1.1 times ``vocab_size``; the best of these are the result.

    Args:
        source: A text (a ``str`` is not a path here), documents, or words with their counts.
        vocab_size: Pieces wanted, required characters included.
        pattern: The split pattern for texts; words of a mapping are not split again. Pre-tokens
            that are all whitespace are left out.
        special_tokens: Reserved strings; texts are cut at them.
        metaspace: Put ▁ before each word, as SentencePiece does.
        character_coverage: Share of character occurrences that required characters cover.
        max_piece_length: Longest piece in characters.
        seed_size: Most substrings to start from.
        shrinking_factor: Share of the pieces that one pruning keeps.
        n_sub_iterations: Estimations between two prunings.
        top: Pieces that the seed and each step keep.

    Returns:
        The trace; its pieces are those of the trainer.

    Raises:
        ArgumentError: An argument out of range, or a source or word that is too large.
        EmptyCorpusError: No word in the source.
        TextError: A word that is not UTF-8.
        VocabSizeError: The required characters alone pass ``vocab_size``.

    Source: Kudo 2018, "Subword Regularization: Improving Neural Network Translation Models with
    Multiple Subword Candidates", section 3.2.

    Examples:
        >>> trace = unigram({"hug": 10, "pug": 5, "hugs": 5}, 6)
        >>> [piece.piece for piece in trace.pieces]
        ['hug', 'g', 'u', 'p', 's', 'h']
        >>> [step.kind for step in trace.steps]
        ['estimate', 'estimate', 'prune', 'estimate', 'estimate']
        >>> [str(word) for word in trace.segmentations]
        ['hug ×10', 'hug|s ×5', 'p|u|g ×5']
    """
    if top < 1 or n_sub_iterations < 1 or not 0 < shrinking_factor < 1:
        raise ArgumentError(
            f"top is {top}, n_sub_iterations {n_sub_iterations}, shrinking_factor "
            f"{shrinking_factor}; expected at least 1, at least 1, and between 0 and 1"
        )
    counted = read_words(
        source, pattern, check_special_tokens(special_tokens), keep_whitespace=False
    )
    texts: Counter[str] = Counter()
    for pretoken, count, _ in counted:
        texts[(_METASPACE if metaspace else "") + _decoded(pretoken)] += count
    _check_substrings(texts)
    # The parts of the twin, so that every decision is the twin's.
    alphabet = twin._required_characters(texts, character_coverage, "")
    if len(alphabet) > vocab_size:
        raise VocabSizeError(
            f"vocab_size leaves {vocab_size} pieces, but the text has {len(alphabet)} required "
            "characters"
        )
    words = twin._words(texts, set(alphabet))
    scores = twin._seed_scores(words, alphabet, max_piece_length, seed_size)
    seed = scores
    steps: list[UnigramStep] = []
    wanted = int(vocab_size * twin.SLACK)
    while True:
        for _ in range(n_sub_iterations):
            before, expected = scores, twin._expected_counts(words, scores)
            scores = twin._maximized(expected, alphabet)
            steps.append(_estimated(words, before, scores, expected, top))
        if len(scores) <= wanted:
            break
        n_kept = max(wanted, int(shrinking_factor * len(scores)))
        kept = twin._pruned(words, scores, alphabet, n_kept)
        if len(kept) == len(scores):
            break
        before, scores = scores, {piece: scores[piece] for piece in scores if piece in kept}
        steps.append(_pruned(words, before, scores, alphabet, n_kept, top))
    best = sorted(scores, key=lambda piece: (-scores[piece], piece))
    others = [piece for piece in best if piece not in alphabet]
    chosen = {*alphabet, *others[: vocab_size - len(alphabet)]}
    final = {piece: scores[piece] for piece in best if piece in chosen}
    return UnigramTrace(
        vocab_size=vocab_size,
        words=tuple(Word(count, (word,)) for word, count in words.items()),
        required=tuple(alphabet.items()),
        n_seed=len(seed),
        seed=_best(seed, {}, top),
        steps=tuple(steps),
        pieces=_best(final, {}, len(final)),
        segmentations=_segmented(words, final)[1],
    )


def _decoded(pretoken: bytes) -> str:
    try:
        text = pretoken.decode()
    except UnicodeDecodeError as error:
        raise TextError(
            f"the word {pretoken!r:.40} is not UTF-8 at byte {error.start}; a unigram model is one "
            "of characters"
        ) from error
    return text


def _check_substrings(texts: Iterable[str]) -> None:
    n_substrings = sum(len(text) ** 2 // 2 for text in texts)
    if n_substrings > MAX_SUBSTRINGS:
        raise ArgumentError(
            f"the words have {n_substrings} substrings, and a trace looks at {MAX_SUBSTRINGS}; "
            "give less text, or a pattern that cuts it into shorter words"
        )


def _estimated(
    words: Mapping[str, int],
    before: Mapping[str, float],
    scores: Mapping[str, float],
    expected: Mapping[str, float],
    top: int,
) -> UnigramStep:
    gone = [piece for piece in before if piece not in scores]
    reason = (
        "new scores from expected counts; pieces expected fewer than "
        f"{twin.LEAST_EXPECTED} times go: {len(gone)}"
    )
    losses = (Loss(piece, 0, None, tuple(_path(piece, scores))) for piece in sorted(gone)[:top])
    return _step("estimate", words, scores, expected, tuple(losses), reason, top)


def _pruned(
    words: Mapping[str, int],
    before: Mapping[str, float],
    scores: Mapping[str, float],
    alphabet: Collection[str],
    n_kept: int,
    top: int,
) -> UnigramStep:
    counts: Counter[str] = Counter(dict.fromkeys(before, 0))
    for word, count in words.items():
        for piece in _path(word, before):
            counts[piece] += count
    loss_of = _loss_function(counts, sum(words.values()), before)
    removed = [loss_of(piece) for piece in before if piece not in scores]
    removed.sort(key=lambda loss: (loss.loss is not None, loss.loss or 0.0, loss.piece))
    reason = (
        f"{n_kept} of {len(before)} pieces may stay: the {len(alphabet)} required characters, and "
        "those whose removal costs most likelihood"
    )
    return _step("prune", words, scores, {}, tuple(removed[:top]), reason, top)


def _loss_function(
    counts: Mapping[str, int], n_words: int, scores: Mapping[str, float]
) -> Callable[[str], Loss]:
    """Give what tells a piece's loss, in the terms of the twin's pruning."""
    total = float(sum(counts.values()))

    def loss_of(piece: str) -> Loss:
        count = counts[piece]
        score, alternative = twin._best_path(piece, scores, without=piece)
        if count == 0 or score > scores[piece]:
            return Loss(piece, count, None, tuple(alternative))
        log_total_then = math.log(total + count * (len(alternative) - 1.0))
        log_then = sum(math.log(counts[part] + count) - log_total_then for part in alternative)
        loss = count / n_words * (math.log(count) - math.log(total) - log_then)
        return Loss(piece, count, loss, tuple(alternative))

    return loss_of


def _step(
    kind: str,
    words: Mapping[str, int],
    scores: Mapping[str, float],
    expected: Mapping[str, float],
    removed: tuple[Loss, ...],
    reason: str,
    top: int,
) -> UnigramStep:
    log_likelihood, segmentations = _segmented(words, scores)
    return UnigramStep(
        kind=kind,
        n_pieces=len(scores),
        log_likelihood=log_likelihood,
        pieces=_best(scores, expected, top),
        removed=removed,
        reason=reason,
        words=segmentations,
    )


def _best(
    scores: Mapping[str, float], expected: Mapping[str, float], top: int
) -> tuple[PieceScore, ...]:
    best = sorted(scores, key=lambda piece: (-scores[piece], piece))[:top]
    return tuple(PieceScore(piece, scores[piece], expected.get(piece)) for piece in best)


def _segmented(
    words: Mapping[str, int], scores: Mapping[str, float]
) -> tuple[float, tuple[Word, ...]]:
    """The log-likelihood of the words by their best segmentations, and those."""
    paths = [(count, *twin._best_path(word, scores)) for word, count in words.items()]
    log_likelihood = sum(count * score for count, score, _ in paths)
    return log_likelihood, tuple(Word(count, tuple(path)) for count, _, path in paths)


def _path(text: str, scores: Mapping[str, float]) -> Iterable[str]:
    return twin._best_path(text, scores)[1]

"""New pieces for a SentencePiece vocabulary, BPE or Unigram.

In BPE any two neighbours whose joined text is a piece can merge, the best score first: new scores
lie below all old ones, so old merges are done before a new one is thought of. In Unigram the path
with the greatest sum of scores wins: a new piece gets a little more than the best path that its
text has, so that it wins there, and all but never moves a border elsewhere.
"""

import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

import numpy as np
import numpy.typing as npt

from subword.counts import PretokenCounts
from subword.errors import ArgumentError, VocabularyError
from subword.models import Piece, Pieces, Unigram
from subword.tokenizer import Tokenizer
from subword.types import Ragged
from subword.vocabulary.checks import model_alone
from subword.vocabulary.continued_bpe import continue_merges
from subword.vocabulary.torn import changed_texts, torn_texts
from subword.vocabulary.words import words_of

__all__ = ["extended_pieces", "given_pieces", "reached_pieces", "with_pieces"]

# Share of all characters that may stay without a piece of their own, as sentencepiece's default.
_UNCOVERED: Final = 0.0005
# Learnt beyond what is asked for, since some pieces turn out not to be reached.
_SPARE: Final = 1.05
# By how much a Unigram piece beats the best path of its text: two units in the last place where
# sentencepiece's sums of 32 bits start anew, at -100,000.
_STEP: Final = 2.0**-6
# What an unknown character has below the least score: kUnkPenalty of sentencepiece 0.2.3.
_UNKNOWN_PENALTY: Final = 10.0


def extended_pieces(
    tokenizer: Tokenizer,
    counts: PretokenCounts,
    n_tokens: int,
    *,
    min_frequency: int,
    max_bytes: int | None,
) -> Tokenizer:
    """Give a tokenizer up to ``n_tokens`` more pieces, learnt from counts.

    They are the characters without a piece and what merging makes of them and the old pieces,
    whichever save the most ids; characters come first, and no more than cover 99.95 % of the
    text. Without byte pieces all of these characters do, since they were unknown. A piece that its
    own text does not give is left out, and so is one of Unigram with which a counted word is cut
    where it was not.

    Raises:
        ArgumentError: Special tokens have ids behind the pieces, where new pieces would go.
        EmptyCorpusError: There is no word to learn from.
    """
    model = _model(tokenizer)
    words, numbers = words_of(tokenizer, counts)
    texts = {piece.text for piece in model.pieces}
    missing = _missing_characters(words, numbers, texts, min_frequency)[:n_tokens]
    characters = [text for text, _ in missing]
    base = with_pieces(tokenizer, characters)
    encoded = _mergeable(model_alone(base).encode_batch(words), base)
    merges = continue_merges(
        encoded[0],
        numbers[encoded[1]],
        base.model.vocab,
        int(n_tokens * _SPARE) + 1,
        first_id=len(model.pieces) + len(characters),
        taken={text.encode() for text in tokenizer.special_tokens},
        min_frequency=min_frequency,
        max_token_length=max_bytes,
    )
    n_characters = len(missing)
    # Without bytes a character saves no ids: it is the difference between known and unknown.
    if model.byte_fallback:
        n_characters = _share(missing, [merge.count for merge in merges], n_tokens)
    lacking = {text.decode() for text in characters[n_characters:]}
    made = [merge.token for merge in merges if lacking.isdisjoint(merge.token.decode())]
    reached = reached_pieces(tokenizer, characters[:n_characters], made)
    chosen = reached[:n_tokens]
    if isinstance(model, Unigram):
        chosen = _untorn(tokenizer, chosen, words)
        if n_lacking := n_tokens - len(chosen):
            # What is left out makes room for as many others, of which few are left out again.
            more = _untorn(tokenizer, reached[: n_tokens + 2 * n_lacking], words)
            chosen = _untorn(tokenizer, more[:n_tokens], words)
    return with_pieces(tokenizer, chosen)


def _untorn(tokenizer: Tokenizer, texts: Sequence[bytes], words: Sequence[bytes]) -> list[bytes]:
    """Leave out pieces of words that are cut where they were not, until there are none.

    Paths of the same pieces in another order are as good as each other but for rounding, which a
    new piece before them can turn.
    """
    old = model_alone(tokenizer)
    before = old.encode_batch(words)
    first = len(_model(tokenizer).pieces)
    kept = list(texts)
    while True:
        new = model_alone(with_pieces(tokenizer, kept))
        after = new.encode_batch(words)
        changed, _ = changed_texts(before, after, np.arange(first, dtype=np.int64))
        torn = set(torn_texts(words, before, after, old, new, changed))
        gone = {at - first for row in torn for at in after[row].tolist() if at >= first}
        if not gone:
            return kept
        kept = [text for at, text in enumerate(kept) if at not in gone]


def _share(missing: Sequence[tuple[bytes, int]], counts: Sequence[int], n_tokens: int) -> int:
    """Give how many characters are among the ``n_tokens`` pieces that save the most ids.

    A character saves the ids of its bytes but one, and a merge one id an occurrence. What is
    merged of a character occurs less often than it, so a chosen merge has its characters.
    """
    at = 0
    while at < min(len(missing), n_tokens):
        text, count = missing[at]
        n_merges = n_tokens - at - 1
        # All merges that save more than this character would fill what is left.
        if n_merges < len(counts) and counts[n_merges] > (len(text) - 1) * count:
            break
        at += 1
    return at


def given_pieces(tokenizer: Tokenizer, tokens: Sequence[bytes]) -> Tokenizer:
    """Give a tokenizer that has these pieces too, each with what it is made of step by step.

    Raises:
        ArgumentError: Special tokens have ids behind the pieces, where new pieces would go.
        VocabularyError: A token that its own text does not give, whatever its score.
    """
    model = _model(tokenizer)
    known = {piece.text for piece in model.pieces}
    characters = dict.fromkeys(c.encode() for token in tokens for c in token.decode())
    missing = [character for character in characters if character not in known]
    base = with_pieces(tokenizer, missing)
    made = [token for token in sorted(tokens, key=len) if token not in missing]
    if isinstance(model, Pieces):
        encoded, row = _mergeable(model_alone(base).encode_batch(made), base)
        merges = continue_merges(
            encoded,
            np.ones(len(row), np.uint64),
            base.model.vocab,
            len(encoded.ids),
            first_id=len(model.pieces) + len(missing),
            taken={text.encode() for text in tokenizer.special_tokens},
        )
        made = [merge.token for merge in merges]
    reached = reached_pieces(tokenizer, missing, made)
    stuck = [token for token in tokens if token not in set(reached)]
    if stuck:
        raise VocabularyError(
            f"new token {stuck[0]!r:.60} cannot be made: its text has other pieces whatever its "
            "score; leave it out"
        )
    return with_pieces(tokenizer, reached)


def with_pieces(tokenizer: Tokenizer, texts: Sequence[bytes]) -> Tokenizer:
    """Append pieces: scores fall from below the least old one, or beat each text's best path.

    Raises:
        ArgumentError: Special tokens have ids behind the pieces, where new pieces would go.
    """
    model = _model(tokenizer)
    if tokenizer.vocab_size > len(model.pieces):
        raise ArgumentError(
            f"ids from {len(model.pieces)} to {tokenizer.vocab_size - 1} are those of special "
            "tokens behind the pieces, where new ones would go; extend first, then add these"
        )
    normal = {piece.text: piece.score for piece in model.pieces if piece.kind == "normal"}
    least = min(normal.values(), default=0.0)
    if isinstance(model, Unigram):
        scores = _path_scores(texts, normal, least - _UNKNOWN_PENALTY)
    else:
        scores = _falling_scores(len(texts), least)
    added = [Piece(text, score) for text, score in zip(texts, scores, strict=True)]
    return tokenizer.replace(model=replace(model, pieces=(*model.pieces, *added)))


def _falling_scores(n: int, least: float) -> list[float]:
    score = np.float32(least)
    scores = []
    for _ in range(n):
        # Scores are stored in 32 bits, where far from 0 a step of 1 may be none.
        score = min(score - np.float32(1), np.nextafter(score, np.float32(-np.inf)))
        scores.append(float(score))
    return scores


def _path_scores(
    texts: Sequence[bytes], known: Mapping[bytes, float], unknown: float
) -> list[float]:
    """Give each text a little more than its best path has, the texts before it included."""
    pieces = {text.decode(errors="replace"): score for text, score in known.items()}
    longest = max(map(len, pieces), default=1)
    scores = []
    for data in texts:
        text = data.decode()
        best = [0.0] + [float("-inf")] * len(text)
        for end in range(1, len(text) + 1):
            for start in range(max(0, end - longest), end):
                lone = unknown if end - start == 1 else float("-inf")
                best[end] = max(best[end], best[start] + pieces.get(text[start:end], lone))
        scores.append(float(np.float32(best[-1] + _STEP)))
        pieces[text] = scores[-1]
        longest = max(longest, len(text))
    return scores


def _model(tokenizer: Tokenizer) -> Pieces | Unigram:
    model = tokenizer.model
    if not isinstance(model, Pieces | Unigram):
        raise ArgumentError(f"pieces need a SentencePiece model; got {type(model).__name__}")
    return model


def _missing_characters(
    words: Sequence[bytes], numbers: npt.NDArray[np.uint64], known: set[bytes], min_frequency: int
) -> list[tuple[bytes, int]]:
    """Give characters without a piece and what they count, those that save the most ids first."""
    found: Counter[str] = Counter()
    for word, count in zip(words, numbers.tolist(), strict=True):
        for character in word.decode():
            found[character] += count
    missing = [
        (count, character)
        for character, count in found.items()
        if character.encode() not in known
        and count >= min_frequency
        and not character.isspace()
        and unicodedata.category(character)[0] != "C"
        and character != "\ufffd"
    ]
    missing.sort(key=lambda row: (-row[0] * (len(row[1].encode()) - 1), row[1]))
    left = sum(count for count, _ in missing)
    bound = _UNCOVERED * found.total()
    chosen = []
    for count, character in missing:
        if left <= bound:
            break
        chosen.append((character.encode(), count))
        left -= count
    return chosen


def _mergeable(encoded: Ragged, tokenizer: Tokenizer) -> tuple[Ragged, npt.NDArray[np.int64]]:
    """Cut the ids at all that are no normal pieces; give the word that each part is of too."""
    kinds = [piece.kind == "normal" for piece in _model(tokenizer).pieces]
    normal = np.array(kinds, bool)[encoded.ids]
    word = np.repeat(np.arange(len(encoded), dtype=np.int64), np.diff(encoded.bounds))[normal]
    gap = np.cumsum(~normal)[normal]
    starts = (
        np.flatnonzero(np.concatenate([[True], (word[1:] != word[:-1]) | (gap[1:] != gap[:-1])]))
        if len(word)
        else np.zeros(0, np.int64)
    )
    ids = encoded.ids[normal]
    return Ragged(ids, np.append(starts, len(ids))), word[starts]


def reached_pieces(
    tokenizer: Tokenizer, characters: Sequence[bytes], made: Sequence[bytes]
) -> list[bytes]:
    """Leave out pieces that their own text does not give, until all that stay are reached."""
    texts = [*characters, *made]
    while True:
        alone = model_alone(with_pieces(tokenizer, texts))
        first = len(alone.model.vocab) - len(texts)
        found = alone.encode_batch(texts)
        kept = [text for at, text in enumerate(texts) if found[at].tolist() == [first + at]]
        if len(kept) == len(texts):
            return kept
        texts = kept

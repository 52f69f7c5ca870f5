"""New pieces for a SentencePiece BPE vocabulary.

Any two neighbours whose joined text is a piece can merge there, the best score first. New scores
lie below all old ones, so old merges are done before a new one is thought of.
"""

import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import numpy as np
import numpy.typing as npt

from subword import _core
from subword.counts import PretokenCounts
from subword.errors import ArgumentError, EmptyCorpusError
from subword.models import Piece, Pieces
from subword.normalizers import SentencePieceSpaces
from subword.tokenizer import Tokenizer
from subword.types import Ragged
from subword.vocabulary.checks import model_alone
from subword.vocabulary.continued_bpe import continue_merges

__all__ = ["extended_pieces", "reached_pieces", "with_pieces"]

_SPACE: Final = "\u2581"
# Share of all characters that may stay without a piece of their own, as sentencepiece's default.
_UNCOVERED: Final = 0.0005
# Learnt beyond what is asked for, since some pieces turn out not to be reached.
_SPARE: Final = 1.05


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
    text. A piece that its own text does not give is left out.

    Raises:
        ArgumentError: Special tokens have ids behind the pieces, where new pieces would go.
        EmptyCorpusError: There is no word to learn from.
    """
    model = tokenizer.model
    if not isinstance(model, Pieces):
        raise ArgumentError(f"pieces need a SentencePiece model; got {type(model).__name__}")
    words, numbers = _words(tokenizer, counts)
    reserved = set(tokenizer.special_tokens)
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
        taken={text.encode() for text in reserved},
        min_frequency=min_frequency,
        max_token_length=max_bytes,
    )
    n_characters = _share(missing, [merge.count for merge in merges], n_tokens)
    made = [merge.token for merge in merges]
    return with_pieces(
        tokenizer, reached_pieces(tokenizer, characters[:n_characters], made)[:n_tokens]
    )


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


def with_pieces(tokenizer: Tokenizer, texts: Sequence[bytes]) -> Tokenizer:
    """Append pieces, their scores strictly falling from below the least old one.

    Raises:
        ArgumentError: Special tokens have ids behind the pieces, where new pieces would go.
    """
    model = tokenizer.model
    if not isinstance(model, Pieces):
        raise ArgumentError(f"pieces need a SentencePiece model; got {type(model).__name__}")
    if tokenizer.vocab_size > len(model.pieces):
        raise ArgumentError(
            f"ids from {len(model.pieces)} to {tokenizer.vocab_size - 1} are those of special "
            "tokens behind the pieces, where new ones would go; extend first, then add these"
        )
    score = np.float32(min((p.score for p in model.pieces if p.kind == "normal"), default=0.0))
    added = []
    for text in texts:
        # Scores are stored in 32 bits, where far from 0 a step of 1 may be none.
        score = min(score - np.float32(1), np.nextafter(score, np.float32(-np.inf)))
        added.append(Piece(text, float(score)))
    return tokenizer.replace(model=replace(model, pieces=(*model.pieces, *added)))


def _words(
    tokenizer: Tokenizer, counts: PretokenCounts
) -> tuple[list[str], npt.NDArray[np.uint64]]:
    """Give the pre-tokens as the model sees them, those with a space inside left out."""
    spaces = [step for step in tokenizer.normalizer if isinstance(step, SentencePieceSpaces)]
    others = [step for step in tokenizer.normalizer if not isinstance(step, SentencePieceSpaces)]
    escapes = any(step.escape_whitespaces for step in spaces)
    normalizer = _core.Normalizer(others) if others else None
    words: list[str] = []
    numbers: list[int] = []
    for pretoken, count in zip(counts, counts.counts().tolist(), strict=True):
        data = normalizer.normalize(pretoken)[0] if normalizer else pretoken
        word = data.decode("utf-8", "replace")
        if escapes:
            word = word.replace(" ", _SPACE)
        is_one = _SPACE not in word[1:] and word != _SPACE
        if is_one and not any(name in word for name in tokenizer.special_tokens):
            words.append(word)
            numbers.append(count)
    if not words:
        raise EmptyCorpusError("the counts hold no word; there is nothing to learn from")
    return words, np.array(numbers, np.uint64)


def _missing_characters(
    words: Sequence[str], numbers: npt.NDArray[np.uint64], known: set[bytes], min_frequency: int
) -> list[tuple[bytes, int]]:
    """Give characters without a piece and what they count, those that save the most ids first."""
    found: Counter[str] = Counter()
    for word, count in zip(words, numbers.tolist(), strict=True):
        for character in word:
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
    model = tokenizer.model
    pieces = model.pieces if isinstance(model, Pieces) else ()
    normal = np.array([piece.kind == "normal" for piece in pieces], bool)[encoded.ids]
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

"""Pre-tokens as a model sees them, where it is not the bytes of the text that it reads."""

import re
from typing import Final

import numpy as np
import numpy.typing as npt

from subword import _core
from subword.counts import PretokenCounts
from subword.errors import EmptyCorpusError
from subword.models import Pieces, Unigram, WordPiece
from subword.normalizers import SentencePieceSpaces
from subword.tokenizer import Tokenizer
from subword.types import is_utf8

__all__ = ["SPACE", "SPACED_WORDS", "body_of", "cut", "is_changed", "normalized", "words_of"]

SPACE = "\u2581"
"""What sentencepiece writes for a space: U+2581."""

_SPACED: Final = re.compile(f"{SPACE}?[^{SPACE}]+")
SPACED_WORDS: Final = r" ?\S+|\s+"
"""A pattern to count with for a SentencePiece model, which has none: its pieces reach over
anything but a space. GPT-2's would forbid those of letters and punctuation, such as ``，但``."""


def words_of(
    tokenizer: Tokenizer, counts: PretokenCounts
) -> tuple[list[bytes], npt.NDArray[np.uint64]]:
    """Give what the model is given of each pre-token, normalized and cut, with its count.

    Where the model is SentencePiece's, the pre-tokens are cut at spaces too, each kept with what
    follows it. What has a special token in it, or bytes that are no UTF-8, is left out.

    Raises:
        EmptyCorpusError: There is nothing left.
    """
    reserved = [text.encode() for text in tokenizer.special_tokens]
    escapes = any(
        step.escape_whitespaces
        for step in tokenizer.normalizer
        if isinstance(step, SentencePieceSpaces)
    )
    found: dict[bytes, int] = {}
    for pretoken, count in zip(counts, counts.counts().tolist(), strict=True):
        for word in cut(tokenizer, normalized(tokenizer, pretoken)):
            if not is_utf8(word) or any(name in word for name in reserved):
                continue
            parts = _SPACED.findall(word.decode()) if escapes else [word.decode()]
            for part in map(str.encode, parts):
                found[part] = found.get(part, 0) + count
    found.pop(b"", None)
    if not found:
        raise EmptyCorpusError("the counts hold no word; there is nothing to learn from")
    # A sum past 64 bits is an error of the training, which meets it again.
    numbers = np.array([min(count, 2**64 - 1) for count in found.values()], np.uint64)
    return list(found), numbers


def normalized(tokenizer: Tokenizer, text: bytes) -> bytes:
    """Normalize a part of a text: nothing is added at its ends, nothing stripped there."""
    steps = tokenizer.normalizer
    spaces = [step for step in steps if isinstance(step, SentencePieceSpaces)]
    others = [step for step in steps if not isinstance(step, SentencePieceSpaces)]
    data = _core.Normalizer(others).normalize(text)[0] if others else text
    if any(step.escape_whitespaces for step in spaces):
        data = data.replace(b" ", SPACE.encode())
    return data


def cut(tokenizer: Tokenizer, text: bytes) -> list[bytes]:
    """Give what the split makes of a text from the middle of a document."""
    if tokenizer.pretokenizer is not None:
        steps = _core.Steps(list(tokenizer.pretokenizer))
        return [piece for piece, *_ in steps.split(text, at_start=False)]
    return _core.split(text, list(tokenizer.pattern))


def body_of(tokenizer: Tokenizer, token: bytes) -> bytes:
    """Give the text that a token stands for: without the prefix of WordPiece, spaces as such."""
    if isinstance(tokenizer.model, WordPiece):
        return token.removeprefix(tokenizer.model.prefix.encode())
    is_sentencepiece = isinstance(tokenizer.model, Pieces | Unigram)
    return token.replace(SPACE.encode(), b" ") if is_sentencepiece else token


def is_changed(tokenizer: Tokenizer, token: bytes) -> bool:
    """Tell whether the normalizer changes a token wherever it stands, so that no text gives it."""
    if not tokenizer.normalizer:
        return False
    # Digits around it, which compose with no mark: what is added or dropped at the ends of a text
    # is not the token's.
    body = body_of(tokenizer, token)
    around = normalized(tokenizer, b"0" + body + b"0")
    return not any(spelling in around for spelling in (body, token))

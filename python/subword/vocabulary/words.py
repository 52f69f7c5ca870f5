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

__all__ = ["SPACE", "SPACED_WORDS", "Front", "body_of", "words_of"]

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
    front = Front(tokenizer)
    found: dict[bytes, int] = {}
    for pretoken, count in zip(counts, counts.counts().tolist(), strict=True):
        for word in front.cut(front.normalized(pretoken)):
            if not is_utf8(word) or any(name in word for name in reserved):
                continue
            parts = _SPACED.findall(word.decode()) if front.escapes else [word.decode()]
            for part in map(str.encode, parts):
                found[part] = found.get(part, 0) + count
    found.pop(b"", None)
    if not found:
        raise EmptyCorpusError("the counts hold no word; there is nothing to learn from")
    # A sum past 64 bits is an error of the training, which meets it again.
    numbers = np.array([min(count, 2**64 - 1) for count in found.values()], np.uint64)
    return list(found), numbers


class Front:
    """What a part of a text goes through before the model, compiled once.

    Nothing is added at the ends of the part, nothing stripped there, as in the middle of a text.
    """

    def __init__(self, tokenizer: Tokenizer) -> None:
        steps = tokenizer.normalizer
        others = [step for step in steps if not isinstance(step, SentencePieceSpaces)]
        self.tokenizer = tokenizer
        self.has_normalizer = bool(steps)
        self.escapes = any(
            step.escape_whitespaces for step in steps if isinstance(step, SentencePieceSpaces)
        )
        self.pattern = list(tokenizer.pattern)
        self._normalizer = _core.Normalizer(others) if others else None
        pretokenizer = tokenizer.pretokenizer
        self._steps = None if pretokenizer is None else _core.Steps(list(pretokenizer))

    def normalized(self, text: bytes) -> bytes:
        """Normalize a part of a text."""
        data = self._normalizer.normalize(text)[0] if self._normalizer else text
        return data.replace(b" ", SPACE.encode()) if self.escapes else data

    def cut(self, text: bytes) -> list[bytes]:
        """Give what the split makes of a part."""
        if self._steps is not None:
            return [piece for piece, *_ in self._steps.split(text, at_start=False)]
        return _core.split(text, self.pattern) if self.pattern else [text]

    def changes(self, token: bytes) -> bool:
        """Tell whether a token is changed wherever it stands, so that no text gives it."""
        if not self.has_normalizer:
            return False
        # Digits around it, which compose with no mark: what is added or dropped at the ends of a
        # text is not the token's.
        body = body_of(self.tokenizer, token)
        around = self.normalized(b"0" + body + b"0")
        return not any(spelling in around for spelling in (body, token))


def body_of(tokenizer: Tokenizer, token: bytes) -> bytes:
    """Give the text that a token stands for: without the prefix of WordPiece, spaces as such."""
    if isinstance(tokenizer.model, WordPiece):
        return token.removeprefix(tokenizer.model.prefix.encode())
    is_sentencepiece = isinstance(tokenizer.model, Pieces | Unigram)
    return token.replace(SPACE.encode(), b" ") if is_sentencepiece else token

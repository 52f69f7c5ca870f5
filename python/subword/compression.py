"""How densely a tokenizer writes texts: the number that people quote, with what it depends on."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from subword.errors import ArgumentError
from subword.types import TextLike, TokenId

__all__ = ["Compression", "measure"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Compression:
    """Sizes of texts under one tokenizer.

    Attributes:
        n_documents: Texts encoded, empty ones included.
        n_bytes: Bytes of those texts as UTF-8.
        n_characters: Code points of those texts; a byte that is no UTF-8 counts as one.
        n_tokens: Ids they were encoded to, without those that a template would add.
        n_unknown: Those of them that are the unknown token: what they stood for is lost.
        vocab_size: One more than the tokenizer's greatest id.
        signature: What to quote beside a ratio so that others can repeat it.

    Examples:
        >>> from subword.named import ByteTokenizer
        >>> ByteTokenizer().compression(["né", ""]).bytes_per_token
        1.0
    """

    n_documents: int
    n_bytes: int
    n_characters: int
    n_tokens: int
    n_unknown: int
    vocab_size: int
    signature: str

    @property
    def bytes_per_token(self) -> float:
        """Mean UTF-8 bytes per token; higher is denser. NaN without tokens."""
        return self.n_bytes / self.n_tokens if self.n_tokens else float("nan")

    @property
    def characters_per_token(self) -> float:
        """Mean code points per token; NaN without tokens."""
        return self.n_characters / self.n_tokens if self.n_tokens else float("nan")


def measure(
    encode: Callable[[TextLike], npt.NDArray[np.uint32]],
    texts: Iterable[TextLike],
    *,
    unk_id: TokenId | None,
    vocab_size: int,
    signature: str,
) -> Compression:
    """Encode texts, one at a time, and add up their sizes.

    Raises:
        ArgumentError: A bare string for ``texts``.
    """
    if isinstance(texts, str | bytes):
        raise ArgumentError("texts is a single text; pass a list of texts")
    n_documents = n_bytes = n_characters = n_tokens = n_unknown = 0
    for text in texts:
        ids = encode(text)
        data = text.encode() if isinstance(text, str) else text
        n_documents += 1
        n_bytes += len(data)
        is_text = isinstance(text, str)
        n_characters += len(text) if is_text else len(data.decode("utf-8", "surrogateescape"))
        n_tokens += len(ids)
        n_unknown += 0 if unk_id is None else int(np.count_nonzero(ids == unk_id))
    return Compression(
        n_documents=n_documents,
        n_bytes=n_bytes,
        n_characters=n_characters,
        n_tokens=n_tokens,
        n_unknown=n_unknown,
        vocab_size=vocab_size,
        signature=signature,
    )

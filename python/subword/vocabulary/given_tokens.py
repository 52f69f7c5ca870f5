"""Tokens that a person asks for, each with the merges that make it."""

from collections.abc import Callable, Sequence, Set

import numpy as np
import numpy.typing as npt

from subword.errors import VocabularyError
from subword.models import Bpe, WordPiece
from subword.tokenizer import Tokenizer
from subword.types import Pair, TextLike, TokenId, is_utf8
from subword.vocabulary.checks import model_alone
from subword.vocabulary.continued_bpe import NewMerge, continue_merges
from subword.vocabulary.words import Front, body_of

__all__ = ["checked_tokens", "faults", "merges_of_tokens"]


def checked_tokens(tokenizer: Tokenizer, tokens: Sequence[TextLike]) -> list[bytes]:
    """Give the tokens as bytes.

    Raises:
        VocabularyError: One that is empty, there already, given twice, that spells a special
            token, or that no pre-token can hold or the normalizer changes.
    """
    fault_of = faults(tokenizer)
    checked: dict[bytes, None] = {}
    for token in tokens:
        data = token.encode("utf-8", "surrogatepass") if isinstance(token, str) else bytes(token)
        fault = "is given twice" if data in checked else fault_of(data)
        if fault:
            raise VocabularyError(f"new token {data!r:.60} {fault}; leave it out")
        checked[data] = None
    return list(checked)


def faults(tokenizer: Tokenizer) -> Callable[[bytes], str | None]:
    """Give what tells why a token cannot be added; None for one that can."""
    known = set(tokenizer.vocab.values())
    reserved = [text.encode() for text in tokenizer.special_tokens]

    is_bytes = isinstance(tokenizer.model, Bpe)
    front = Front(tokenizer)

    def fault_of(token: bytes) -> str | None:
        body = body_of(tokenizer, token)
        if not body:
            return "is empty"
        if token in known or (is_bytes and len(token) < 2):
            return "is a token already"
        if not is_bytes and not is_utf8(token):
            return "is part of a character, which no text of characters holds"
        if any(text in body for text in reserved):
            return "spells a special token, which is cut out of texts before the model sees them"
        if front.changes(token):
            return "is changed by the normalizer, so that no text gives it"
        pretokens = front.cut(body if isinstance(tokenizer.model, Bpe | WordPiece) else token)
        # What is part of a character by itself may stand in a longer pre-token all the same.
        if len(pretokens) != 1 and is_utf8(token):
            return f"is no pre-token: the split gives {pretokens!r:.80}"
        return None

    return fault_of


def merges_of_tokens(
    tokenizer: Tokenizer,
    tokens: Sequence[bytes],
    forbidden: Set[Pair] = frozenset(),
    *,
    first_id: TokenId,
    weights: npt.NDArray[np.uint64] | None = None,
) -> tuple[list[NewMerge], list[bytes]]:
    """Give merges that make each token of its old pieces, and no token that is there already.

    Steps that several tokens share are made once. Equal counts go to the lexicographically
    greatest pair.

    Args:
        tokenizer: What they are for.
        tokens: What shall be made.
        forbidden: Pairs that are never merged.
        first_id: The id of the first new token.
        weights: How often each token counts, shape (len(tokens),); once by default.

    Returns:
        The merges, and the tokens that only old tokens in between could make.
    """
    encoded = model_alone(tokenizer).encode_batch(list(tokens))
    taken = {text.encode() for text in tokenizer.special_tokens}
    merges = continue_merges(
        encoded,
        np.ones(len(tokens), np.uint64) if weights is None else weights,
        tokenizer.model.vocab,
        len(encoded.ids),
        first_id=first_id,
        taken=taken,
        forbidden=forbidden,
    )
    made = {merge.token for merge in merges}
    return merges, [token for token in tokens if token not in made]

"""Tokens that a person asks for, each with the merges that make it."""

from collections.abc import Sequence, Set

import numpy as np

from subword import _core
from subword.errors import VocabularyError
from subword.tokenizer import Tokenizer
from subword.types import Pair, TextLike, TokenId
from subword.vocabulary.checks import model_alone
from subword.vocabulary.continued_bpe import NewMerge, continue_merges

__all__ = ["checked_tokens", "merges_of_tokens"]


def checked_tokens(tokenizer: Tokenizer, tokens: Sequence[TextLike]) -> list[bytes]:
    """Give the tokens as bytes.

    Raises:
        VocabularyError: One that is empty, there already, given twice, that spells a special
            token, or that no pre-token can hold or the normalizer changes.
    """
    known = set(tokenizer.vocab.values())
    reserved = [text.encode() for text in tokenizer.special_tokens]
    checked: dict[bytes, None] = {}
    for token in tokens:
        data = token.encode("utf-8", "surrogatepass") if isinstance(token, str) else bytes(token)
        fault = None
        if len(data) < 2 or data in known:
            fault = "is a token already" if data else "is empty"
        elif data in checked:
            fault = "is given twice"
        elif any(text in data for text in reserved):
            fault = "spells a special token, which is cut out of texts before the model sees them"
        elif _pretokens(tokenizer, data) != [data]:
            fault = f"is no pre-token: the split gives {_pretokens(tokenizer, data)!r:.80}"
        elif _is_changed(tokenizer, data):
            fault = "is changed by the normalizer, so that no text gives it"
        if fault:
            raise VocabularyError(f"new token {data!r:.60} {fault}; leave it out")
        checked[data] = None
    return list(checked)


def merges_of_tokens(
    tokenizer: Tokenizer, tokens: Sequence[bytes], forbidden: Set[Pair], *, first_id: TokenId
) -> list[NewMerge]:
    """Give merges that make each token of its old pieces, and no token that is there already.

    Steps that several tokens share are made once. Each token counts as one occurrence; equal
    counts go to the lexicographically greatest pair.

    Raises:
        VocabularyError: A token that only old tokens in between could make.
    """
    encoded = model_alone(tokenizer).encode_batch(list(tokens))
    taken = {text.encode() for text in tokenizer.special_tokens}
    merges = continue_merges(
        encoded,
        np.ones(len(tokens), np.uint64),
        tokenizer.model.vocab,
        len(encoded.ids),
        first_id=first_id,
        taken=taken,
        forbidden=forbidden,
    )
    made = {merge.token for merge in merges}
    for token in tokens:
        if token not in made:
            raise VocabularyError(
                f"new token {token!r:.60} cannot be made of its old pieces: on every way lies a "
                "token that is there already, or a pair that shall not change; leave it out"
            )
    return merges


def _pretokens(tokenizer: Tokenizer, token: bytes) -> list[bytes]:
    """Give what the split makes of a token by itself."""
    if tokenizer.pretokenizer is not None:
        steps = _core.Steps(list(tokenizer.pretokenizer))
        return [piece for piece, *_ in steps.split(token)]
    return _core.split(token, list(tokenizer.pattern))


def _is_changed(tokenizer: Tokenizer, token: bytes) -> bool:
    if not tokenizer.normalizer:
        return False
    normal = Tokenizer(tokenizer.model, normalizer=tokenizer.normalizer)
    return normal.encode(token) != model_alone(tokenizer).encode(token)

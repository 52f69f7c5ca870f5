"""What a model reaches by merging, for formats that hold less than a model does."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from subword.errors import FormatError, UnencodableTextError
from subword.models import Bpe
from subword.templates import Template
from subword.tokenizer import Tokenizer
from subword.types import TokenId

__all__ = ["byte_level_bpe", "whole_first_matters", "without_tokens"]


def byte_level_bpe(tokenizer: Tokenizer, what: str) -> Bpe:
    """Give the model of a tokenizer that is byte-level BPE and nothing besides.

    Args:
        tokenizer: What is to be written.
        what: The format, for the message.

    Raises:
        FormatError: Another model, or a part that the format's writer does not know.
    """
    model = tokenizer.model
    if not isinstance(model, Bpe):
        raise FormatError(
            f"{what} is written for byte-level BPE; this is a {type(model).__name__} model"
        )
    parts = {
        "a normalizer": bool(tokenizer.normalizer),
        "pre-tokenizer steps": tokenizer.pretokenizer is not None,
        "a second spelling of a special token's id": any(
            flags.alias for flags in tokenizer.token_flags.values()
        ),
        "flags of special tokens": bool(tokenizer.token_flags),
        "a template": tokenizer.template != Template(),
        "a decoder": bool(tokenizer.decoder),
    }
    for part, is_there in parts.items():
        if is_there:
            raise FormatError(f"{what} is written without {part}, which this tokenizer has")
    return model


def whole_first_matters(tokenizer: Tokenizer) -> bool:
    """Tell whether some token is only found by looking it up whole.

    Where every token is what its own bytes merge to, a model gives the same ids with and
    without ``whole_first``.

    Examples:
        >>> model = Bpe({0: b"a", 1: b"b", 2: b"ab"}, (), whole_first=True)
        >>> whole_first_matters(Tokenizer(model))
        True
    """
    model = byte_level_bpe(tokenizer, "this format")
    if not model.whole_first:
        return False
    merging = Tokenizer(Bpe(model.vocab, model.merges))
    try:
        found = merging.encode_batch(list(model.vocab.values()), n_threads=1)
    except UnencodableTextError:
        return True
    ids = np.fromiter(model.vocab, np.uint32, len(model.vocab))
    return not (len(found.ids) == len(ids) and bool((found.ids == ids).all()))


def without_tokens(model: Bpe, special_tokens: Mapping[str, TokenId]) -> Bpe:
    """Give the model without entries that are there only to give special tokens their ids.

    An entry that a merge makes or reads stays: it is an ordinary token as well.
    """
    entries = {
        token_id: text.encode()
        for text, token_id in special_tokens.items()
        if model.vocab.get(token_id) == text.encode() and len(text.encode()) > 1
    }
    if not entries:
        return model
    lengths = {len(token) for token in entries.values()}
    made: set[bytes] = set()
    for pair in model.merges:
        left, right = (model.vocab[part] for part in pair)
        if len(left) + len(right) in lengths:
            made.add(left + right)
    read = {part for pair in model.merges for part in pair}
    kept = {
        token_id: token
        for token_id, token in model.vocab.items()
        if token_id not in entries or token_id in read or token in made
    }
    return replace(model, vocab=kept)

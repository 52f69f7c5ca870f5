"""What a model reaches by merging, for formats that hold less than a model does."""

import numpy as np

from subword.errors import FormatError, UnencodableTextError
from subword.models import Bpe
from subword.templates import Template
from subword.tokenizer import Tokenizer, without_tokens

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

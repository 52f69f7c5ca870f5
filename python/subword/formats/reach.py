"""What a model reaches by merging, for formats that hold less than a model does."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np

from subword.bpe_models import bpe_from_ranks
from subword.errors import FormatError, UnencodableTextError
from subword.models import Bpe
from subword.special_tokens import TokenFlags
from subword.templates import Template
from subword.tokenizer import Tokenizer

__all__ = ["BESIDE", "byte_level_bpe", "ranks_of", "refuse_beside", "whole_first_matters"]

BESIDE: Final[dict[str, Any]] = {
    "roles": {},
    "chat_template": None,
    "padding": None,
    "truncation": None,
}
"""Parts that change no ids of plain encoding, and what they are where there are none."""


def refuse_beside(tokenizer: Tokenizer, what: str, *, holds: Sequence[str] = ()) -> None:
    """Refuse what stands beside the model and the format has no place for.

    Args:
        tokenizer: What is to be written.
        what: The format, for the message.
        holds: Names of those parts of ``BESIDE`` that the format holds.

    Raises:
        FormatError: Names the part, and how to leave it out.
    """
    for name, empty in BESIDE.items():
        if name not in holds and getattr(tokenizer, name) not in (None, empty):
            raise FormatError(
                f"{what} has no place for the {name.replace('_', ' ')} of this tokenizer; "
                f"tokenizer.replace({name}={empty}) leaves it out"
            )


def byte_level_bpe(tokenizer: Tokenizer, what: str, *, flags: Sequence[str] = ()) -> Bpe:
    """Give the model of a tokenizer that is byte-level BPE and nothing besides.

    Args:
        tokenizer: What is to be written.
        what: The format, for the message.
        flags: Names of those fields of ``TokenFlags`` that the format holds.

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
        "a second spelling of a special token's id": "alias" not in flags
        and any(given.alias for given in tokenizer.token_flags.values()),
        "flags of special tokens": any(
            replace(given, **{name: getattr(TokenFlags(), name) for name in flags}) != TokenFlags()
            for given in tokenizer.token_flags.values()
        ),
        "a template": tokenizer.template != Template(),
        "a decoder": bool(tokenizer.decoder),
    }
    for part, is_there in parts.items():
        if is_there:
            raise FormatError(f"{what} is written without {part}, which this tokenizer has")
    refuse_beside(tokenizer, what)
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


def ranks_of(model: Bpe, what: str) -> dict[bytes, int]:
    """Give the rank of each token, for formats that hold ranks alone.

    Args:
        model: Byte-level BPE.
        what: The format, for the message.

    Raises:
        FormatError: tiktoken would not make the model's merges of its tokens, in the order of
            their ids, or would find tokens whole that the model does not.
    """
    ranks = {token: token_id for token_id, token in model.vocab.items()}
    if len(ranks) != len(model.vocab):
        raise FormatError(f"{what} has one id for each token, but two tokens here are equal")
    implied = bpe_from_ranks(ranks)
    given = list(model.merges)
    at = next(
        (i for i, (a, b) in enumerate(zip(given, implied.merges, strict=False)) if a != b),
        min(len(given), len(implied.merges)),
    )
    if at < max(len(given), len(implied.merges)):
        pair = given[at] if at < len(given) else implied.merges[at]
        left, right = (model.vocab[part] for part in pair)
        raise FormatError(
            f"merge {at}, {left!r:.40} + {right!r:.40}, is not what tiktoken would do: it takes "
            f"merges from the tokens and their ids alone, as {what} does. Write tokenizer.json or "
            "YAML instead"
        )
    if not model.whole_first and whole_first_matters(Tokenizer(implied)):
        raise FormatError(
            f"{what} stands for a model that looks whole pre-tokens up first, as tiktoken does, "
            "which would give this tokenizer other ids: some of its tokens are not made by merges"
        )
    return ranks

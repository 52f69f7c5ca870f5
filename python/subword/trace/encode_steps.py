"""A text to ids, step by step, with any tokenizer whose model is byte-pair encoding."""

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from itertools import pairwise
from typing import Final

from subword.errors import ArgumentError
from subword.models import Bpe
from subword.reference.pretokens import split, text_bytes
from subword.reference.special_tokens import cut
from subword.tokenizer import Special, Tokenizer
from subword.trace.records import EncodedPart, EncodeTrace, MergeApplied
from subword.trace.sources import MAX_SOURCE_BYTES
from subword.types import TextLike

__all__ = ["encode"]

MAX_PARTS: Final = 5_000_000
"""Parts in all sequences of a trace: those after each merge of a long pre-token are many."""

BytesPair = tuple[bytes, bytes]


def encode(tok: Tokenizer, text: TextLike, *, special: Special = "recognize") -> EncodeTrace:
    """Encode a text and keep every step.

    Args:
        tok: A tokenizer whose model is byte-pair encoding.
        text: A ``str``, or bytes of any kind.
        special: What text that spells a special token becomes, as in ``Tokenizer.encode``.

    Returns:
        The special tokens and pre-tokens of the text, each with its merges and ids. The ids are
        those of ``tok.encode``.

    Raises:
        ArgumentError: A tokenizer that does more than this trace knows, or a text too long for
            every step to be kept.
        SubwordError: As ``Tokenizer.encode``.

    Source: openai/gpt-2, src/encoder.py, ``Encoder.bpe``.

    Examples:
        >>> from subword.models import bpe_from_tokens
        >>> tok = Tokenizer(bpe_from_tokens({0: b"a", 1: b"b", 2: b"ab"}, [(b"a", b"b")]))
        >>> print(encode(tok, "abba"))
        pretoken abba at 0
           rank 0: a + b at 0 -> ab|b|a
           ids [2, 1, 0]
        ids [2, 1, 0]
    """
    if not isinstance(tok.model, Bpe):
        raise ArgumentError(
            f"the tokenizer's model is {type(tok.model).__name__}; a trace of encoding knows Bpe"
        )
    whole = text_bytes(text)
    if len(whole) > MAX_SOURCE_BYTES:
        raise ArgumentError(
            f"the text has {len(whole)} bytes; a trace takes {MAX_SOURCE_BYTES}, so give an excerpt"
        )
    expected = tok.encode(whole, special=special)  # refuses what cannot be encoded
    pieces = _pieces(tok, whole, special)
    n_parts = sum(len(piece) ** 2 // 2 for piece, is_special in pieces if not is_special)
    if n_parts > MAX_PARTS:
        raise ArgumentError(
            f"the steps of this text could have {n_parts} parts, and a trace keeps {MAX_PARTS}; "
            "give less text, or a pattern that cuts it into shorter pre-tokens"
        )
    ids = {token: token_id for token_id, token in tok.vocab.items()}
    ranks: dict[BytesPair, int] = {}
    for rank, pair in enumerate(tok.merges):
        ranks.setdefault(pair, rank)
    parts: list[EncodedPart] = []
    start = 0
    for piece, is_special in pieces:
        span = (start, start := start + len(piece))
        if is_special:
            token_id = tok.special_tokens[piece.decode()]
            parts.append(EncodedPart("special", piece, span, (piece,), (), (piece,), (token_id,)))
        else:
            parts.append(_encoded(piece, span, ranks, ids, whole_first=tok.model.whole_first))
    traced = tuple(token_id for part in parts for token_id in part.ids)
    if list(traced) != expected:
        raise ArgumentError(
            f"tok.encode gives {expected[:8]!r:.60}, but its special tokens, pattern and merges "
            f"give {traced[:8]!r:.60}; the tokenizer does more than a trace knows"
        )
    tokens = tuple(token for part in parts for token in part.tokens)
    return EncodeTrace(whole, tuple(parts), tokens, traced)


def _pieces(tok: Tokenizer, text: bytes, special: Special) -> list[tuple[bytes, bool]]:
    """Special tokens and pre-tokens, each with whether it is a special token."""
    recognized = [
        token.encode()
        for token in tok.special_tokens
        if special == "recognize" or (isinstance(special, AbstractSet) and token in special)
    ]
    return [
        (piece, is_special)
        for part, is_special in cut(text, recognized)
        for piece in ([part] if is_special else split(part, tok.pattern))
    ]


def _encoded(
    pretoken: bytes,
    span: tuple[int, int],
    ranks: Mapping[BytesPair, int],
    ids: Mapping[bytes, int],
    *,
    whole_first: bool,
) -> EncodedPart:
    """Merge the bytes of a pre-token: the lowest rank first, wherever it occurs."""
    if whole_first and pretoken in ids:
        return EncodedPart(
            "pretoken", pretoken, span, (pretoken,), (), (pretoken,), (ids[pretoken],)
        )
    start = parts = tuple(bytes([byte]) for byte in pretoken)
    merges: list[MergeApplied] = []
    while ranked := [pair for pair in pairwise(parts) if pair in ranks]:
        pair = min(ranked, key=ranks.__getitem__)
        position = 0
        # All places of the pair, before another pair is looked for.
        while position + 1 < len(parts):
            if parts[position : position + 2] == pair:
                parts = (*parts[:position], pair[0] + pair[1], *parts[position + 2 :])
                merges.append(MergeApplied(ranks[pair], pair, position, parts))
            position += 1
    token_ids = tuple(ids[part] for part in parts)
    return EncodedPart("pretoken", pretoken, span, start, tuple(merges), parts, token_ids)

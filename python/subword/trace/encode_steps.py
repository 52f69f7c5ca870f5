"""A text to ids, step by step, with the models that a person can follow."""

from collections.abc import Set as AbstractSet
from typing import Final

from subword import _core
from subword.errors import ArgumentError
from subword.reference.pretokens import split, text_bytes
from subword.reference.special_tokens import cut
from subword.special_tokens import TokenFlags
from subword.tokenizer import Special, Tokenizer
from subword.trace.encode_models import Traced, most_parts, tracer
from subword.trace.encode_records import EncodedPart, EncodeTrace
from subword.trace.sources import MAX_SOURCE_BYTES
from subword.types import TextLike, TokenId

__all__ = ["encode"]

MAX_PARTS: Final = 5_000_000
"""Parts in all sequences of a trace: those after each merge of a long pre-token are many."""


def encode(tok: Tokenizer, text: TextLike, *, special: Special = "recognize") -> EncodeTrace:
    """Encode a text and keep every step.

    Args:
        tok: A tokenizer; its model is BPE over bytes or characters, WordPiece, Unigram, words or
            characters.
        text: A ``str``, or bytes of any kind.
        special: What text that spells a special token becomes, as in ``Tokenizer.encode``.

    Returns:
        The special tokens and pre-tokens of the text, each with its steps and ids. The ids are
        those of ``tok.encode``.

    Raises:
        ArgumentError: A tokenizer that does more than this trace knows, or a text too long for
            every step to be kept.
        SubwordError: As ``Tokenizer.encode``.

    Source: openai/gpt-2, src/encoder.py, ``Encoder.bpe``; Devlin et al. 2019 (BERT), its
    ``WordpieceTokenizer``; Kudo 2018, "Subword Regularization", section 3.1.

    Examples:
        >>> from subword.bpe_models import bpe_from_tokens
        >>> tok = Tokenizer(bpe_from_tokens({0: b"a", 1: b"b", 2: b"ab"}, [(b"a", b"b")]))
        >>> print(encode(tok, "abba"))
        pretoken abba at 0
           rank 0: a + b at 0 -> ab|b|a
           ids [2, 1, 0]
        ids [2, 1, 0]
    """
    trace = tracer(tok.model)
    if trace is None:
        raise ArgumentError(
            f"the tokenizer's model is {type(tok.model).__name__}, whose steps no trace knows"
        )
    whole = text_bytes(text)
    if len(whole) > MAX_SOURCE_BYTES:
        raise ArgumentError(
            f"the text has {len(whole)} bytes; a trace takes {MAX_SOURCE_BYTES}, so give an excerpt"
        )
    expected = tok.encode_spans(whole, special=special)  # refuses what cannot be encoded
    pieces = _pieces(tok, whole, special)
    n_parts = sum(
        most_parts(tok.model, len(piece)) for piece, is_special in pieces if not is_special
    )
    if n_parts > MAX_PARTS:
        raise ArgumentError(
            f"the steps of this text could have {n_parts} parts, and a trace keeps {MAX_PARTS}; "
            "give less text, or a pattern that cuts it into shorter pre-tokens"
        )
    parts: list[EncodedPart] = []
    traced: list[TokenId] = []
    for piece, is_special in pieces:
        first = len(traced)
        if is_special:
            kind, of_part = "special", _special(tok, piece)
        else:
            kind, of_part = "pretoken", trace(piece)
        traced += of_part.ids
        spans = expected.byte_spans[first : len(traced)]
        span = (spans[0][0], spans[-1][1]) if spans else (0, 0)
        parts.append(EncodedPart(kind, piece, span, *of_part))
    if traced != expected.ids or tok.encode(whole, special=special) != expected.ids:
        raise ArgumentError(
            f"tok.encode gives {tok.encode(whole, special=special)[:8]!r:.60}, but its special "
            f"tokens, split and model give {traced[:8]!r:.60}; the tokenizer does more than a "
            "trace knows"
        )
    tokens = tuple(token for part in parts for token in part.tokens)
    return EncodeTrace(whole, tuple(parts), tokens, tuple(traced))


def _special(tok: Tokenizer, token: bytes) -> Traced:
    return Traced((token,), (), (token,), (tok.special_tokens[token.decode()],))


def _pieces(tok: Tokenizer, text: bytes, special: Special) -> list[tuple[bytes, bool]]:
    """Special tokens and pre-tokens, each with whether it is a special token."""
    pieces: list[tuple[bytes, bool]] = []
    normalizer = _core.Normalizer(list(tok.normalizer)) if tok.normalizer else None
    steps = None if tok.pretokenizer is None else _core.Steps(list(tok.pretokenizer))
    at_start = True
    for part, is_special in cut(text, _recognized(tok, special)):
        if is_special:
            pieces.append((part, True))
        else:
            segment = part if normalizer is None else normalizer.normalize(part)[0]
            if steps is None:
                pieces += [(piece, False) for piece in split(segment, tok.pattern)]
            else:
                cuts = steps.split(segment, at_start=at_start)
                pieces += [(piece, False) for piece, _, _ in cuts]
        at_start = False
    return pieces


def _recognized(tok: Tokenizer, special: Special) -> list[bytes]:
    """Give the added tokens that are looked for in the text."""
    recognized = []
    for token in tok.special_tokens:
        flags = tok.token_flags.get(token, TokenFlags())
        is_wanted = special == "recognize" or (
            isinstance(special, AbstractSet) and token in special
        )
        if not flags.control and (is_wanted or not flags.special):
            recognized.append(token.encode())
    return recognized

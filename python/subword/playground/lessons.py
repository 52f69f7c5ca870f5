"""Trainings and encodings step by step, within what a page can show."""

from typing import Any, Final, Literal, cast

from subword import trace
from subword.bpe_models import bpe_from_tokens
from subword.errors import ArgumentError
from subword.models import Ties
from subword.patterns import resolve_pattern
from subword.playground.bodies import choice_of, integer_of, text_of
from subword.playground.catalog import Entry
from subword.tokenizer import Tokenizer

__all__ = ["encoding", "training"]

MAX_LESSON_BYTES: Final = 10_000
MAX_WORD_BYTES: Final = 200
MAX_STEPS: Final = 200
MAX_SYMBOLS: Final = 1_000_000
"""Bytes of text times steps: every step is sent with every word."""

_ALGORITHMS: Final = ("bpe", "wordpiece", "unigram")
_TIES: Final = ("greatest", "first", "hf", "smallest_id")
_PATTERNS: Final = ("gpt2", "whitespace", "none", "cl100k", "o200k")
_TOP: Final = 12


def training(body: dict[str, Any]) -> dict[str, Any]:
    """Train as a request says, and keep every step.

    Raises:
        HTTPException: A field that is missing or out of range.
        SubwordError: As the functions of ``subword.trace``.
    """
    return cast("dict[str, Any]", trace.as_dict(_trained(body)))


def encoding(entry: Entry | None, body: dict[str, Any]) -> dict[str, Any]:
    """Encode a word step by step, with a tokenizer or with the training of the request.

    Raises:
        HTTPException: A field that is missing or out of range.
        SubwordError: As ``subword.trace.encode``.
    """
    word = text_of(body, "word", MAX_WORD_BYTES)
    tok = _learnt(body) if entry is None else entry.tokenizer
    return cast("dict[str, Any]", trace.as_dict(trace.encode(tok, word)))


def _learnt(body: dict[str, Any]) -> Tokenizer:
    learnt = _trained(body)
    if not isinstance(learnt, trace.MergeTrace) or learnt.alphabet != "bytes":
        raise ArgumentError("merge trees are drawn for BPE over bytes; choose that, or a tokenizer")
    vocab = {at: cast(bytes, token) for at, token in enumerate(learnt.tokens)}
    merges = cast("list[tuple[bytes, bytes]]", learnt.merges)
    return Tokenizer(bpe_from_tokens(vocab, merges), {}, resolve_pattern(_pattern(body)))


def _trained(body: dict[str, Any]) -> trace.MergeTrace | trace.UnigramTrace:
    algorithm = choice_of(body, "algorithm", _ALGORITHMS)
    text = text_of(body, "text", MAX_LESSON_BYTES)
    n_steps = integer_of(body, "n_steps", 0, MAX_STEPS, 10)
    if len(text.encode()) * n_steps > MAX_SYMBOLS:
        raise ArgumentError(
            f"{n_steps} steps over {len(text.encode())} bytes are more than a page can show; "
            f"ask for at most {MAX_SYMBOLS // len(text.encode())} steps, or give less text"
        )
    pattern = _pattern(body)
    if algorithm == "unigram":
        vocab_size = integer_of(body, "vocab_size", 1, 1_000, 20)
        return trace.unigram(text, vocab_size, pattern=pattern, top=_TOP)
    ties = cast(Ties, choice_of(body, "ties", _TIES))
    if algorithm == "wordpiece":
        score = choice_of(body, "score", ("likelihood", "frequency"))
        return trace.wordpiece(
            text,
            n_steps,
            score=cast(Literal["likelihood", "frequency"], score),
            ties=ties,
            pattern=pattern,
            top=_TOP,
        )
    alphabet = choice_of(body, "alphabet", ("bytes", "characters"))
    return trace.bpe(
        text,
        n_merges=n_steps,
        pattern=pattern,
        ties=ties,
        alphabet=cast(Literal["bytes", "characters"], alphabet),
        end_of_word_suffix="</w>" if body.get("end_of_word") is True else "",
        top=_TOP,
    )


def _pattern(body: dict[str, Any]) -> str:
    return choice_of(body, "pattern", _PATTERNS)

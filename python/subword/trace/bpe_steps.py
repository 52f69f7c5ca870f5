"""Byte-pair encoding, learnt step by step."""

from collections.abc import Sequence
from typing import Literal

from subword.byte_characters import BYTE_CHARACTERS
from subword.errors import ArgumentError, SpecialTokenError, VocabSizeError
from subword.reference.bpe import Ties, learn_merges
from subword.special_tokens import check_special_tokens
from subword.trace.records import MergeTrace
from subword.trace.replay import Rules, check_steps, named, replay
from subword.trace.sources import Counted, TraceSource, check_work, read_words
from subword.trace.wordpiece_steps import learn_characters
from subword.types import Pair, TokenId

__all__ = ["bpe"]


def bpe(
    source: TraceSource,
    vocab_size: int | None = None,
    *,
    n_merges: int | None = None,
    pattern: str | Sequence[str] | None = "gpt2",
    ties: Ties = "greatest",
    special_tokens: Sequence[str] = (),
    alphabet: Literal["bytes", "characters"] = "bytes",
    end_of_word_suffix: str = "",
    min_frequency: int = 1,
    max_token_length: int | None = None,
    top: int = 10,
) -> MergeTrace:
    """Learn BPE merges from a small source and keep every step.

    Over bytes, ids are the bytes 0–255, then the special tokens, then the merges, as
    ``subword.train_bpe`` gives them. Over characters they are the special tokens, then the
    characters that occur (those with the suffix after those without) by code point, then merges.

    Args:
        source: A text (a ``str`` is not a path here), documents, or words with their counts.
        vocab_size: All ids: bytes or characters, special tokens and merges.
        n_merges: Merges wanted, instead of ``vocab_size``.
        pattern: The split pattern for texts; words of a mapping are not split again.
        ties: The rule for equal counts, as in ``subword.train_bpe``.
        special_tokens: Reserved strings; texts are cut at them.
        alphabet: What words are made of before the first merge.
        end_of_word_suffix: Put after the last character of each word, such as ``</w>``;
            ``alphabet="characters"`` alone.
        min_frequency: The count below which no pair is merged.
        max_token_length: Bytes of the longest token; ``alphabet="bytes"`` alone.
        top: Candidates that each step keeps.

    Returns:
        The trace; it has fewer steps than asked for when no pair is left.

    Raises:
        ArgumentError: Not one of ``vocab_size`` and ``n_merges``, an argument out of range, or a
            source that is too large.
        EmptyCorpusError: No word in the source.
        VocabSizeError: ``vocab_size`` is below the bytes or characters and special tokens.
        SubwordError: As ``subword.train_bpe``.

    Source: Sennrich, Haddow and Birch 2016, "Neural Machine Translation of Rare Words with
    Subword Units", algorithm 1; over bytes as in GPT-2 (Radford et al. 2019, section 2.2).

    Examples:
        >>> trace = bpe("the cat in the hat", n_merges=1, pattern="none", ties="first")
        >>> print(trace.steps[0])
        1. t + h (2) -> th, id 256
           one of 4 with the greatest count 2; ties='first' takes the pair seen first
           th|e|␠|c|a|t|␠|i|n|␠|th|e|␠|h|a|t
    """
    if (vocab_size is None) == (n_merges is None):
        raise ArgumentError("give either vocab_size or n_merges: how far the training goes")
    check_steps(n_merges or 0, top)
    tokens = check_special_tokens(special_tokens)
    words = read_words(source, pattern, tokens)
    if alphabet == "characters":
        if max_token_length is not None:
            raise ArgumentError("max_token_length counts bytes, so it needs alphabet='bytes'")
        return learn_characters(
            words,
            algorithm="bpe",
            vocab_size=vocab_size,
            n_merges=n_merges,
            score="frequency",
            ties=ties,
            special_tokens=tokens,
            continuing_prefix="",
            end_of_word_suffix=end_of_word_suffix,
            min_frequency=min_frequency,
            top=top,
        )
    if alphabet != "bytes":
        raise ArgumentError(f"alphabet is {alphabet!r:.40}; it is 'bytes' or 'characters'")
    if end_of_word_suffix:
        raise ArgumentError("end_of_word_suffix needs alphabet='characters': bytes have no ends")
    wanted = _merges_wanted(vocab_size, n_merges, tokens)
    return _over_bytes(words, wanted, ties, tokens, min_frequency, max_token_length, top)


def _merges_wanted(
    vocab_size: int | None, n_merges: int | None, special_tokens: Sequence[str]
) -> int:
    for token in special_tokens:
        if len(token.encode()) == 1:
            raise SpecialTokenError(f"special token {token!r} is a single byte, which has an id")
    smallest = 256 + len(special_tokens)
    if vocab_size is None:
        return n_merges or 0
    if vocab_size < smallest:
        raise VocabSizeError(
            f"vocab_size is {vocab_size}, but the 256 bytes and {len(special_tokens)} special "
            f"tokens need {smallest}"
        )
    return vocab_size - smallest


def _over_bytes(
    counted: Sequence[Counted],
    n_merges: int,
    ties: Ties,
    special_tokens: tuple[str, ...],
    min_frequency: int,
    max_token_length: int | None,
    top: int,
) -> MergeTrace:
    learnt = learn_merges(
        {pretoken: (count, first_seen) for pretoken, count, first_seen in counted},
        check_work(counted, n_merges),
        ties=ties,
        min_frequency=min_frequency,
        max_token_length=max_token_length,
    )
    n_initial = 256 + len(special_tokens)
    tokens: list[bytes] = [bytes([byte]) for byte in range(256)]
    tokens += [token.encode() for token in special_tokens]
    merges: list[tuple[Pair, TokenId]] = []
    for (left, right), _ in learnt:
        # The twin numbers merges from 256; special tokens stand between.
        pair = (_token_id(left, special_tokens), _token_id(right, special_tokens))
        merges.append((pair, len(tokens)))
        tokens.append(tokens[pair[0]] + tokens[pair[1]])

    def may_merge(pair: Pair, count: int) -> bool:
        n_bytes = len(tokens[pair[0]]) + len(tokens[pair[1]])
        fits = max_token_length is None or n_bytes <= max_token_length
        return fits and count >= max(min_frequency, 1)

    def number_of(token_id: TokenId) -> int:
        if ties == "hf":
            return ord(BYTE_CHARACTERS[token_id]) if token_id < 256 else 0x110000 + token_id
        return token_id

    words = [(word.occurrences, tuple(word.pretoken)) for word in counted]
    rules = Rules("frequency", ties, may_merge, number_of, top)
    return MergeTrace(
        algorithm="bpe",
        alphabet="bytes",
        score="frequency",
        ties=ties,
        n_merges=n_merges,
        special_tokens=special_tokens,
        words=named(words, tokens),
        tokens=tuple(tokens),
        n_initial=n_initial,
        steps=replay(words, merges, tokens, rules, n_initial),
    )


def _token_id(symbol: int, special_tokens: Sequence[str]) -> TokenId:
    return symbol if symbol < 256 else symbol + len(special_tokens)

"""Learn byte-pair encodings from pre-token counts."""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import fields
from typing import Literal, get_args

from subword import _core
from subword.errors import (
    ArgumentError,
    SpecialTokenError,
    StoppedEarlyWarning,
    VocabSizeError,
)
from subword.models import Bpe, Ties, Training
from subword.special_tokens import check_special_tokens
from subword.tokenizer import Tokenizer
from subword.training import character_bpe
from subword.training.character_bpe import CharacterOptions
from subword.training.sources import TrainingSource, as_counts, reserved_tokens
from subword.types import whole_number

__all__ = ["train_bpe"]


def train_bpe(
    source: TrainingSource,
    vocab_size: int,
    special_tokens: Sequence[str] | None = None,
    *,
    pattern: str | Sequence[str] | None = None,
    ties: Ties = "greatest",
    min_frequency: int = 1,
    max_token_length: int | None = None,
    alphabet: Literal["bytes", "characters"] = "bytes",
    limit_alphabet: int | None = None,
    character_coverage: float | None = None,
    unk_token: str | None = None,
    byte_fallback: bool = False,
    end_of_word_suffix: str = "",
    continuing_subword_prefix: str = "",
    documents: str | bytes | None = None,
    n_threads: int | None = None,
    progress: Callable[[int], object] | None = None,
) -> Tokenizer:
    """Train a BPE tokenizer, over bytes or over characters.

    The result depends on the counts alone, save that ``ties="first"`` also reads the first
    positions. Training stops early, with a ``StoppedEarlyWarning``, when no pair is left.

    Over bytes, ids are the bytes 0–255, then the special tokens in the order given, then the
    merges in rank order.

    Over characters they are the unknown token (where it is none of the special tokens), the
    special tokens in the order given, the 256 byte tokens ``<0x00>`` … with ``byte_fallback``,
    the characters that occur, then what merges made, in their order. Characters are ordered by
    code point; where words are marked, those that begin a word come first, then those that end
    one, then those inside (with the prefix), then those that end one there. A character outside
    the alphabet breaks a word in training (HF drops it and joins its neighbours), and a
    ``TextLeftOutWarning`` says how many there were. Bytes that are no UTF-8 count as U+FFFD.

    Args:
        source: Pre-token counts, a mapping of pre-tokens to counts, or a corpus to count first.
        vocab_size: All ids: bytes, special tokens and merges.
        special_tokens: Reserved strings; those of the counts by default.
        pattern: The split pattern, ``"gpt2"`` by default; counts bring their own.
        ties: Which of the pairs with the greatest count is merged: ``"greatest"``, the
            lexicographically greatest pair of byte strings (Stanford CS336, subword-nmt);
            ``"first"``, the one whose first occurrence is leftmost (minbpe); ``"hf"``, the
            smallest pair of ids as HF ``BpeTrainer`` 0.23 numbers them; ``"smallest_id"``, the
            smallest pair of raw ids (rustbpe, bpeasy).
        min_frequency: Pairs that occur less often are not merged; at least 1.
        max_token_length: Most bytes of a token; None for no limit. For bytes alone.
        alphabet: What words are made of before the first merge. The options that follow are for
            characters alone.
        limit_alphabet: Keep only so many characters, the most frequent; ties to the smaller code
            point.
        character_coverage: Keep the most frequent characters up to this share of all.
        unk_token: What characters become that the vocabulary lacks; None refuses them.
        byte_fallback: Such characters become the tokens of their UTF-8 instead.
        end_of_word_suffix: Put after the last character of each word, as ``</w>`` of subword-nmt.
        continuing_subword_prefix: Put before each character inside a word. With it or the suffix
            the split is at whitespace by default, which then is no part of any token and
            decodes to one space.
        documents: How files are cut into documents, as in ``subword.count``.
        n_threads: Threads to count with; None for one a core.
        progress: Called about twenty times a second with the merges made so far.

    Raises:
        VocabSizeError: ``vocab_size`` is below the bytes or characters and special tokens.
        EmptyCorpusError: There is no text to learn from.
        CountsError: ``pattern`` is not the one the counts were made with.
        ArgumentError: An argument outside its range.
        SubwordError: As ``subword.count``, when the source is a corpus.

    Source: Sennrich, Haddow and Birch 2016, "Neural Machine Translation of Rare Words with
    Subword Units", algorithm 1; over bytes as in GPT-2 (Radford et al. 2019).

    Examples:
        >>> tok = train_bpe({"low": 5, "lower": 2, "widest": 3, "newest": 6}, 259)
        >>> tok.merges, tok.merge_counts
        ([(b's', b't'), (b'e', b'st'), (b'o', b'w')], [9, 9, 7])
        >>> words = {"我": 1, "喜欢": 2, "吃": 2, "苹果": 1, "苹果派": 1}
        >>> tok = train_bpe(words, 9, alphabet="characters", ties="first")
        >>> [(left.decode(), right.decode()) for left, right in tok.merges]
        [('喜', '欢'), ('苹', '果')]
    """
    if ties not in get_args(Ties):
        raise ArgumentError(f"ties is {ties!r}; it is one of {', '.join(get_args(Ties))}")
    vocab_size = whole_number("vocab_size", vocab_size, least=-(2**63))
    min_frequency = whole_number("min_frequency", min_frequency, most=2**64 - 1)
    if max_token_length is not None:
        max_token_length = whole_number("max_token_length", max_token_length)
    if n_threads is not None:
        n_threads = whole_number("n_threads", n_threads)
    options = CharacterOptions(
        limit_alphabet=limit_alphabet,
        character_coverage=character_coverage,
        unk_token=unk_token,
        byte_fallback=byte_fallback,
        end_of_word_suffix=end_of_word_suffix,
        continuing_subword_prefix=continuing_subword_prefix,
    )
    if alphabet == "characters":
        if max_token_length is not None:
            raise ArgumentError("max_token_length counts bytes, so it needs alphabet='bytes'")
        return character_bpe.learn(
            source,
            vocab_size,
            special_tokens,
            options,
            pattern=pattern,
            ties=ties,
            min_frequency=min_frequency,
            documents=documents,
            n_threads=n_threads,
            progress=progress,
        )
    _check_alphabet(alphabet, options)
    special_tokens = _check_vocab_size(vocab_size, reserved_tokens(source, special_tokens))
    counts = as_counts(
        source,
        pattern=pattern,
        default="gpt2",
        special_tokens=special_tokens,
        documents=documents,
        n_threads=n_threads,
    )
    n_merges = vocab_size - 256 - len(special_tokens)
    learnt = _core.learn_merges(
        counts.table,
        n_merges,
        ties=ties,
        min_frequency=min_frequency,
        max_token_length=max_token_length,
        progress=progress,
    )
    if len(learnt) < n_merges:
        warnings.warn(
            f"no pair is left that occurs {min_frequency} times or more: stopped after "
            f"{len(learnt)} merges of {n_merges}, at a vocabulary of "
            f"{256 + len(special_tokens) + len(learnt)} tokens",
            StoppedEarlyWarning,
            stacklevel=2,
        )
    training = Training(ties, tuple(n for _, _, n in learnt), min_frequency)
    model = _model([(left, right) for left, right, _ in learnt], len(special_tokens), training)
    ids = {token: 256 + at for at, token in enumerate(special_tokens)}
    return Tokenizer(model, ids, counts.pattern)


def _check_alphabet(alphabet: str, options: CharacterOptions) -> None:
    if alphabet != "bytes":
        raise ArgumentError(f"alphabet is {alphabet!r:.40}; it is 'bytes' or 'characters'")
    for option in fields(options):
        if getattr(options, option.name) != option.default:
            raise ArgumentError(
                f"{option.name} needs alphabet='characters': over bytes nothing is unknown, and "
                "tokens are the bytes of the text"
            )


def _check_vocab_size(vocab_size: int, special_tokens: Sequence[str]) -> tuple[str, ...]:
    special_tokens = check_special_tokens(special_tokens)
    for token in special_tokens:
        if len(token.encode()) == 1:
            raise SpecialTokenError(
                f"special token {token!r} is a single byte, which has the id {ord(token)} already; "
                "give it a longer spelling"
            )
    smallest = 256 + len(special_tokens)
    if vocab_size < smallest:
        raise VocabSizeError(
            f"vocab_size is {vocab_size}, but the 256 bytes and {len(special_tokens)} special "
            f"tokens need {smallest}"
        )
    return special_tokens


def _model(pairs: list[tuple[int, int]], n_special: int, training: Training) -> Bpe:
    """Give symbols their ids: bytes as they are, merges after the special tokens."""
    vocab = {byte: bytes([byte]) for byte in range(256)}
    merges = []
    for rank, pair in enumerate(pairs):
        left, right = (symbol if symbol < 256 else symbol + n_special for symbol in pair)
        vocab[256 + n_special + rank] = vocab[left] + vocab[right]
        merges.append((left, right))
    return Bpe(vocab, tuple(merges), training=training)

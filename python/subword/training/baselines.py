r"""Vocabularies that take no learning: the characters of a corpus, or its most frequent words.

They are what subword methods are measured against. The split ``(?s)\w+|.`` and the unknown token
are those of introductory courses on tokenization.
"""

from collections.abc import Sequence

import numpy as np

from subword import _core
from subword.errors import ArgumentError, VocabSizeError
from subword.models import Characters, Words
from subword.patterns import Pattern
from subword.special_tokens import TokenFlags, check_special_tokens
from subword.tokenizer import Tokenizer
from subword.training.sources import (
    TrainingSource,
    as_counts,
    reserved_tokens,
    warn_left_out,
    warn_stopped_early,
)

__all__ = ["WORD_PATTERN", "train_characters", "train_words"]

WORD_PATTERN = r"(?s)\w+|."
"""Runs of word characters, and every other character on its own."""


def train_characters(
    source: TrainingSource,
    vocab_size: int | None = None,
    special_tokens: Sequence[str] | None = None,
    *,
    character_coverage: float = 1.0,
    extra_alphabet: str = "",
    unk_token: str | None = "[UNK]",
    documents: str | bytes | None = None,
    n_threads: int | None = None,
) -> Tokenizer:
    """Make a tokenizer of the characters (code points) of a corpus.

    Ids are the unknown token, the special tokens in the order given, then the characters by code
    point. The result depends on the counts alone.

    Args:
        source: Pre-token counts, a mapping of pre-tokens to counts, or a corpus to count first.
        vocab_size: Most ids; the most frequent characters are kept, of equally frequent ones the
            smaller code points. None keeps what ``character_coverage`` says.
        special_tokens: Reserved strings; those of the counts by default.
        character_coverage: Keep the most frequent characters up to this share of all.
        extra_alphabet: Characters that are kept whatever the corpus holds.
        unk_token: What other characters become; None refuses them.
        documents: How files are cut into documents, as in ``subword.count``.
        n_threads: Threads to count with; None for one a core.

    Raises:
        VocabSizeError: ``vocab_size`` leaves no room for a character beside the special tokens.
        EmptyCorpusError: There is no text to learn from.
        ArgumentError: A coverage outside 0 to 1.
        SubwordError: As ``subword.count``, when the source is a corpus.

    Examples:
        >>> tok = train_characters(["the cat"])
        >>> tok.vocab_size, tok.encode("that")
        (7, [6, 5, 2, 6])
        >>> tok.decode(tok.encode("chat?"))
        'chat[UNK]'
    """
    special = check_special_tokens(reserved_tokens(source, special_tokens))
    reserved = _reserved(special, unk_token, vocab_size)
    counts = as_counts(
        source,
        pattern=None,
        default="gpt2",
        special_tokens=special,
        documents=documents,
        n_threads=n_threads,
    )
    tokens, _, _, _, dropped, n_invalid = _core.learn_wordpiece(
        list(counts.items()),
        vocab_size=2**32 - 2,
        max_merges=0,
        score="frequency",
        ties="greatest",
        min_frequency=1,
        continuing_prefix="",
        end_of_word_suffix="",
        special_tokens=list(reserved),
        limit_alphabet=None if vocab_size is None else vocab_size - len(reserved),
        character_coverage=character_coverage,
        extra_alphabet=list(extra_alphabet),
        all_forms=False,
    )
    if vocab_size is not None:
        if len(tokens) > vocab_size:
            raise VocabSizeError(
                f"vocab_size is {vocab_size}, but {len(reserved)} reserved tokens and the "
                f"{len(set(extra_alphabet))} characters of extra_alphabet need {len(tokens)}"
            )
        warn_stopped_early("no character is left", len(tokens), vocab_size)
    fate = "a text with them is refused" if unk_token is None else f"they become {unk_token}"
    warn_left_out(dropped, n_invalid, fate)
    return _tokenizer(Characters(dict(enumerate(tokens)), unk_token), (), reserved, special)


def train_words(
    source: TrainingSource,
    vocab_size: int,
    special_tokens: Sequence[str] | None = None,
    *,
    pattern: str | Sequence[str] | None = None,
    min_frequency: int = 1,
    unk_token: str | None = "[UNK]",
    documents: str | bytes | None = None,
    n_threads: int | None = None,
) -> Tokenizer:
    r"""Make a tokenizer of the most frequent words of a corpus.

    Ids are the unknown token, the special tokens in the order given, then the words from the most
    frequent down, equally frequent ones in the order of their bytes. The result depends on the
    counts alone.

    Args:
        source: Pre-token counts, a mapping of words to counts, or a corpus to count first.
        vocab_size: All ids. Words that do not fit are unknown.
        special_tokens: Reserved strings; those of the counts by default.
        pattern: What a word is: a split pattern, ``(?s)\w+|.`` by default; counts bring their own.
        min_frequency: Words that occur less often are unknown; at least 1.
        unk_token: What unknown words become; None refuses them.
        documents: How files are cut into documents, as in ``subword.count``.
        n_threads: Threads to count with; None for one a core.

    Raises:
        VocabSizeError: ``vocab_size`` leaves no room for a word beside the special tokens.
        EmptyCorpusError: There is no text to learn from.
        CountsError: ``pattern`` is not the one the counts were made with.
        ArgumentError: ``min_frequency`` below 1.
        SubwordError: As ``subword.count``, when the source is a corpus.

    Examples:
        >>> tok = train_words(["the cat in the hat"], 4)
        >>> tok.vocab
        {0: b'[UNK]', 1: b' ', 2: b'the', 3: b'cat'}
        >>> tok.decode(tok.encode("the hat"))
        'the [UNK]'
    """
    if min_frequency < 1:
        raise ArgumentError(f"min_frequency is {min_frequency}; give at least 1")
    special = check_special_tokens(reserved_tokens(source, special_tokens))
    reserved = _reserved(special, unk_token, vocab_size)
    counts = as_counts(
        source,
        pattern=pattern,
        default=WORD_PATTERN,
        special_tokens=special,
        documents=documents,
        n_threads=n_threads,
    )
    numbers = counts.counts()
    # The complement orders unsigned numbers from the greatest down; rows are in order of bytes.
    order = np.argsort(~numbers, kind="stable")[: np.count_nonzero(numbers >= min_frequency)]
    tokens = [token.encode() for token in reserved]
    known = set(tokens)
    for row in order.tolist():
        if len(tokens) == vocab_size:
            break
        word = counts.table.row(row)
        if word is not None and word[0] not in known:
            tokens.append(word[0])
    warn_stopped_early(
        f"no word is left that occurs {min_frequency} times or more", len(tokens), vocab_size
    )
    model = Words(dict(enumerate(tokens)), unk_token)
    return _tokenizer(model, counts.pattern, reserved, special)


def _reserved(
    special_tokens: tuple[str, ...], unk_token: str | None, vocab_size: int | None
) -> tuple[str, ...]:
    """Give the tokens with the first ids: the unknown one before the others."""
    is_new = unk_token is not None and unk_token not in special_tokens
    first = (unk_token,) if is_new and unk_token is not None else ()
    reserved = check_special_tokens([*first, *special_tokens])
    if vocab_size is not None and vocab_size <= len(reserved):
        raise VocabSizeError(
            f"vocab_size is {vocab_size}, and the unknown and special tokens need "
            f"{len(reserved)}; give more"
        )
    return reserved


def _tokenizer(
    model: Characters | Words,
    pattern: Pattern,
    reserved: tuple[str, ...],
    special_tokens: tuple[str, ...],
) -> Tokenizer:
    """Put a tokenizer together; text that spells the unknown token does not become it."""
    ids = {token: at for at, token in enumerate(reserved)}
    flags = {token: TokenFlags(control=True) for token in reserved if token not in special_tokens}
    return Tokenizer(model, ids, pattern, token_flags=flags)

"""What the trainers share: their sources as counts, and what they say about text left out."""

import warnings
from collections.abc import Mapping, Sequence

from subword.counts import PretokenCounts, count
from subword.errors import (
    ArgumentError,
    CountsError,
    EmptyCorpusError,
    StoppedEarlyWarning,
    TextLeftOutWarning,
)
from subword.patterns import Pattern, resolve_pattern
from subword.types import Sources

__all__ = [
    "TrainingSource",
    "as_counts",
    "reserved_tokens",
    "warn_left_out",
    "warn_stopped_early",
    "without_whitespace",
]

TrainingSource = PretokenCounts | Mapping[str, int] | Mapping[bytes, int] | Sources
"""Pre-token counts, a mapping of pre-tokens to counts, or a corpus to count first."""


def reserved_tokens(source: TrainingSource, special_tokens: Sequence[str] | None) -> Sequence[str]:
    """Give the special tokens of a training: those asked for, or those of the counts."""
    if special_tokens is not None:
        return special_tokens
    return source.special_tokens if isinstance(source, PretokenCounts) else ()


def as_counts(
    source: TrainingSource,
    *,
    pattern: str | Sequence[str] | None,
    default: str | Pattern,
    special_tokens: Sequence[str],
    documents: str | bytes | None,
    n_threads: int | None,
) -> PretokenCounts:
    """Count a source, or take it where it is counted already.

    Args:
        source: What to learn from.
        pattern: The split pattern asked for; counts bring their own.
        default: The pattern where none is asked for and the source brings none.
        special_tokens: Strings at which documents are cut.
        documents: How files are cut into documents, as in ``subword.count``.
        n_threads: Threads to count with; None for one a core.

    Raises:
        ArgumentError: ``n_threads`` below 1.
        CountsError: ``pattern`` is not the one the counts were made with.
        EmptyCorpusError: There is no pre-token.
        SubwordError: As ``subword.count``.
    """
    if n_threads is not None and n_threads < 1:
        raise ArgumentError(f"n_threads is {n_threads}; give at least 1, or None for one a core")
    chosen = resolve_pattern(default if pattern is None else pattern)
    if isinstance(source, PretokenCounts):
        if pattern is not None and chosen != source.pattern:
            raise CountsError(
                f"the counts were made with the pattern {source.pattern!r:.60}, not with "
                f"{pattern!r:.60}; leave pattern out, or count again"
            )
        counts = source
    elif isinstance(source, Mapping):
        counts = PretokenCounts.from_mapping(source, pattern=chosen)
    else:
        counts = count(
            source,
            pattern=chosen,
            special_tokens=special_tokens,
            documents=documents,
            n_threads=n_threads,
        )
    if not len(counts):
        raise EmptyCorpusError("the counts hold no pre-token; there is nothing to learn from")
    return counts


def without_whitespace(counts: PretokenCounts) -> PretokenCounts:
    """Give the counts of the pre-tokens that are more than whitespace.

    Raises:
        EmptyCorpusError: There are none.
    """
    words = counts.keep(lambda pretoken: bool(pretoken.decode("utf-8", "replace").strip()))
    if not len(words):
        raise EmptyCorpusError("the counts hold no word; there is nothing to learn from")
    return words


def warn_left_out(
    dropped: Sequence[tuple[str, int]], n_invalid_bytes: int, fate: str, stacklevel: int = 3
) -> None:
    """Say which characters of the corpus the vocabulary was not learnt from.

    Args:
        dropped: Characters outside the alphabet, with their occurrences.
        n_invalid_bytes: Occurrences of bytes that are no UTF-8.
        fate: What such characters become when a text is encoded.
        stacklevel: As in ``warnings.warn``, seen from the caller.
    """
    if dropped:
        total = sum(n for _, n in dropped)
        shown = "".join(character for character, _ in dropped[:20])
        warnings.warn(
            f"{len(dropped)} characters outside the alphabet were left out, {total} occurrences "
            f"({shown!r:.60}); {fate}",
            TextLeftOutWarning,
            stacklevel=stacklevel + 1,
        )
    if n_invalid_bytes:
        warnings.warn(
            f"{n_invalid_bytes} bytes that are no UTF-8 count as U+FFFD",
            TextLeftOutWarning,
            stacklevel=stacklevel + 1,
        )


def warn_stopped_early(reason: str, found: int, wanted: int, stacklevel: int = 3) -> None:
    """Say that a vocabulary is smaller than the one asked for."""
    if found < wanted:
        warnings.warn(
            f"{reason}: the vocabulary has {found} tokens of {wanted}",
            StoppedEarlyWarning,
            stacklevel=stacklevel + 1,
        )

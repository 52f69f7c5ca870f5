"""Counts that fit a tokenizer: its model sees their pre-tokens as they are."""

from collections.abc import Mapping

from subword.counts import PretokenCounts
from subword.errors import CountsError
from subword.models import Bpe
from subword.tokenizer import Tokenizer

__all__ = ["fitting_counts"]


def fitting_counts(
    counts: PretokenCounts | Mapping[str, int] | Mapping[bytes, int], tokenizer: Tokenizer
) -> PretokenCounts:
    """Give counts whose pre-tokens are what the tokenizer's model sees.

    Args:
        counts: A table; or a mapping, whose pre-tokens are taken for those of the tokenizer.
        tokenizer: What they are for.

    Raises:
        CountsError: They were made with another pattern, or the tokenizer cuts in steps.
    """
    if not isinstance(counts, PretokenCounts):
        return PretokenCounts.from_mapping(counts, pattern=tokenizer.pattern or "none")
    if isinstance(tokenizer.model, Bpe) and tokenizer.pretokenizer is not None:
        raise CountsError(
            "the tokenizer cuts texts in steps, which counts cannot be made with; cut with "
            "subword.pretokens.split(text, tok.pretokenizer) and give a mapping of counts"
        )
    if isinstance(tokenizer.model, Bpe) and counts.pattern != tokenizer.pattern:
        raise CountsError(
            f"the counts were made with the pattern {counts.pattern!r:.60}, but the tokenizer "
            f"splits with {tokenizer.pattern!r:.60}; count again with pattern=tok.pattern"
        )
    return counts

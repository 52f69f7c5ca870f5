"""Count the pre-tokens of documents, one after the other."""

from collections.abc import Iterable, Sequence

from subword.patterns import Pattern
from subword.reference.pretokens import split, text_bytes
from subword.reference.special_tokens import check_special_tokens, cut
from subword.types import TextLike

__all__ = ["count"]


def count(
    documents: Iterable[TextLike], pattern: Pattern, special_tokens: Sequence[TextLike] = ()
) -> dict[bytes, tuple[int, int]]:
    """Give each distinct pre-token's number of occurrences and where it was first seen.

    Special tokens cut a document and are not counted; no pre-token crosses one, and no
    look-around of the pattern sees past one. No pre-token crosses the end of a document.

    Args:
        documents: Texts, in order.
        pattern: Regular expressions, as ``subword.patterns.resolve_pattern`` gives them.
        special_tokens: Distinct, not empty.

    Returns:
        Pre-token to ``(count, first_seen)``, in the order of ``first_seen``: the byte position
        of its first occurrence if the documents were laid end to end, special tokens included.
        Empty if no document has text.

    Raises:
        PatternError: An expression that does not compile.
        SpecialTokenError: A special token that is empty or stands twice.
        TextError: A ``str`` with a lone surrogate.

    Examples:
        >>> count(["to be", "or to<s>be"], (" ?[a-z]+",), ["<s>"])
        {b'to': (1, 0), b' be': (1, 2), b'or': (1, 5), b' to': (1, 7), b'be': (1, 13)}
    """
    specials = [text_bytes(token) for token in special_tokens]
    check_special_tokens(specials)
    counts: dict[bytes, tuple[int, int]] = {}
    position = 0
    for document in documents:
        for part, is_special in cut(text_bytes(document), specials):
            for pretoken in [part] if is_special else split(part, pattern):
                if not is_special:
                    seen, first_seen = counts.get(pretoken, (0, position))
                    counts[pretoken] = (seen + 1, first_seen)
                position += len(pretoken)
    return counts

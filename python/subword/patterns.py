r"""Split patterns by name: data, each with its source.

A pattern is a regular expression, or a tuple of them applied in turn: each splits the
pieces the one before it made. What a pattern leaves uncovered is kept as a pre-token, so
pre-tokens always join to the text. Unicode classes are those of the compiled module's
``regex-syntax``; ``\s`` is the Unicode property White_Space, and ``$`` the end of the text.
"""

from collections.abc import Sequence
from typing import Final

from subword.errors import PatternError

__all__ = ["NAMED_PATTERNS", "Pattern", "pattern_name", "resolve_pattern"]

Pattern = tuple[str, ...]

_CL100K_WORD = r"[^\r\n\p{L}\p{N}]?\p{L}+"
_UPPER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]"
_LOWER = r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
_O200K_PREFIX = r"[^\r\n\p{L}\p{N}]?"
_O200K_CONTRACTION = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"

NAMED_PATTERNS: Final[dict[str, Pattern]] = {
    # openai/gpt-2, src/encoder.py; tiktoken 0.14.0 writes the same language as
    # '(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s.
    "gpt2": (r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",),
    # gpt2 with marks as letters: where vowel signs are marks, as in most scripts of India, gpt2
    # cuts words at each of them, so that no token holds two letters.
    "gpt2_marks": (
        r"'(?:[sdmt]|ll|ve|re)| ?[\p{L}\p{M}]+| ?\p{N}+| ?[^\s\p{L}\p{M}\p{N}]+|\s+(?!\S)|\s+",
    ),
    # tiktoken 0.14.0, tiktoken_ext/openai_public.py, cl100k_base, with greedy quantifiers
    # for its possessive ones: each is followed by what its class excludes.
    "cl100k": (
        rf"'(?i:[sdmt]|ll|ve|re)|{_CL100K_WORD}|\p{{N}}{{1,3}}| ?[^\s\p{{L}}\p{{N}}]+[\r\n]*"
        r"|\s+$|\s*[\r\n]|\s+(?!\S)|\s",
    ),
    # tiktoken 0.14.0, tiktoken_ext/openai_public.py, o200k_base.
    "o200k": (
        rf"{_O200K_PREFIX}{_UPPER}*{_LOWER}+{_O200K_CONTRACTION}"
        rf"|{_O200K_PREFIX}{_UPPER}+{_LOWER}*{_O200K_CONTRACTION}"
        r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    ),
    # mistral-common 1.13.1, data/tekken_240911.json, config.pattern: o200k with single digits
    # and without contractions.
    "tekken": (
        rf"{_O200K_PREFIX}{_UPPER}*{_LOWER}+|{_O200K_PREFIX}{_UPPER}+{_LOWER}*"
        r"|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    ),
    # meta-llama/llama-models, models/llama3/tokenizer.py, pat_str.
    "llama3": (
        r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}"
        r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    ),
    # Qwen2 tokenizer.json (Qwen/Qwen2-7B), pre_tokenizer: llama3 with single digits.
    "qwen2": (
        r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}"
        r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    ),
    # DeepSeek-V3 tokenizer.json, pre_tokenizer: three splits in turn.
    "deepseek": (
        r"\p{N}{1,3}",
        r"[一-龥぀-ゟ゠-ヿ]+",
        r"""[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+"""
        r"|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*"
        r"|\s*[\r\n]+|\s+(?!\S)|\s+",
    ),
    # Runs of non-whitespace; the whitespace between them is kept as the gaps.
    "whitespace": (r"\S+",),
    # No split: a document is one pre-token.
    "none": (),
}


def resolve_pattern(pattern: str | Sequence[str] | None) -> Pattern:
    r"""Give the regular expressions of a pattern: its name's, or those written out.

    Args:
        pattern: A name of ``NAMED_PATTERNS``, a regular expression, a sequence of regular
            expressions to apply in turn, or None for ``"none"``.

    Raises:
        PatternError: A part that is not a string or is empty.

    Examples:
        >>> resolve_pattern("whitespace")
        ('\\S+',)
        >>> resolve_pattern([r"\d", r"[a-z]+"])
        ('\\d', '[a-z]+')
        >>> resolve_pattern("none")
        ()
    """
    if pattern is None:
        return ()
    if isinstance(pattern, str):
        if pattern in NAMED_PATTERNS:
            return NAMED_PATTERNS[pattern]
        pattern = (pattern,)
    for part in pattern:
        if not isinstance(part, str) or not part:
            raise PatternError(
                f"a pattern is a regular expression or one of {', '.join(NAMED_PATTERNS)}; "
                f"got {part!r:.40}"
            )
    return tuple(pattern)


def pattern_name(pattern: Pattern) -> str | None:
    r"""Give the name of a resolved pattern, or None for one that has no name.

    Examples:
        >>> pattern_name(resolve_pattern("gpt2"))
        'gpt2'
        >>> pattern_name((r"\d+",)) is None
        True
    """
    return next((name for name, parts in NAMED_PATTERNS.items() if parts == pattern), None)

"""Normalizers: data that says how a text is changed before it is split.

A normalizer is a tuple of the frozen dataclasses below, applied in turn. Whatever they do,
every normalized byte knows the bytes of the given text it came from. Bytes that are not UTF-8
pass through all of them unchanged. Unicode data is that of the compiled module (16.0).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from subword.errors import ArgumentError

__all__ = [
    "NAMED_NORMALIZERS",
    "Bert",
    "Charsmap",
    "Lowercase",
    "Nfc",
    "Nfd",
    "Nfkc",
    "Nfkd",
    "Normalizer",
    "NormalizerStep",
    "Prepend",
    "Replace",
    "SentencePieceSpaces",
    "Strip",
    "StripAccents",
    "normalizer_name",
    "resolve_normalizer",
]


@dataclass(frozen=True, slots=True)
class Nfc:
    """Canonical composition (Unicode Standard Annex #15).

    Attributes:
        keep: Characters that stay as they are.
    """

    keep: str = ""


@dataclass(frozen=True, slots=True)
class Nfd:
    """Canonical decomposition (Unicode Standard Annex #15).

    Attributes:
        keep: Characters that stay as they are.
    """

    keep: str = ""


@dataclass(frozen=True, slots=True)
class Nfkc:
    """Compatibility composition (Unicode Standard Annex #15).

    Attributes:
        keep: Characters that stay as they are.
    """

    keep: str = ""


@dataclass(frozen=True, slots=True)
class Nfkd:
    """Compatibility decomposition (Unicode Standard Annex #15).

    Attributes:
        keep: Characters that stay as they are.
    """

    keep: str = ""


@dataclass(frozen=True, slots=True)
class Lowercase:
    """Lower case, each character by itself: a capital sigma is always σ, never ς."""


@dataclass(frozen=True, slots=True)
class StripAccents:
    r"""Remove combining marks (``\p{M}``); put ``Nfd`` before it to take accents off letters."""


@dataclass(frozen=True, slots=True)
class Strip:
    """Drop whitespace at the ends.

    Attributes:
        left: At the start.
        right: At the end.
    """

    left: bool = True
    right: bool = True


@dataclass(frozen=True, slots=True)
class Replace:
    """Put one string in the place of every match, left to right; empty matches are ignored.

    Attributes:
        pattern: What to look for; not empty.
        content: What to put there, as it is written; may be empty.
        regex: Whether the pattern is a regular expression.
    """

    pattern: str
    content: str
    regex: bool = False


@dataclass(frozen=True, slots=True)
class Prepend:
    """Put a string before a text that is not empty.

    Attributes:
        text: The string.
    """

    text: str


@dataclass(frozen=True, slots=True)
class Bert:
    """What BERT does before it splits, in this order.

    Source: google-research/bert, tokenization.py, as in tokenizers 0.23.3, ``BertNormalizer``.

    Attributes:
        clean_text: Drop NUL, U+FFFD and control characters; make all whitespace spaces.
        handle_chinese_chars: Put a space on each side of every CJK ideograph.
        strip_accents: Decompose and remove nonspacing marks; None is the value of ``lowercase``.
        lowercase: Lower case.
    """

    clean_text: bool = True
    handle_chinese_chars: bool = True
    strip_accents: bool | None = None
    lowercase: bool = True


@dataclass(frozen=True, slots=True)
class Charsmap:
    """SentencePiece's compiled replacements.

    Attributes:
        data: The ``precompiled_charsmap`` of a model file; empty changes nothing.
        per_grapheme: Apply it as the ``Precompiled`` normalizer of HF tokenizers does (whole
            grapheme clusters of up to 5 bytes, the shortest key), not as sentencepiece does
            (the longest key at each place).
        keep: Strings that stay as they are: a SentencePiece model's user-defined pieces.
    """

    data: bytes
    per_grapheme: bool = False
    keep: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SentencePieceSpaces:
    """What SentencePiece does with spaces, after the charsmap.

    Source: sentencepiece 0.2.3, ``Normalizer::Normalize``.

    Attributes:
        add_dummy_prefix: Add one space before a text that is not only spaces.
        remove_extra_whitespaces: Drop spaces at both ends, and all but the first of a run.
        escape_whitespaces: Write ``▁`` (U+2581) for a space.
        treat_whitespace_as_suffix: Add the space after the text instead.
    """

    add_dummy_prefix: bool = True
    remove_extra_whitespaces: bool = True
    escape_whitespaces: bool = True
    treat_whitespace_as_suffix: bool = False


NormalizerStep: TypeAlias = (
    Nfc
    | Nfd
    | Nfkc
    | Nfkd
    | Lowercase
    | StripAccents
    | Strip
    | Replace
    | Prepend
    | Bert
    | Charsmap
    | SentencePieceSpaces
)

Normalizer: TypeAlias = tuple[NormalizerStep, ...]

# sentencepiece 0.2.3, builder.cc, BuildNmtNFKCMap, and its compiled nmt_nfkc table: NFKC, but these
# go, those become spaces, and the full-width tilde stays. Held to the table of a published model
# for every code point; the table knows no Unicode past version 10, and composes only the sequences
# it lists, which this does not imitate: a model file's own table is read with the model.
_NMT_REMOVED = r"[\x01-\x08\x0B\x0E-\x1F\x7F\x8F\x9F]"
_NMT_SPACES = r"[\t\n\f\r\u1680\u200B-\u200F\u2028\u2029\u2581\uFEFF\uFFFD]"

NAMED_NORMALIZERS: Final[dict[str, Normalizer]] = {
    "none": (),
    "nfc": (Nfc(),),
    "nfd": (Nfd(),),
    "nfkc": (Nfkc(),),
    "nfkd": (Nfkd(),),
    "lowercase": (Lowercase(),),
    "strip_accents": (Nfd(), StripAccents()),
    "nmt_nfkc": (
        Replace(_NMT_REMOVED, "", regex=True),
        Replace(_NMT_SPACES, " ", regex=True),
        Nfkc(keep="～"),
    ),
    "bert": (Bert(),),
    "bert_cased": (Bert(lowercase=False),),
}


def resolve_normalizer(
    normalizer: str | NormalizerStep | Sequence[NormalizerStep] | None,
) -> Normalizer:
    """Give the steps of a normalizer: its name's, one step's, or those listed.

    Args:
        normalizer: A name of ``NAMED_NORMALIZERS``, a step, steps to apply in turn, or None for
            no normalization.

    Raises:
        ArgumentError: A name that is not known, or a step that is none of this module's.

    Examples:
        >>> resolve_normalizer("nfc")
        (Nfc(keep=''),)
        >>> resolve_normalizer([Lowercase(), Strip()])
        (Lowercase(), Strip(left=True, right=True))
        >>> resolve_normalizer(None)
        ()
    """
    if normalizer is None:
        return ()
    if isinstance(normalizer, str):
        if normalizer not in NAMED_NORMALIZERS:
            raise ArgumentError(
                f"no normalizer is named {normalizer!r:.40}; the names are "
                f"{', '.join(NAMED_NORMALIZERS)}"
            )
        return NAMED_NORMALIZERS[normalizer]
    steps = (normalizer,) if isinstance(normalizer, NormalizerStep) else tuple(normalizer)
    for step in steps:
        if not isinstance(step, NormalizerStep):
            raise ArgumentError(
                f"a normalizer step is a dataclass of subword.normalizers; got {step!r:.40}"
            )
    return steps


def normalizer_name(normalizer: Normalizer) -> str | None:
    """Give the name of resolved steps, or None for steps that have no name.

    Examples:
        >>> normalizer_name((Nfkc(),))
        'nfkc'
        >>> normalizer_name((Nfkc(), Lowercase())) is None
        True
    """
    return next((name for name, steps in NAMED_NORMALIZERS.items() if steps == normalizer), None)

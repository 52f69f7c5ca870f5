"""Decoders: data that says how tokens become text again, where they are not simply joined.

A decoder is a tuple of the frozen dataclasses below, applied in turn to the list of tokens;
what is left is joined. They behave as those of HF tokenizers 0.23.3, ``decoders/``, and
``SentencePiece`` as sentencepiece 0.2.3, ``SentencePieceProcessor::Decode``; ``Affixes`` is
this project's. ``decoding`` applies them.
"""

from dataclasses import dataclass

from subword.normalizers import Normalizer

__all__ = [
    "Affixes",
    "BpeSuffix",
    "ByteFallback",
    "ByteLevel",
    "Ctc",
    "Decoder",
    "DecoderStep",
    "Fuse",
    "Join",
    "Metaspace",
    "Normalize",
    "Printable",
    "Replace",
    "SentencePiece",
    "Strip",
    "WordPiece",
]


@dataclass(frozen=True, slots=True)
class ByteLevel:
    """Tokens are bytes already; what they join to is the text."""


@dataclass(frozen=True, slots=True)
class WordPiece:
    """Join tokens that start with the prefix to the one before, others after a space.

    Attributes:
        prefix: What tokens inside a word start with.
        cleanup: Drop the space before ``.``, ``?``, ``!``, ``,`` and English contractions.
    """

    prefix: str = "##"
    cleanup: bool = True


@dataclass(frozen=True, slots=True)
class Metaspace:
    """Write a space for each mark, and none for the one that was put before the text.

    Attributes:
        replacement: The mark.
        add_prefix_space: Whether a mark was put before the text.
    """

    replacement: str = "▁"
    add_prefix_space: bool = True


@dataclass(frozen=True, slots=True)
class ByteFallback:
    """Make runs of ``<0xXX>`` the bytes they name; U+FFFD for each where they are no UTF-8."""


@dataclass(frozen=True, slots=True)
class Fuse:
    """Join all tokens to one."""


@dataclass(frozen=True, slots=True)
class Join:
    """Put a string between the tokens; HF puts a space where a file names no decoder.

    Attributes:
        separator: The string.
    """

    separator: str = " "


@dataclass(frozen=True, slots=True)
class Printable:
    """Make tokens the bytes that their characters stand for in GPT-2's files.

    A token with another character in it stays as it is.
    """


@dataclass(frozen=True, slots=True)
class Strip:
    """Drop a character from the ends of each token.

    Attributes:
        content: The character.
        start: At most so many at the start.
        stop: At most so many at the end.
    """

    content: str = " "
    start: int = 0
    stop: int = 0


@dataclass(frozen=True, slots=True)
class Replace:
    """Replace a string in each token.

    Attributes:
        pattern: What to look for.
        content: What to put there.
    """

    pattern: str
    content: str


@dataclass(frozen=True, slots=True)
class BpeSuffix:
    """Write a space for the suffix that ends a word, and none for the last one.

    Attributes:
        suffix: The suffix.
    """

    suffix: str = "</w>"


@dataclass(frozen=True, slots=True)
class Affixes:
    """Drop what marks the place of a token in its word; for splits that keep the spaces.

    Attributes:
        prefix: Dropped from the start of each token.
        suffix: Dropped from the end of each token.
    """

    prefix: str = ""
    suffix: str = ""


@dataclass(frozen=True, slots=True)
class Ctc:
    """Drop repeated tokens and padding, and write a space for the word delimiter.

    Attributes:
        pad_token: The padding.
        word_delimiter_token: What stands for a space.
        cleanup: As in ``WordPiece``.
    """

    pad_token: str = "<pad>"
    word_delimiter_token: str = "|"
    cleanup: bool = True


@dataclass(frozen=True, slots=True)
class SentencePiece:
    """Decode as SentencePiece does.

    Attributes:
        control: Pieces that stand for nothing.
        unknown: The unknown piece.
        unknown_surface: What is written for it.
        byte_fallback: Whether ``<0xXX>`` pieces are bytes.
        strip_prefix: Whether the text loses the one space that starts it.
        strip_all: Whether it loses one of each token until a token is left with text.
    """

    control: frozenset[str] = frozenset()
    unknown: str = "<unk>"
    unknown_surface: str = " ⁇ "
    byte_fallback: bool = False
    strip_prefix: bool = True
    strip_all: bool = False


@dataclass(frozen=True, slots=True)
class Normalize:
    """Join all tokens and normalize the text, as SentencePiece's denormalizer.

    Attributes:
        steps: What is done to the text.
    """

    steps: Normalizer


DecoderStep = (
    Affixes
    | ByteLevel
    | WordPiece
    | Metaspace
    | ByteFallback
    | Fuse
    | Join
    | Printable
    | Strip
    | Replace
    | BpeSuffix
    | Ctc
    | SentencePiece
    | Normalize
)
Decoder = tuple[DecoderStep, ...]

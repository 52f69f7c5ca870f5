"""Pre-tokenizers: data that says how a normalized text is cut into pre-tokens, and with what.

A pre-tokenizer is a tuple of the frozen dataclasses below, applied in turn, each to the pieces
the one before it made. They behave as those of HF tokenizers 0.23.3, whose rules drop some of
the text; a split pattern (``subword.patterns``) keeps all of it. Unicode classes are those of
the compiled module. Bytes that are not UTF-8 belong to no class.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from subword import _core
from subword.errors import ArgumentError, TextError
from subword.types import TextLike

__all__ = [
    "Behavior",
    "Bert",
    "ByteLevel",
    "CharDelimiter",
    "Digits",
    "Metaspace",
    "PrependScheme",
    "PretokenStep",
    "Punctuation",
    "Split",
    "UnicodeScripts",
    "Whitespace",
    "WhitespaceSplit",
    "split",
]

Behavior = Literal["isolated", "removed", "merged_with_previous", "merged_with_next", "contiguous"]
"""What becomes of matches: each a piece; dropped; the end of the piece before; the start of the
piece after; one piece with the matches they touch. Of matches in a row only one is merged."""

PrependScheme = Literal["always", "first", "never"]
"""Before which pieces ``Metaspace`` adds its mark: all; the one that starts the text; none."""


@dataclass(frozen=True, slots=True)
class Split:
    """Cut at the matches of a pattern.

    Attributes:
        pattern: A regular expression or a string; not empty. Empty matches are ignored.
        regex: Whether it is a regular expression.
        behavior: What becomes of the matches.
        invert: Take what lies between matches for the matches.
    """

    pattern: str
    regex: bool = True
    behavior: Behavior = "isolated"
    invert: bool = False

    def __post_init__(self) -> None:
        _check("behavior", self.behavior, Behavior)


@dataclass(frozen=True, slots=True)
class Whitespace:
    r"""Keep ``\w+`` and ``[^\w\s]+``, drop whitespace."""


@dataclass(frozen=True, slots=True)
class WhitespaceSplit:
    """Cut at whitespace and drop it."""


@dataclass(frozen=True, slots=True)
class Bert:
    r"""Drop whitespace; every punctuation character (ASCII's, and ``\p{P}``) is a piece."""


@dataclass(frozen=True, slots=True)
class Punctuation:
    r"""Cut at punctuation: ASCII's, and ``\p{P}``.

    Attributes:
        behavior: What becomes of it.
    """

    behavior: Behavior = "isolated"

    def __post_init__(self) -> None:
        _check("behavior", self.behavior, Behavior)


@dataclass(frozen=True, slots=True)
class Digits:
    r"""Cut numbers (``\p{N}``) from the rest.

    Attributes:
        individual: Each digit by itself, not runs of them.
    """

    individual: bool = False


@dataclass(frozen=True, slots=True)
class Metaspace:
    """Write a mark for each space, start pieces with it, and cut before it.

    Attributes:
        replacement: The mark, one character.
        prepend_scheme: Before which pieces it is added where it is missing.
        split: Whether to cut.
    """

    replacement: str = "▁"
    prepend_scheme: PrependScheme = "always"
    split: bool = True

    def __post_init__(self) -> None:
        _check("prepend_scheme", self.prepend_scheme, PrependScheme)
        _check_character("replacement", self.replacement)


@dataclass(frozen=True, slots=True)
class UnicodeScripts:
    """Cut where the script changes; kana count as Han, and a space goes with what it is in.

    Spaces before the first character of a script are dropped, as HF tokenizers drops them.
    """


@dataclass(frozen=True, slots=True)
class CharDelimiter:
    """Cut at one character and drop it.

    Attributes:
        char: The character.
    """

    char: str

    def __post_init__(self) -> None:
        _check_character("char", self.char)


@dataclass(frozen=True, slots=True)
class ByteLevel:
    """Cut by GPT-2's pattern.

    Attributes:
        add_prefix_space: Add a space before each piece that does not start with one.
        use_regex: Whether to cut.
        printable: Whether to write each byte as the printable character that stands for it in
            GPT-2's files; otherwise the pieces stay bytes, as byte-level BPE has them.
    """

    add_prefix_space: bool = True
    use_regex: bool = True
    printable: bool = False


PretokenStep: TypeAlias = (
    Split
    | Whitespace
    | WhitespaceSplit
    | Bert
    | Punctuation
    | Digits
    | Metaspace
    | UnicodeScripts
    | CharDelimiter
    | ByteLevel
)


def split(text: TextLike, steps: Sequence[PretokenStep]) -> list[tuple[bytes, int, int]]:
    r"""Cut a text into pieces.

    Args:
        text: A text; bytes need not be UTF-8.
        steps: Applied in turn; none of them leaves the text whole.

    Returns:
        ``(piece, start, end)`` in order: its bytes, and the byte span of ``text`` they came
        from. Nothing for an empty text. An added mark has the span of the character after it.

    Raises:
        PatternError: A pattern that is empty or does not compile.
        TextError: A lone surrogate.

    Examples:
        >>> split("Hi there!", [Bert()])
        [(b'Hi', 0, 2), (b'there', 3, 8), (b'!', 8, 9)]
        >>> split("a b", [Metaspace("_")])
        [(b'_a', 0, 1), (b'_b', 1, 3)]
    """
    data = text if isinstance(text, bytes) else _utf8(text)
    return _core.Steps(list(steps)).split(data)


def _utf8(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise TextError(
            f"text has the lone surrogate U+{ord(text[error.start]):04X} at character "
            f"{error.start}, which UTF-8 cannot hold; encode it to bytes with an error handler"
        ) from None


def _check(name: str, value: str, choices: object) -> None:
    if value not in get_args(choices):
        raise ArgumentError(f"{name} is {value!r:.40}; it must be one of {get_args(choices)}")


def _check_character(name: str, value: str) -> None:
    if len(value) != 1:
        raise ArgumentError(f"{name} is {value!r:.40}; it must be one character")

"""A small source to its distinct words, in the order in which they are seen."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from subword.counts import PretokenCounts
from subword.errors import ArgumentError, CountsError, EmptyCorpusError
from subword.patterns import resolve_pattern
from subword.reference.counts import count
from subword.reference.pretokens import text_bytes
from subword.special_tokens import check_special_tokens
from subword.types import TextLike

__all__ = ["MAX_SOURCE_BYTES", "Counted", "TraceSource", "check_work", "read_words"]

TraceSource = TextLike | Iterable[TextLike] | Mapping[str, int] | Mapping[bytes, int]
"""A text, documents, or words with their counts. A ``str`` is a text here, not a path."""

MAX_SOURCE_BYTES: Final = 100_000
"""Bytes of the texts, or of the distinct words of a mapping; more is for the trainers."""

MAX_SYMBOLS: Final = 10_000_000
"""Symbols in all sequences of a trace: what a person's machine holds and a page can load."""


class Counted(NamedTuple):
    """A distinct pre-token.

    Attributes:
        pretoken: Its bytes.
        occurrences: Positive.
        first_seen: Byte position of the first, the documents laid end to end.
    """

    pretoken: bytes
    occurrences: int
    first_seen: int


def read_words(
    source: TraceSource,
    pattern: str | Sequence[str] | None,
    special_tokens: Sequence[str],
    *,
    keep_whitespace: bool = True,
) -> list[Counted]:
    """Give the distinct words of a source in the order in which they are first seen.

    A mapping's words are not split again, and those that count zero are left out; they are seen
    in the mapping's order, those of a ``PretokenCounts`` in that of its corpus.

    Args:
        source: A text, documents, or a mapping of words to counts.
        pattern: The split pattern for texts.
        special_tokens: Where texts are cut; not counted.
        keep_whitespace: Whether a pre-token that is all whitespace is a word.

    Raises:
        ArgumentError: More than ``MAX_SOURCE_BYTES``, or a source of another kind.
        CountsError: A count that is no int from 0 up.
        EmptyCorpusError: No word is left.
        PatternError: A pattern that does not compile.
        SpecialTokenError: An empty or repeated special token.
        TextError: A lone surrogate.

    Examples:
        >>> read_words("to be or", "whitespace", (), keep_whitespace=False)[1]
        Counted(pretoken=b'be', occurrences=1, first_seen=3)
    """
    tokens = check_special_tokens(special_tokens)
    if isinstance(source, Mapping):
        words = _from_mapping(source)
    else:
        counted = count(_documents(source), resolve_pattern(pattern), tokens)
        words = [Counted(pretoken, *seen) for pretoken, seen in counted.items()]
    if not keep_whitespace:
        words = [word for word in words if word.pretoken.decode("utf-8", "replace").strip()]
    if not words:
        raise EmptyCorpusError("the source holds no word; give a text with something to count")
    return words


def check_work(words: Iterable[Counted], n_steps: int) -> int:
    """Give the steps there can be at most; refuse those whose sequences are too many to keep.

    Raises:
        ArgumentError: The sequences after all steps pass ``MAX_SYMBOLS``.
    """
    n_symbols = sum(len(word.pretoken) for word in words)
    n_possible = min(n_steps, n_symbols)
    if n_possible * n_symbols > MAX_SYMBOLS:
        raise ArgumentError(
            f"{n_possible} steps over distinct words of {n_symbols} bytes would write down up to "
            f"{n_possible * n_symbols} symbols; a trace keeps {MAX_SYMBOLS}: ask for at most "
            f"{MAX_SYMBOLS // n_symbols} steps, or give less text"
        )
    return n_possible


def _documents(source: TextLike | Iterable[TextLike]) -> list[bytes]:
    if isinstance(source, str | bytes):
        source = [source]
    if not isinstance(source, Iterable):
        raise _wrong_kind(source)
    documents: list[bytes] = []
    n_bytes = 0
    for document in source:
        if not isinstance(document, str | bytes):
            raise _wrong_kind(document)
        documents.append(text_bytes(document))
        n_bytes += len(documents[-1])
        _check_size(n_bytes)
    return documents


def _from_mapping(source: Mapping[str, int] | Mapping[bytes, int]) -> list[Counted]:
    """Words as they stand; ``first_seen`` as if each word's occurrences were one."""
    words: dict[bytes, Counted] = {}
    position = 0
    for word, occurrences in source.items():
        if not isinstance(word, str | bytes):
            raise _wrong_kind(word)
        if isinstance(occurrences, bool) or not isinstance(occurrences, int) or occurrences < 0:
            raise CountsError(
                f"the word {word!r:.40} counts {occurrences!r:.40}; a count is an int from 0 up"
            )
        pretoken = text_bytes(word)
        if not pretoken:
            raise CountsError("a word is empty; leave it out")
        if pretoken in words:
            raise CountsError(f"the word {word!r:.40} stands twice, as str and as bytes")
        if occurrences:
            seen = source.first_seen(pretoken) if isinstance(source, PretokenCounts) else position
            words[pretoken] = Counted(pretoken, occurrences, seen)
        position += len(pretoken)
        _check_size(position)
    return sorted(words.values(), key=lambda counted: counted.first_seen)


def _check_size(n_bytes: int) -> None:
    if n_bytes > MAX_SOURCE_BYTES:
        raise ArgumentError(
            f"the source has more than {MAX_SOURCE_BYTES} bytes; a trace writes every step down, "
            "so give it an excerpt, or train on the whole"
        )


def _wrong_kind(got: object) -> ArgumentError:
    return ArgumentError(
        f"got {got!r:.40} ({type(got).__name__}); a trace takes a text, documents that are texts, "
        "or a mapping of words to counts"
    )

"""Documents to pre-token counts: all that training ever sees of a corpus.

A table is small, exact and mergeable: a corpus is read once, and every algorithm, vocabulary
size and tie rule trains from its table.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import index
from os import PathLike

import numpy as np
import numpy.typing as npt

from subword import _core
from subword.corpus import Files, document_cut, resolve_sources
from subword.counts_parquet import read_counts, write_counts
from subword.errors import (
    ArgumentError,
    CountOverflowError,
    CountsError,
    EmptyCorpusError,
    TextError,
)
from subword.patterns import Pattern, pattern_name, resolve_pattern
from subword.special_tokens import check_special_tokens
from subword.surrogates import Errors, is_replacing, replace_surrogates
from subword.types import Sources, TextLike, whole_number

__all__ = ["PretokenCounts", "count"]

_U64_MAX = 2**64 - 1


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PretokenCounts(Mapping[bytes, int]):
    """How often each pre-token occurs in a corpus, and where it was seen first.

    A read-only mapping from pre-token to count, in the order of the pre-tokens' bytes.

    Attributes:
        table: The compiled table.
        pattern: The split that made the pre-tokens.
        special_tokens: Strings at which documents were cut, and which are never counted.
        n_bytes: Bytes of the documents.
        n_documents: Documents, empty ones included.
        sources: Where the documents came from, for the record.

    Examples:
        >>> counts = PretokenCounts.from_mapping({"low": 5, "lower": 2})
        >>> counts["low"], len(counts), counts.total
        (5, 2, 7)
        >>> (counts + counts)[b"lower"]
        4
    """

    table: _core.PretokenTable
    pattern: Pattern = ()
    special_tokens: tuple[str, ...] = ()
    n_bytes: int = 0
    n_documents: int = 0
    sources: tuple[str, ...] = field(default=())

    @classmethod
    def from_mapping(
        cls,
        counts: Mapping[str, int] | Mapping[bytes, int],
        *,
        pattern: str | Sequence[str] = "none",
        special_tokens: Sequence[str] = (),
    ) -> "PretokenCounts":
        """Make a table of given counts; those of 0 are left out.

        First positions are those of the pre-tokens laid end to end in the order given.

        Args:
            counts: Occurrences of each pre-token.
            pattern: The split that made them, for the record.
            special_tokens: The strings they were cut at, for the record.

        Raises:
            CountsError: A pre-token is empty, or a count is negative or no integer.
            TextError: A pre-token with a lone surrogate.
            CountOverflowError: A count, or their sum, does not fit in 64 bits.
        """
        pretokens = [_to_bytes(pretoken) for pretoken in counts]
        numbers = [_checked_count(*row) for row in zip(pretokens, counts.values(), strict=True)]
        lengths = np.array([len(pretoken) for pretoken in pretokens], np.uint64)
        ends = np.cumsum(lengths, dtype=np.uint64)
        table = _core.PretokenTable(
            b"".join(pretokens),
            ends,
            np.array(numbers, np.uint64),
            ends - lengths,
        )
        n_bytes = sum(len(p) * n for p, n in zip(pretokens, numbers, strict=True))
        return cls(
            table,
            pattern=resolve_pattern(pattern),
            special_tokens=check_special_tokens(special_tokens),
            n_bytes=n_bytes,
            n_documents=0,
        )

    def save(self, path: str | PathLike[str]) -> None:
        """Write the table as Parquet, whole or not at all; see ``subword.counts_parquet``.

        Raises:
            MissingExtraError: pyarrow is not installed.
            OSError: The file cannot be written.
        """
        about = {
            "pattern": self.pattern,
            "special_tokens": self.special_tokens,
            "n_bytes": self.n_bytes,
            "n_documents": self.n_documents,
            "sources": self.sources,
        }
        write_counts(path, self.table, about)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> "PretokenCounts":
        """Read a table that ``save`` wrote.

        Raises:
            MissingExtraError: pyarrow is not installed.
            SourceError: The file cannot be opened.
            CountsError: The file is damaged, or is no count table.
        """
        table, about = read_counts(path)
        return cls(
            table,
            pattern=resolve_pattern(about["pattern"]),
            special_tokens=check_special_tokens(about["special_tokens"]),
            n_bytes=about["n_bytes"],
            n_documents=about["n_documents"],
            sources=tuple(about["sources"]),
        )

    def __len__(self) -> int:
        """Give the number of distinct pre-tokens."""
        return len(self.table)

    def __getitem__(self, pretoken: TextLike) -> int:
        """Give the occurrences of a pre-token; a ``KeyError`` for one that was never seen."""
        return self._row(pretoken)[1]

    def __iter__(self) -> Iterator[bytes]:
        """Give the pre-tokens, sorted by their bytes."""
        data, start = self.table.data(), 0
        for end in self.table.ends().tolist():
            yield data[start:end]
            start = end

    def first_seen(self, pretoken: TextLike) -> int:
        """Give the byte position of the first occurrence, the documents laid end to end."""
        return self._row(pretoken)[2]

    def _row(self, pretoken: TextLike) -> tuple[bytes, int, int]:
        try:
            place = self.table.find(_to_bytes(pretoken))
        except TextError:
            place = None
        row = None if place is None else self.table.row(place)
        if row is None:
            raise KeyError(pretoken)
        return row

    @property
    def total(self) -> int:
        """Number of pre-tokens, each occurrence counted."""
        counts = self.counts()
        # numpy would wrap around where Python's integers do not.
        return int(counts.sum(dtype=object)) if len(counts) else 0

    def counts(self) -> npt.NDArray[np.uint64]:
        """Give the counts in the order of the pre-tokens: shape (n,), uint64."""
        return self.table.counts()

    def keep(self, wanted: Callable[[bytes], bool]) -> "PretokenCounts":
        """Give the table of the pre-tokens that ``wanted`` accepts; the sizes stay those of all.

        Examples:
            >>> dict(PretokenCounts.from_mapping({"a": 1, " ": 2}).keep(lambda p: bool(p.strip())))
            {b'a': 1}
        """
        kept = np.array([wanted(pretoken) for pretoken in self], dtype=bool)
        pretokens = [p for p, k in zip(self, kept.tolist(), strict=True) if k]
        ends = np.cumsum([len(p) for p in pretokens], dtype=np.uint64)
        table = _core.PretokenTable(
            b"".join(pretokens), ends, self.counts()[kept], self.table.first_seen()[kept]
        )
        return replace(self, table=table)

    def __add__(self, other: "PretokenCounts") -> "PretokenCounts":
        """Add the counts of two corpora; those of ``other`` come second.

        Raises:
            CountsError: The tables were made with different patterns or special tokens.
            CountOverflowError: A sum does not fit in 64 bits.
        """
        if not isinstance(other, PretokenCounts):
            return NotImplemented
        for what in ("pattern", "special_tokens"):
            mine, theirs = getattr(self, what), getattr(other, what)
            if mine != theirs:
                raise CountsError(
                    f"the tables were counted with different {what}: "
                    f"{mine!r:.80} and {theirs!r:.80}; "
                    "count both corpora the same way"
                )
        if self.n_bytes > _U64_MAX:
            raise CountOverflowError(
                f"the first corpus has {self.n_bytes} bytes; positions behind it pass 2^64-1"
            )
        return PretokenCounts(
            self.table.added(other.table, self.n_bytes),
            pattern=self.pattern,
            special_tokens=self.special_tokens,
            n_bytes=self.n_bytes + other.n_bytes,
            n_documents=self.n_documents + other.n_documents,
            sources=self.sources + other.sources,
        )

    def __eq__(self, other: object) -> bool:
        """Compare counts, first positions, pattern and special tokens."""
        if not isinstance(other, PretokenCounts):
            return NotImplemented
        return (
            self.pattern == other.pattern
            and self.special_tokens == other.special_tokens
            and self.table == other.table
        )

    def __hash__(self) -> int:
        """Hash what identifies the table cheaply."""
        return hash((self.pattern, self.special_tokens, len(self), self.n_bytes))

    def __repr__(self) -> str:
        """Give sizes and how it was counted."""
        pattern = pattern_name(self.pattern) or self.pattern
        return (
            f"PretokenCounts({len(self)} pre-tokens, {self.n_bytes} bytes, "
            f"{self.n_documents} documents, pattern={pattern!r})"
        )

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle the columns of the table."""
        columns = (self.table.data(), self.table.ends(), self.counts(), self.table.first_seen())
        rest = (self.pattern, self.special_tokens, self.n_bytes, self.n_documents, self.sources)
        return _from_columns, (columns, rest)


def count(
    sources: Sources,
    *,
    pattern: str | Sequence[str] = "gpt2",
    special_tokens: Sequence[str] = (),
    documents: str | bytes | None = None,
    n_threads: int | None = None,
    errors: Errors = "strict",
    progress: Callable[[int], object] | None = None,
) -> PretokenCounts:
    """Count the pre-tokens of a corpus.

    The result is the same for any number of threads. Bytes that are not UTF-8 are counted as
    they are; each counts as one character of no class when the pattern is matched.

    Args:
        sources: A path or glob, an iterable of ``Path``, or an iterable of documents.
        pattern: A name of ``subword.patterns.NAMED_PATTERNS``, a regular expression, or several
            to apply in turn.
        special_tokens: Strings at which documents are cut, and which are not counted. Where
            several match, the longest of those that start leftmost wins.
        documents: How files are cut into documents: ``"file"``, ``"line"``, or a separator; by
            default at the first special token where there is one, else not.
        n_threads: Threads to count with; None for one a core.
        errors: What a ``str`` with a lone surrogate does: ``"strict"`` refuses it,
            ``"replace"`` counts U+FFFD in its place.
        progress: Called about twenty times a second with the bytes counted by the present call
            into the compiled module; what it raises stops the count.

    Returns:
        The table. An iterable's own exceptions pass through unchanged.

    Raises:
        EmptyCorpusError: The documents hold no text at all.
        ArgumentError: ``n_threads`` below 1, an unknown ``errors``, or ``documents`` for sources
            that are no files.
        PatternError: The pattern does not compile, or passed its step limit.
        SourceError: A file that cannot be opened; all are checked before any is read.
        CorpusError: A compressed file that is damaged.
        TextError: A ``str`` with a lone surrogate.

    Examples:
        >>> dict(count(["a cat", "a hat"]))
        {b' cat': 1, b' hat': 1, b'a': 2}
    """
    special_tokens = check_special_tokens(special_tokens)
    resolved_pattern = resolve_pattern(pattern)
    if n_threads is not None:
        n_threads = whole_number("n_threads", n_threads)
    is_replaced = is_replacing(errors)
    counter = _core.PretokenCounter(
        list(resolved_pattern), list(special_tokens), n_threads=n_threads
    )
    cut = document_cut(documents, special_tokens)
    resolved = resolve_sources(sources)
    if isinstance(resolved, Files):
        counter.add_files(list(resolved.paths), cut, progress=progress)
        names = tuple(str(path) for path in resolved.paths)
    else:
        if documents is not None and cut != "file":
            raise ArgumentError(
                f"documents is {documents!r}, which cuts files, but the sources are documents "
                "already; pass paths, or cut the texts before the call"
            )
        for batch in _batches(resolved.items):
            if is_replaced:
                batch = [replace_surrogates(text) for text in batch]
            counter.add(batch, progress=progress)
        names = ()
    if counter.n_bytes == 0:
        raise EmptyCorpusError(
            f"the sources hold no text ({counter.n_documents} documents, all empty); there is "
            "nothing to count"
        )
    return PretokenCounts(
        counter.finish(),
        pattern=resolved_pattern,
        special_tokens=special_tokens,
        n_bytes=counter.n_bytes,
        n_documents=counter.n_documents,
        sources=names,
    )


_BATCH_CHARACTERS = 1 << 23


def _batches(documents: Iterable[TextLike]) -> Iterator[list[TextLike]]:
    """Group documents so that a call into the compiled module is worth its while."""
    batch: list[TextLike] = []
    size = 0
    for document in documents:
        batch.append(document)
        size += len(document) + 1
        if size >= _BATCH_CHARACTERS:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _from_columns(columns: tuple[object, ...], rest: tuple[object, ...]) -> PretokenCounts:
    return PretokenCounts(_core.PretokenTable(*columns), *rest)  # type: ignore[arg-type]


def _checked_count(pretoken: bytes, count: int) -> int:
    if not pretoken:
        raise CountsError("a pre-token is empty; leave it out")
    try:
        number = index(count)
    except TypeError:
        raise CountsError(
            f"pre-token {pretoken[:40]!r} has the count {count!r:.40}; expected an integer"
        ) from None
    if number < 0:
        raise CountsError(f"pre-token {pretoken[:40]!r} has the count {number}, below 0")
    if number > _U64_MAX:
        raise CountOverflowError(f"pre-token {pretoken[:40]!r} has the count {number} > 2^64-1")
    return number


def _to_bytes(text: TextLike) -> bytes:
    if isinstance(text, bytes):
        return text
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise TextError(
            f"pre-token {text!r:.40} has a lone surrogate at character {error.start}, which no "
            "UTF-8 can hold"
        ) from None

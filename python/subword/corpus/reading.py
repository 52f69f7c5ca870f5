"""How files are read: format, field, cut, and what a bad record does."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal, get_args

from subword.corpus.sources import STDIN, Url, shown
from subword.errors import (
    ArgumentError,
    BadRecordsWarning,
    CorpusError,
    SpecialTokenError,
    TextError,
)
from subword.types import SpecialTokens

__all__ = [
    "BadRecords",
    "InputFormat",
    "OnBad",
    "Reading",
    "document_cut",
    "format_of",
]

InputFormat = Literal["text", "jsonl", "csv", "tsv", "parquet", "arrow", "warc"]
"""What files hold."""

OnBad = Literal["fail", "skip", "replace"]
"""What a record does that cannot be read as declared."""

_COMPRESSED: Final = (".gz", ".zst", ".bz2", ".xz")
_BY_SUFFIX: Final[dict[str, InputFormat]] = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".csv": "csv",
    ".tsv": "tsv",
    ".parquet": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".warc": "warc",
    ".wet": "warc",
}
_BY_MAGIC: Final[dict[bytes, InputFormat]] = {
    b"PAR1": "parquet",
    b"ARROW1": "arrow",
    b"WARC/1.": "warc",
}
_MOST_PLACES: Final = 20


@dataclass(frozen=True, slots=True)
class Reading:
    """How files become documents.

    Attributes:
        cut: How text is cut: ``"file"``, ``"line"``, or a separator.
        field: The field or column that holds the text of a record.
        format: What all files hold; by default each tells by its name, and is text if it does not.
        on_bad: What a bad record does. None is ``"fail"``, save that text which is no UTF-8 is
            read as it is.
        has_cut: Whether the cut was asked for, and is no default.
    """

    cut: str | bytes = "file"
    field: str = "text"
    format: InputFormat | None = None
    on_bad: OnBad | None = None
    has_cut: bool = False

    @classmethod
    def of(
        cls,
        documents: str | bytes | None = None,
        special_tokens: SpecialTokens = (),
        *,
        field: str = "text",
        format: InputFormat | None = None,  # noqa: A002
        on_bad: OnBad | None = None,
    ) -> "Reading":
        """Check how files are to be read.

        Raises:
            ArgumentError: An unknown format or policy, an empty field, a cut that is no cut.
            SpecialTokenError: As ``document_cut``.
            TextError: As ``document_cut``.
        """
        for name, value, known in (
            ("format", format, get_args(InputFormat)),
            ("on_bad", on_bad, get_args(OnBad)),
        ):
            if value is not None and value not in known:
                raise ArgumentError(f"{name} is {shown(value)}; expected one of {', '.join(known)}")
        if not isinstance(field, str) or not field:
            raise ArgumentError(f"field is {shown(field)}; expected the name of a field or column")
        if format not in (None, "text"):
            if documents not in (None, "record"):
                raise ArgumentError(
                    f"documents is {documents!r}, which cuts text, but in {format} a record is a "
                    "document; leave it out"
                )
            documents = "file"
        elif documents == "record" and format is None:
            return cls("record", field, format, on_bad)
        has_cut = documents is not None and format in (None, "text")
        return cls(document_cut(documents, special_tokens), field, format, on_bad, has_cut)

    def format_of(self, path: Path | Url) -> InputFormat:
        """Give what a file holds.

        Raises:
            ArgumentError: A text, and its documents are said to be records.
            SourceError: The file cannot be read.
        """
        found = self.format or format_of(path)
        if found != "text" and self.has_cut:
            raise ArgumentError(
                f"{path} is {found} by its name, in which a record is a document, but documents "
                "says how text is cut; leave it out, or pass format='text'"
            )
        if found == "text" and self.cut == "record":
            raise ArgumentError(
                f"{path} is text by its name, which has no records; give its format, or documents "
                "as 'file', 'line' or a separator"
            )
        return found


@dataclass(slots=True)
class BadRecords:
    """The bad records met so far, and where the first of them stand."""

    on_bad: OnBad | None
    n_records: int = 0
    places: list[str] = field(default_factory=list)

    def note(self, place: str) -> None:
        """Note a bad record.

        Raises:
            CorpusError: The policy is to fail.
        """
        if self.on_bad in (None, "fail"):
            raise CorpusError(f'{place}; on_bad="skip" leaves such records out')
        self.add(1, [place])

    def add(self, n_records: int, places: Iterable[str]) -> None:
        """Add bad records that were met elsewhere."""
        self.n_records += n_records
        self.places += list(places)[: _MOST_PLACES - len(self.places)]

    def warning(self) -> BadRecordsWarning | None:
        """Give what says how many there were, if there were any."""
        if not self.n_records:
            return None
        done = "skipped" if self.on_bad == "skip" else "replaced"
        more = f" and {self.n_records - 1} more" if self.n_records > 1 else ""
        warning = BadRecordsWarning(
            f"{self.n_records} bad records were {done}: {self.places[0]}{more}"
        )
        warning.n_records, warning.places = self.n_records, tuple(self.places)
        return warning


def format_of(path: Path | Url) -> InputFormat:
    """Give what a file holds, by its name without what says how it is compressed.

    A file whose name says nothing is looked into: Parquet, Arrow and WARC are told by their first
    bytes. All else is text.

    Raises:
        OSError: The file cannot be read.

    Examples:
        >>> format_of(Path("a.jsonl.zst")), format_of(Url("s3://bucket/a.csv"))
        ('jsonl', 'csv')
    """
    stem = path.name.lower()
    for suffix in _COMPRESSED:
        stem = stem.removesuffix(suffix)
    found = _BY_SUFFIX.get(Path(stem).suffix)
    if found is not None or isinstance(path, Url) or path == STDIN or not path.is_file():
        return found or "text"
    with path.open("rb") as file:
        head = file.read(max(map(len, _BY_MAGIC)))
    return next((known for magic, known in _BY_MAGIC.items() if head.startswith(magic)), "text")


def document_cut(documents: str | bytes | None, special_tokens: SpecialTokens = ()) -> str | bytes:
    r"""Say how files are cut, in the form that the compiled reader takes.

    Args:
        documents: ``"file"``, ``"line"``, or a separator; as bytes it is always a separator.
            ``None`` cuts at the first special token where there is one, else not.
        special_tokens: The reserved strings, of which the first may be the separator.

    ``"record"`` is for formats that have records, and cuts nothing else.

    Returns:
        ``"file"``, ``"line"``, or the separator's bytes.

    Raises:
        ArgumentError: An empty separator, or one that is not text.
        SpecialTokenError: A first special token that is empty, or a bare ``str`` of them.
        TextError: A separator with a lone surrogate.

    Examples:
        >>> document_cut(None), document_cut(None, ["<|endoftext|>"]), document_cut("\n\n")
        ('file', b'<|endoftext|>', b'\n\n')
    """
    if documents is None:
        return _separator_of(special_tokens)
    if documents == "record":
        raise ArgumentError(
            "documents is 'record', which text does not have; give 'file', 'line' or a separator, "
            "or the format"
        )
    if isinstance(documents, str):
        documents = documents if documents in ("file", "line") else _encoded(documents)
    if not isinstance(documents, (str, bytes)) or not documents:
        raise ArgumentError(
            f"documents is {shown(documents)}; expected 'file', 'line', or a separator that is "
            f"not empty"
        )
    return documents


def _separator_of(special_tokens: SpecialTokens) -> str | bytes:
    """Give the first special token's bytes, or ``"file"``."""
    if isinstance(special_tokens, (str, bytes)):
        raise SpecialTokenError(
            f"special_tokens is {shown(special_tokens)} itself; expected a list: "
            f"pass [{special_tokens!r}]"
        )
    for token in special_tokens:
        if not token:
            raise SpecialTokenError("special_tokens[0] is empty; expected a reserved string")
        return _encoded(token)
    return "file"


def _encoded(separator: str) -> bytes:
    try:
        return separator.encode()
    except UnicodeEncodeError as error:
        raise TextError(
            f"the document separator {separator!r} has a lone surrogate at character "
            f"{error.start}, which no file in UTF-8 can hold; pass the separator as bytes"
        ) from error

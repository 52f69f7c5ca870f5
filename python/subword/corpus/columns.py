"""Parquet, Arrow and CSV: the texts of a column, many at a time.

Parquet and Arrow columns are read in batches by pyarrow, and their buffers go to the kernels as
they are: no text becomes a string of Python. CSV is read by the ``csv`` module.

Source: Apache Parquet format 2.11; Apache Arrow columnar format 1.5, "Variable-size Binary Layout"
and "IPC File Format"; RFC 4180 for CSV, whose first row names the columns.
"""

import csv
import io
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from subword import _core
from subword.corpus.reading import BadRecords
from subword.corpus.remote import open_url
from subword.corpus.sources import Url
from subword.errors import CorpusError
from subword.types import require_extra

__all__ = [
    "MAX_RECORD_BYTES",
    "ByteStream",
    "Column",
    "checked",
    "packed",
    "read_arrow",
    "read_csv",
    "read_parquet",
]

MAX_RECORD_BYTES: Final = 1 << 30
"""The longest record that is read whole, as in the kernels."""

_BATCH_BYTES: Final = 8 << 20
_MOST_ROWS: Final = 1 << 16
_ARROW_MAGIC: Final = b"ARROW1"

Report = Callable[[int], object]
"""Called with the bytes of the file that are read, as they are stored."""


@dataclass(frozen=True, slots=True, eq=False)
class Column:
    """Texts, one after another.

    Attributes:
        data: Their bytes; shape (n_bytes,), uint8.
        bounds: Text ``i`` is ``data[bounds[i]:bounds[i + 1]]``; shape (n_texts + 1,), int64.
    """

    data: npt.NDArray[np.uint8]
    bounds: npt.NDArray[np.int64]

    def __iter__(self) -> Iterator[bytes]:
        """Give the texts."""
        data, bounds = self.data, self.bounds.tolist()
        for start, end in pairwise(bounds):
            yield data[start:end].tobytes()


class ByteStream(io.RawIOBase):
    """A local file as a raw stream of Python, decompressed by the kernels."""

    def __init__(self, path: Path) -> None:
        """Read ``path``; it is opened by the first read."""
        super().__init__()
        self._reader = _core.ByteReader(path)

    def readable(self) -> bool:
        """Say so."""
        return True

    def readinto(self, buffer: Any, /) -> int:
        """Fill the front of a buffer."""
        view = memoryview(buffer).cast("B")
        block = self._reader.read(len(view))
        view[: len(block)] = block
        return len(block)

    @property
    def stored_bytes(self) -> int:
        """Bytes taken from the file."""
        return self._reader.stored_bytes


def checked(
    column: Column,
    bad: BadRecords,
    place: str,
    first: int,
    is_text: npt.NDArray[np.bool_] | None = None,
) -> Column:
    """Give a column whose texts are all UTF-8, as the policy says.

    Args:
        column: The texts.
        bad: The policy, and what is noted of the bad ones.
        place: What names a text in a message, before its number.
        first: The number of the first.
        is_text: False where a text is missing.

    Raises:
        CorpusError: A bad text, and the policy is to fail.
    """
    mended, n_records, places = _core.check_column(
        column.data, column.bounds, bad.on_bad or "fail", is_text=is_text, place=place, first=first
    )
    bad.add(n_records, places)
    return column if mended is None else Column(np.frombuffer(mended[0], np.uint8), mended[1])


def packed(texts: Iterable[bytes | None]) -> Iterator[tuple[Column, npt.NDArray[np.bool_]]]:
    """Pack texts into columns of some megabytes; None is a text that is missing."""
    parts: list[bytes] = []
    is_text: list[bool] = []
    size = 0
    for text in texts:
        parts.append(text or b"")
        is_text.append(text is not None)
        size += len(parts[-1]) + 16
        if size >= _BATCH_BYTES:
            yield _column(parts), np.array(is_text)
            parts, is_text, size = [], [], 0
    if parts:
        yield _column(parts), np.array(is_text)


def read_parquet(path: Path | Url, name: str, bad: BadRecords, report: Report) -> Iterator[Column]:
    """Give the texts of a Parquet column in batches of some megabytes.

    Raises:
        MissingExtraError: pyarrow is not installed.
        CorpusError: No such column, one that is no text, a bad record, or a damaged file.
        SourceError: The file cannot be opened.
    """
    require_extra("pyarrow", "parquet")
    parquet = require_extra("pyarrow.parquet", "parquet")
    with (
        _damage(path, bad),
        _opened(path) as file,
        parquet.ParquetFile(file, pre_buffer=False, buffer_size=1 << 20) as reader,
    ):
        kind = _checked_type(path, reader.schema_arrow, name)
        n_total, row = max(reader.metadata.num_rows, 1), 0
        size = file.seek(0, io.SEEK_END)
        for batch in reader.iter_batches(_n_rows(reader.metadata, name), columns=[name]):
            array = batch.column(0)
            yield _arrow_column(path, array, kind, bad, row)
            row += len(array)
            report(size * row // n_total)


def read_arrow(path: Path | Url, name: str, bad: BadRecords, report: Report) -> Iterator[Column]:
    """Give the texts of a column of an Arrow IPC file or stream.

    Raises:
        MissingExtraError: pyarrow is not installed.
        CorpusError: No such column, one that is no text, a bad record, or a damaged file.
        SourceError: The file cannot be opened.
    """
    require_extra("pyarrow", "parquet")
    ipc = require_extra("pyarrow.ipc", "parquet")
    with _damage(path, bad), _opened(path) as file:
        is_file = file.read(len(_ARROW_MAGIC)) == _ARROW_MAGIC
        file.seek(0)
        reader = ipc.open_file(file) if is_file else ipc.open_stream(file)
        kind = _checked_type(path, reader.schema, name)
        at, row = reader.schema.get_field_index(name), 0
        numbers = range(reader.num_record_batches) if is_file else None
        batches = map(reader.get_batch, numbers) if numbers is not None else iter(reader)
        for batch in batches:
            array = batch.column(at)
            yield _arrow_column(path, array, kind, bad, row)
            row += len(array)
            report(file.tell())


def read_csv(
    path: Path, shown: str, name: str, delimiter: str, bad: BadRecords, report: Report
) -> Iterator[Column]:
    """Give the texts of a column of a CSV file with a header.

    Args:
        path: The file, compressed or not.
        shown: What names it in messages.
        name: The column.
        delimiter: What separates columns.
        bad: The policy.
        report: Called with the bytes read.

    Raises:
        CorpusError: No such column, a bad record, or a damaged file.
        SourceError: The file cannot be opened.
    """
    # The limit is the process's; it is only ever raised, and bounds memory from here on too.
    csv.field_size_limit(max(csv.field_size_limit(), MAX_RECORD_BYTES))
    stream = ByteStream(path)
    with io.TextIOWrapper(
        io.BufferedReader(stream, 1 << 20), "utf-8-sig", "surrogateescape", newline=""
    ) as file:
        rows = csv.reader(file, delimiter=delimiter, strict=True)
        try:
            header = next(rows, [])
        except csv.Error as error:
            raise CorpusError(f"{shown}: the first row is no CSV: {error}") from error
        if name not in header:
            raise CorpusError(_no_column(shown, name, header))
        first = 1
        for column, is_text in packed(_cells(rows, header.index(name), shown, bad)):
            yield checked(column, bad, f"{shown}: record ", first, is_text)
            first += len(is_text)
            report(stream.stored_bytes)


def _cells(rows: Any, at: int, shown: str, bad: BadRecords) -> Iterator[bytes | None]:
    while True:
        try:
            row = next(rows, None)
        except csv.Error as error:
            bad.note(f"{shown}:{rows.line_num}: no CSV: {error}")
            if bad.on_bad == "replace":
                yield b""
            continue
        except CorpusError as error:
            bad.note(str(error))
            return
        if row is None:
            return
        if row:
            yield row[at].encode("utf-8", "surrogateescape") if at < len(row) else None


@contextmanager
def _opened(path: Path | Url) -> Iterator[Any]:
    """Open a file for reading at any place; it is never mapped."""
    with open_url(path.text) if isinstance(path, Url) else path.open("rb") as file:
        yield file


@contextmanager
def _damage(path: Path | Url, bad: BadRecords) -> Iterator[None]:
    """Let a damaged file end where the damage is, if the policy says so."""
    arrow = require_extra("pyarrow", "parquet")
    try:
        yield
    except (arrow.ArrowException, OSError) as error:
        if isinstance(error, MemoryError) or (isinstance(error, OSError) and error.errno):
            raise
        bad.note(f"{path}: the file is damaged: {' '.join(str(error).split())[:200]}")


def _checked_type(path: Path | Url, schema: Any, name: str) -> Any:
    """Refuse a column that is missing or no text; gives its type."""
    arrow = require_extra("pyarrow", "parquet")
    if schema.names.count(name) != 1:
        raise CorpusError(_no_column(path, name, schema.names))
    kind = schema.field(name).type
    plain = kind.value_type if arrow.types.is_dictionary(kind) else kind
    if str(plain) not in _TEXT_TYPES:
        raise CorpusError(
            f"{path}: the column {name!r} is {kind}, no text; give one of the others with field="
        )
    return kind


_TEXT_TYPES = ("string", "large_string", "string_view", "binary", "large_binary", "binary_view")


def _no_column(path: object, name: str, names: Iterable[str]) -> str:
    listed = ", ".join(names)
    return (
        f"{path}: there is no column {name!r}; there are: {listed:.200}. Name the one that has the "
        "texts with field=, or pass format='text' for the file as it is"
    )


def _n_rows(metadata: Any, name: str) -> int:
    """Give how many rows make a batch of some megabytes, by what the file says of its columns."""
    n_bytes = 0
    for group in range(metadata.num_row_groups):
        row_group = metadata.row_group(group)
        for at in range(row_group.num_columns):
            column = row_group.column(at)
            if column.path_in_schema == name:
                n_bytes += max(column.total_uncompressed_size, 0)
    average = n_bytes // max(metadata.num_rows, 1) + 1
    return int(min(max(_BATCH_BYTES // average, 16), _MOST_ROWS))


def _arrow_column(path: Path | Url, array: Any, kind: Any, bad: BadRecords, row: int) -> Column:
    """Give an array's buffers as they are, checked."""
    arrow = require_extra("pyarrow", "parquet")
    if arrow.types.is_dictionary(kind):
        array = array.dictionary_decode()
    if str(array.type).endswith("_view"):
        array = array.cast(
            arrow.large_binary() if "binary" in str(array.type) else arrow.large_string()
        )
    array = array.cast(arrow.large_binary())
    array.validate()
    _, offsets, data = array.buffers()
    bounds = np.zeros(1, np.int64)
    if len(array):
        bounds = np.frombuffer(offsets, np.int64)[array.offset :][: len(array) + 1]
    column = Column(np.frombuffer(data if data is not None else b"", np.uint8), bounds)
    is_text = array.is_valid().to_numpy(zero_copy_only=False) if array.null_count else None
    return checked(column, bad, f"{path}: row ", row, is_text)


def _column(parts: list[bytes]) -> Column:
    bounds = np.zeros(len(parts) + 1, np.int64)
    np.cumsum([len(part) for part in parts], out=bounds[1:])
    return Column(np.frombuffer(b"".join(parts), np.uint8), bounds)

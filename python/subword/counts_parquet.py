"""Count tables as Parquet files.

Columns: ``pretoken`` (binary), ``count`` (uint64), ``first_seen`` (uint64); rows in the order of
the pre-tokens' bytes. The schema's metadata holds, under ``subword``, one JSON object: version,
pattern, special_tokens, n_bytes, n_documents, and sources: a list of name, sha256, n_bytes and
n_documents.
"""

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from subword import _core
from subword.atomic_write import whole_file
from subword.corpus.sources import resolve_sources
from subword.errors import CountsError
from subword.types import require_extra

__all__ = [
    "BATCH_ROWS",
    "Batch",
    "is_count_table",
    "open_counts",
    "read_counts",
    "row_count",
    "write_batches",
    "write_counts",
]

BATCH_ROWS: Final = 1 << 18
"""Rows of a row group: what is in memory while a table is written or read."""

Batch = tuple[Any, npt.NDArray[np.uint64], npt.NDArray[np.uint64], npt.NDArray[np.uint64]]
"""Rows: bytes of the pre-tokens, where each ends in them, counts, first positions."""

_KEY = b"subword"
_VERSION = 1
_EXPECTED = "expected a count table written by PretokenCounts.save"
_MAX_INT32 = 2**31 - 1


def write_counts(
    path: str | PathLike[str], table: _core.PretokenTable, about: Mapping[str, Any]
) -> None:
    """Write a table; the file appears whole or not at all.

    Args:
        path: Where; a file that is there is replaced.
        table: The rows.
        about: What the metadata says besides the version; JSON values.

    Raises:
        MissingExtraError: pyarrow is not installed.
        OSError: The file cannot be written.
    """
    write_batches(path, _batches_of(table), about)


def write_batches(
    path: str | PathLike[str], batches: Iterable[Batch], about: Mapping[str, Any]
) -> None:
    """Write rows that come some at a time; the file appears whole or not at all.

    The same rows in batches of ``BATCH_ROWS``, save the last, make the same bytes.

    Args:
        path: Where; a file that is there is replaced.
        batches: The rows, sorted by pre-token, with no batch empty.
        about: What the metadata says besides the version; JSON values.

    Raises:
        MissingExtraError: pyarrow is not installed.
        OSError: The file cannot be written.
    """
    arrow = require_extra("pyarrow", "parquet")
    parquet = require_extra("pyarrow.parquet", "parquet")
    metadata = {_KEY: json.dumps({"version": _VERSION, **about}).encode()}
    fields = [
        ("pretoken", arrow.binary()),
        ("count", arrow.uint64()),
        ("first_seen", arrow.uint64()),
    ]
    schema = arrow.schema(
        [arrow.field(name, kind, nullable=False) for name, kind in fields], metadata=metadata
    )
    with (
        whole_file(path) as file,
        parquet.ParquetWriter(
            file,
            schema,
            compression="zstd",
            use_dictionary=["count"],
            write_page_checksum=True,
        ) as writer,
    ):
        for data, ends, counts, first_seen in batches:
            for start, end in _narrow(ends):
                writer.write_batch(
                    _record_batch(arrow, schema, data, ends, counts, first_seen, start, end)
                )


def _narrow(ends: npt.NDArray[np.uint64]) -> Iterator[tuple[int, int]]:
    """Give ranges of rows whose bytes fit the 32-bit offsets of a binary column."""
    start = 0
    while start < len(ends):
        base = int(ends[start - 1]) if start else 0
        end = int(np.searchsorted(ends, base + _MAX_INT32, side="right"))
        if end == start:
            raise CountsError(
                f"a pre-token has {int(ends[start]) - base} bytes; a file holds {_MAX_INT32}"
            )
        yield start, end
        start = end


def _record_batch(
    arrow: Any,
    schema: Any,
    data: Any,
    ends: npt.NDArray[np.uint64],
    counts: npt.NDArray[np.uint64],
    first_seen: npt.NDArray[np.uint64],
    start: int,
    end: int,
) -> Any:
    base = int(ends[start - 1]) if start else 0
    offsets = np.zeros(end - start + 1, np.int32)
    offsets[1:] = ends[start:end] - np.uint64(base)
    part = memoryview(data)[base : int(ends[end - 1])]
    buffers = [None, arrow.py_buffer(offsets), arrow.py_buffer(part)]
    pretokens = arrow.Array.from_buffers(arrow.binary(), end - start, buffers)
    columns = [pretokens, arrow.array(counts[start:end]), arrow.array(first_seen[start:end])]
    return arrow.RecordBatch.from_arrays(columns, schema=schema)


def _batches_of(table: _core.PretokenTable) -> Iterator[Batch]:
    data, ends = memoryview(table.data()), table.ends()
    counts, first_seen = table.counts(), table.first_seen()
    base = 0
    for start in range(0, len(ends), BATCH_ROWS):
        part = slice(start, start + BATCH_ROWS)
        last = int(ends[part][-1])
        yield data[base:last], ends[part] - np.uint64(base), counts[part], first_seen[part]
        base = last


def read_counts(
    path: str | PathLike[str], *, min_count: int = 1
) -> tuple[_core.PretokenTable, dict[str, Any]]:
    """Read a table, and what its metadata says.

    Memory holds the rows of at least ``min_count`` and one batch.

    Raises:
        MissingExtraError: pyarrow is not installed.
        SourceError: The file cannot be opened.
        CountsError: The file is damaged, or is no count table.
    """
    with open_counts(path) as (batches, about):
        try:
            return _core.PretokenTable.from_batches(batches, min_count), about
        except CountsError:
            pass
    # Whoever wrote it did not sort it, so it has to be in memory as a whole; or it is damaged, and
    # this says how.
    with open_counts(path) as (batches, about):
        return _sorted_table(path, list(batches)).at_least(min_count), about


@contextmanager
def open_counts(
    path: str | PathLike[str],
) -> Iterator[tuple[Iterator[Batch], dict[str, Any]]]:
    """Open a table to read its rows some at a time.

    Yields:
        The rows in batches, and what the metadata says.

    Raises:
        MissingExtraError: pyarrow is not installed.
        SourceError: The file cannot be opened.
        CountsError: The file is damaged, or is no count table.
    """
    arrow = require_extra("pyarrow", "parquet")
    parquet = require_extra("pyarrow.parquet", "parquet")
    resolve_sources([Path(path)])
    with Path(path).open("rb") as file:
        try:
            with parquet.ParquetFile(
                file, page_checksum_verification=True, pre_buffer=False, buffer_size=1 << 20
            ) as reader:
                about = _check_schema(path, reader.schema_arrow)
                yield _read_batches(path, arrow, reader), about
        except (arrow.ArrowException, OSError) as error:
            if isinstance(error, MemoryError) or (isinstance(error, OSError) and error.errno):
                raise
            raise CountsError(f"{path}: {_one_line(error)}; {_EXPECTED}") from error


def row_count(path: str | PathLike[str]) -> int:
    """Give the rows of a table, by its metadata.

    Raises:
        MissingExtraError: pyarrow is not installed.
        CountsError: The file is damaged.
        SourceError: It cannot be opened.
    """
    arrow = require_extra("pyarrow", "parquet")
    parquet = require_extra("pyarrow.parquet", "parquet")
    try:
        return int(parquet.read_metadata(os.fspath(path)).num_rows)
    except arrow.ArrowException as error:
        raise CountsError(f"{path}: {_one_line(error)}; {_EXPECTED}") from error


def is_count_table(path: Path) -> bool:
    """Tell whether a Parquet file is a count table, by its metadata.

    Raises:
        MissingExtraError: pyarrow is not installed.
        OSError: The file cannot be opened.
    """
    arrow = require_extra("pyarrow", "parquet")
    parquet = require_extra("pyarrow.parquet", "parquet")
    with path.open("rb") as file:
        try:
            with parquet.ParquetFile(file) as reader:
                return _KEY in (reader.schema_arrow.metadata or {})
        except arrow.ArrowException:
            return False


def _read_batches(path: str | PathLike[str], arrow: Any, reader: Any) -> Iterator[Batch]:
    n_rows = 0
    for batch in reader.iter_batches(BATCH_ROWS):
        n_rows += len(batch)
        if not len(batch):
            continue
        if any(column.null_count for column in batch.columns):
            raise CountsError(f"{path}: a row has no value; {_EXPECTED}")
        named = dict(zip(batch.schema.names, batch.columns, strict=True))
        array = named["pretoken"].cast(arrow.large_binary())
        _, offsets_buffer, data = array.buffers()
        offsets = np.frombuffer(offsets_buffer, np.int64)[array.offset :][: len(array) + 1]
        start, end = int(offsets[0]), int(offsets[-1])
        text = np.frombuffer(data if data is not None else b"", np.uint8)[start:end]
        ends = (offsets[1:] - start).astype(np.uint64)
        counts = np.ascontiguousarray(named["count"].to_numpy(zero_copy_only=False))
        yield (
            text,
            ends,
            counts,
            np.ascontiguousarray(named["first_seen"].to_numpy(zero_copy_only=False)),
        )
    if n_rows != reader.metadata.num_rows:
        raise CountsError(
            f"{path}: there are {n_rows} rows where {reader.metadata.num_rows} are announced; "
            f"{_EXPECTED}"
        )


def _check_schema(path: str | PathLike[str], schema: Any) -> dict[str, Any]:
    """Give the metadata of a schema that is a count table's."""
    columns = {
        name: str(kind).removeprefix("large_")
        for name, kind in zip(schema.names, schema.types, strict=True)
    }
    expected = {"pretoken": "binary", "count": "uint64", "first_seen": "uint64"}
    if columns != expected or len(schema.names) != len(expected):
        raise CountsError(
            f"{path}: the columns are {_listed(columns)}; {_EXPECTED}, with {_listed(expected)}"
        )
    return _check_metadata(path, (schema.metadata or {}).get(_KEY))


def _check_metadata(path: str | PathLike[str], metadata: bytes | None) -> dict[str, Any]:
    if metadata is None:
        raise CountsError(f"{path}: the metadata has no {_KEY.decode()!r}; {_EXPECTED}")
    try:
        about: dict[str, Any] = json.loads(metadata)
    except ValueError as error:
        raise CountsError(f"{path}: the metadata is no JSON ({error}); {_EXPECTED}") from error
    version = about.pop("version", None) if isinstance(about, dict) else None
    if version != _VERSION:
        raise CountsError(
            f"{path}: the version is {version!r:.40}; expected {_VERSION}; a newer subword wrote "
            "it, or the file is damaged"
        )
    for name, check in _FIELDS.items():
        if name not in about or not check(about[name]):
            raise CountsError(f"{path}: {name} is {about.get(name)!r:.40}; {_EXPECTED}")
    if unknown := about.keys() - _FIELDS.keys():
        raise CountsError(f"{path}: the metadata has {sorted(unknown)[0]!r:.40}; {_EXPECTED}")
    return about


def _are_strings(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _are_sources(value: object) -> bool:
    return isinstance(value, list) and all(
        isinstance(item, dict)
        and item.keys() == {"name", "sha256", "n_bytes", "n_documents"}
        and isinstance(item["name"], str)
        and (item["sha256"] is None or isinstance(item["sha256"], str))
        and all(item[n] is None or _is_size(item[n]) for n in ("n_bytes", "n_documents"))
        for item in value
    )


def _is_size(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


_FIELDS = {
    "pattern": _are_strings,
    "special_tokens": _are_strings,
    "n_bytes": _is_size,
    "n_documents": _is_size,
    "sources": _are_sources,
}


def _sorted_table(path: str | PathLike[str], batches: list[Batch]) -> _core.PretokenTable:
    """Join rows in any order."""
    data = b"".join(bytes(batch[0]) for batch in batches)
    bases = np.cumsum([0, *(len(batch[0]) for batch in batches)], dtype=np.uint64)
    columns = [
        np.concatenate(parts)
        for parts in (
            [batch[1] + base for batch, base in zip(batches, bases, strict=False)],
            [batch[2] for batch in batches],
            [batch[3] for batch in batches],
        )
    ]
    try:
        table = _core.PretokenTable(data, *columns)
    except CountsError as error:
        raise CountsError(f"{path}: {error}; {_EXPECTED}") from error
    if len(table) < len(columns[0]):
        raise CountsError(
            f"{path}: of its {len(columns[0])} pre-tokens only {len(table)} are distinct; "
            f"{_EXPECTED}"
        )
    return table


def _listed(columns: Mapping[str, str]) -> str:
    return ", ".join(f"{name} {kind}" for name, kind in columns.items())[:200] or "none"


def _one_line(error: BaseException) -> str:
    return " ".join(str(error).split())[:200]

"""Count tables as Parquet files.

Columns: ``pretoken`` (binary), ``count`` (uint64), ``first_seen`` (uint64); rows in the order of
the pre-tokens' bytes. The schema's metadata holds, under ``subword``, one JSON object: version,
pattern, special_tokens, n_bytes, n_documents, sources.
"""

import json
from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from subword import _core
from subword.atomic_write import whole_file
from subword.corpus import resolve_sources
from subword.errors import CountsError
from subword.types import require_extra

__all__ = ["read_counts", "write_counts"]

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
    arrow = require_extra("pyarrow", "parquet")
    parquet = require_extra("pyarrow.parquet", "parquet")
    data, ends = table.data(), table.ends()
    wide = len(data) > _MAX_INT32
    kind = arrow.large_binary() if wide else arrow.binary()
    offsets = np.zeros(len(ends) + 1, np.int64 if wide else np.int32)
    offsets[1:] = ends
    buffers = [None, arrow.py_buffer(offsets), arrow.py_buffer(data)]
    columns = {
        "pretoken": arrow.Array.from_buffers(kind, len(ends), buffers),
        "count": arrow.array(table.counts()),
        "first_seen": arrow.array(table.first_seen()),
    }
    metadata = {_KEY: json.dumps({"version": _VERSION, **about}).encode()}
    schema = arrow.schema(
        [arrow.field(name, column.type, nullable=False) for name, column in columns.items()],
        metadata=metadata,
    )
    rows = arrow.Table.from_arrays(list(columns.values()), schema=schema)
    with whole_file(path) as file:
        parquet.write_table(
            rows,
            file,
            compression="zstd",
            use_dictionary=["count"],
            write_page_checksum=True,
        )


def read_counts(path: str | PathLike[str]) -> tuple[_core.PretokenTable, dict[str, Any]]:
    """Read a table, and what its metadata says.

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
            with parquet.ParquetFile(file, page_checksum_verification=True) as reader:
                schema = reader.schema_arrow
                about = _check_schema(path, schema)
                rows = reader.read()
        except (arrow.ArrowException, OSError) as error:
            if isinstance(error, MemoryError) or (isinstance(error, OSError) and error.errno):
                raise
            raise CountsError(f"{path}: {_one_line(error)}; {_EXPECTED}") from error
    try:
        return _table(arrow, rows), about
    except CountsError as error:
        raise CountsError(f"{path}: {error}; {_EXPECTED}") from error


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


def _is_size(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


_FIELDS = {
    "pattern": _are_strings,
    "special_tokens": _are_strings,
    "n_bytes": _is_size,
    "n_documents": _is_size,
    "sources": _are_strings,
}


def _table(arrow: Any, rows: Any) -> _core.PretokenTable:
    """Join the chunks of the columns; a file has one for some hundred thousand rows."""
    if any(column.null_count for column in rows.columns):
        raise CountsError("a row has no value")
    parts, ends, base = [], [np.zeros(0, np.uint64)], 0
    for chunk in rows.column("pretoken").cast(arrow.large_binary()).chunks:
        _, offsets_buffer, data = chunk.buffers()
        offsets = np.frombuffer(offsets_buffer, np.int64)[chunk.offset :][: len(chunk) + 1]
        if not len(chunk):
            continue
        start, end = int(offsets[0]), int(offsets[-1])
        parts.append(memoryview(data)[start:end] if data is not None else b"")
        ends.append((offsets[1:] + (base - start)).astype(np.uint64))
        base += end - start
    table = _core.PretokenTable(
        b"".join(parts),
        np.concatenate(ends),
        rows.column("count").to_numpy(),
        rows.column("first_seen").to_numpy(),
    )
    if len(table) < len(rows):
        raise CountsError(f"of its {len(rows)} pre-tokens only {len(table)} are distinct")
    return table


def _listed(columns: Mapping[str, str]) -> str:
    return ", ".join(f"{name} {kind}" for name, kind in columns.items())[:200] or "none"


def _one_line(error: BaseException) -> str:
    return " ".join(str(error).split())[:200]

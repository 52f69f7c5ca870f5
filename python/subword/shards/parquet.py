"""Parquet: a row a document, its ids in the column ``input_ids``.

The column is a list of uint16, uint32 or int32, so that pandas, Polars, DuckDB and HF ``datasets``
read it. Row groups hold about a million tokens.

Source: Apache Parquet, list type; HF ``datasets`` for the column's name.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import numpy as np

from subword.atomic_write import whole_file
from subword.errors import FormatError
from subword.shards.raw import Layout, RawShard, Shard
from subword.types import require_extra

__all__ = ["LAYOUT", "check", "read", "write"]

_GROUP_TOKENS: Final = 1 << 20
_GROUP_DOCUMENTS: Final = 1 << 16

LAYOUT: Final = Layout(suffixes=(".parquet",), header_bytes=None)


def check() -> None:
    """Refuse where pyarrow is not installed.

    Raises:
        MissingExtraError: With the command that installs it.
    """
    require_extra("pyarrow.parquet", "parquet")


def write(raw: RawShard, stem: Path) -> None:
    """Write a shard, a row group at a time."""
    arrow, parquet = (
        require_extra("pyarrow", "parquet"),
        require_extra("pyarrow.parquet", "parquet"),
    )
    ids = arrow.from_numpy_dtype(raw.dtype)
    schema = arrow.schema([arrow.field("input_ids", arrow.list_(ids), nullable=False)])
    with (
        whole_file(Path(f"{stem}.parquet")) as file,
        parquet.ParquetWriter(file, schema, compression="zstd", use_dictionary=False) as writer,
        raw.path.open("rb") as source,
    ):
        source.seek(raw.offset)
        for bounds in _groups(raw):
            n_tokens = int(bounds[-1])
            values = np.frombuffer(source.read(n_tokens * raw.dtype.itemsize), raw.dtype)
            column = arrow.ListArray.from_arrays(arrow.array(bounds, arrow.int32()), values)
            writer.write_table(arrow.table([column], schema=schema))


def read(stem: Path, dtype: str, n_tokens: int, n_documents: int) -> Shard:
    """Open a shard; the ids are in memory, as Parquet has to be decompressed."""
    arrow, parquet = (
        require_extra("pyarrow", "parquet"),
        require_extra("pyarrow.parquet", "parquet"),
    )
    path = Path(f"{stem}.parquet")
    ids, bounds = np.empty(n_tokens, dtype), np.zeros(n_documents + 1, np.int64)
    at_token, at_document = 0, 0
    try:
        with parquet.ParquetFile(path) as file:
            for batch in file.iter_batches(columns=["input_ids"]):
                column: Any = batch.column(0)
                offsets = column.offsets.to_numpy().astype(np.int64)
                values = column.values.to_numpy()[offsets[0] : offsets[-1]]
                ids[at_token : at_token + len(values)] = values
                ends = bounds[at_document + 1 : at_document + len(offsets)]
                ends[:] = at_token + offsets[1:] - offsets[0]
                at_token, at_document = at_token + len(values), at_document + len(column)
    except (arrow.ArrowException, OSError, ValueError, KeyError) as error:
        raise FormatError(f"{path}: {error}") from error
    if (at_token, at_document) != (n_tokens, n_documents):
        raise FormatError(
            f"{path}: {at_token} tokens in {at_document} documents, expected {n_tokens} in "
            f"{n_documents}"
        )
    return Shard(ids, bounds)


def _groups(raw: RawShard) -> Iterator[Any]:
    """Give the bounds of some documents at a time, from 0, each about a row group."""
    at, n_documents, bounds = 0, len(raw.ends), raw.bounds()
    while at < n_documents:
        full = int(np.searchsorted(raw.ends, bounds[at] + _GROUP_TOKENS))
        end = max(at + 1, min(full, at + _GROUP_DOCUMENTS, n_documents))
        yield bounds[at : end + 1] - bounds[at]
        at = end

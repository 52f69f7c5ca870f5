"""MosaicML's streaming shards: ``.mds`` files, and one ``index.json`` for those of a folder.

A shard: uint32 number of samples, uint32 offset of each and of the end, the column table as JSON,
then the samples. A sample has one column, ``tokens``, an array: uint32 size, a byte (the number of
axes times 4, and the code of the width of the lengths), the length, the ids.

Source: mosaicml/streaming, ``streaming/base/format/mds/writer.py``, ``…/mds/encodings.py``
(``NDArray``) and ``…/base/writer.py``: shards of version 2.
"""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from subword.atomic_write import whole_file
from subword.errors import FormatError
from subword.shards.raw import Layout, RawShard, Shard, check_size, write_bytes

__all__ = ["LAYOUT", "read", "write", "write_index"]

# Offsets are uint32; what a sample needs besides its ids leaves a wide margin below 4 GiB.
LAYOUT: Final = Layout(suffixes=(".mds",), header_bytes=None, max_bytes=3 << 30)

_WIDTHS: Final = ((1 << 8, 0, "<u1"), (1 << 16, 1, "<u2"), (1 << 32, 2, "<u4"))


def write(raw: RawShard, stem: Path) -> None:
    """Write a shard.

    Raises:
        FormatError: A shard of 4 GiB or more, which the offsets cannot hold.
    """
    config = json.dumps(_config(raw.dtype.name), sort_keys=True).encode()
    lengths = np.diff(raw.bounds())
    heads = np.where(lengths < 1 << 8, 6, np.where(lengths < 1 << 16, 7, 9))
    front = 4 + 4 * (len(lengths) + 1) + len(config)
    offsets = front + np.concatenate(
        (np.zeros(1, np.int64), np.cumsum(heads + lengths * raw.dtype.itemsize))
    )
    path = Path(f"{stem}.mds")
    if offsets[-1] >= 1 << 32:
        raise FormatError(
            f"{path}: {offsets[-1]} bytes; a shard holds less than 4 GiB: choose a smaller "
            "shard_tokens, or cut the documents"
        )
    with whole_file(path) as file:
        file.write(np.uint32(len(lengths)).tobytes())
        file.write(offsets.astype("<u4").tobytes())
        file.write(config)
        file.writelines(_samples(raw.documents()))


def read(stem: Path, dtype: str, n_tokens: int, n_documents: int) -> Shard:
    """Open a shard; the ids are in memory, gathered from between the heads of the samples."""
    path = Path(f"{stem}.mds")
    data: npt.NDArray[np.uint8] = np.memmap(path, np.uint8, "r")
    ids, bounds = np.empty(n_tokens, dtype), np.zeros(n_documents + 1, np.int64)
    try:
        offsets = data[4 : 8 + 4 * n_documents].view("<u4").astype(np.int64)
        if int(data[:4].view("<u4")[0]) != n_documents:
            raise FormatError(f"{path}: another number of samples than {n_documents}")
        check_size(path, int(offsets[-1]))
        for at in range(n_documents):
            sample = data[offsets[at] : offsets[at + 1]]
            values = sample[5 + (1 << (int(sample[4]) & 3)) :].view(np.dtype(dtype))
            bounds[at + 1] = bounds[at] + len(values)
            ids[bounds[at] : bounds[at + 1]] = values
    except (ValueError, IndexError) as error:
        raise FormatError(f"{path}: the shard is damaged: {error}") from error
    if bounds[-1] != n_tokens:
        raise FormatError(f"{path}: {bounds[-1]} tokens, expected {n_tokens}")
    return Shard(ids, bounds)


def write_index(folder: Path, dtype: str, shards: Iterable[tuple[str, int]]) -> str:
    """Write ``index.json`` for shards given as (name of the file, number of samples).

    Returns:
        The name of the index.
    """
    entries = []
    for name, n_documents in shards:
        data = {"basename": name, "bytes": (folder / name).stat().st_size, "hashes": {}}
        entry = {"samples": n_documents, "raw_data": data, "zip_data": None}
        entries.append(_config(dtype) | entry)
    index = json.dumps({"version": 2, "shards": entries}, sort_keys=True)
    write_bytes(folder / "index.json", index.encode())
    return "index.json"


def _config(dtype: str) -> dict[str, Any]:
    return {
        "version": 2,
        "format": "mds",
        "compression": None,
        "hashes": [],
        "size_limit": None,
        "column_names": ["tokens"],
        "column_encodings": [f"ndarray:{dtype}"],
        "column_sizes": [None],
    }


def _samples(documents: Iterable[npt.NDArray[Any]]) -> Iterator[bytes]:
    for ids in documents:
        code, width = next((code, width) for limit, code, width in _WIDTHS if len(ids) < limit)
        head = bytes([1 << 2 | code]) + np.array([len(ids)], width).tobytes()
        yield np.uint32(len(head) + ids.nbytes).tobytes() + head + ids.tobytes()

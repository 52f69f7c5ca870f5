"""The bytes of each format, as the libraries that read it expect them."""

import csv
import functools
import gzip
import itertools
import json
import operator
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from subword.errors import ArgumentError, FormatError, SourceError
from subword.shards.layouts import FORMATS
from subword.shards.mds import write_index
from subword.shards.raw import RawShard, choose_dtype

DOCUMENTS = [[1, 2, 3], [], [500], [7] * 300]
IDS = functools.reduce(operator.iadd, DOCUMENTS, [])
ENDS = [3, 3, 4, 304]
NUMPY_FORMATS = [name for name in FORMATS if name not in ("parquet",)]


def write(
    folder: Path, format: str, documents: list[list[int]] = DOCUMENTS, dtype: str = "uint16"
) -> Path:
    module = FORMATS[format]
    if format == "parquet":
        pytest.importorskip("pyarrow")
    header = bytes(module.LAYOUT.header_bytes or 0)
    data = b"".join(np.array(ids, f"<{np.dtype(dtype).str[1:]}").tobytes() for ids in documents)
    path = folder / "scratch.ids"
    path.write_bytes(header + data)
    ends = np.cumsum([len(ids) for ids in documents], dtype=np.int64)
    raw = RawShard(
        path,
        len(header),
        np.dtype(dtype),
        ends,
        ["a.txt", "b,c.txt"],
        np.arange(len(documents)) % 2,
        np.arange(len(documents)),
        {"sha256": "ab" * 32},
    )
    module.write(raw, folder / "shard")
    return folder


def read(
    folder: Path, format: str, documents: list[list[int]] = DOCUMENTS, dtype: str = "uint16"
) -> Any:
    n_tokens = sum(len(ids) for ids in documents)
    return FORMATS[format].read(folder / "shard", dtype, n_tokens, len(documents))


@pytest.mark.parametrize("format", FORMATS)
def test_what_was_written_is_read_again(format: str, tmp_path: Path) -> None:
    shard = read(write(tmp_path, format), format)
    assert shard.ids.tolist() == IDS
    if FORMATS[format].LAYOUT.keeps_documents:
        assert [shard.document(at).tolist() for at in range(len(shard))] == DOCUMENTS
    if FORMATS[format].LAYOUT.header_bytes is not None:
        assert isinstance(shard.ids, np.memmap)


@pytest.mark.parametrize("format", FORMATS)
@given(
    documents=st.lists(st.lists(st.integers(0, 65_535), max_size=4), max_size=5), wide=st.booleans()
)
def test_any_documents_are_read_as_they_were_written(
    format: str, tmp_path_factory: pytest.TempPathFactory, documents: list[list[int]], wide: bool
) -> None:
    dtype = FORMATS[format].LAYOUT.dtypes[-1 if wide else 0][0]
    folder = tmp_path_factory.mktemp("shard")
    shard = read(write(folder, format, documents, dtype), format, documents, dtype)
    assert shard.ids.tolist() == functools.reduce(operator.iadd, documents, [])
    assert shard.ids.dtype == dtype
    if FORMATS[format].LAYOUT.keeps_documents:
        assert [shard.document(at).tolist() for at in range(len(shard))] == documents


@pytest.mark.parametrize("format", FORMATS)
def test_a_shard_that_was_cut_off_is_refused(format: str, tmp_path: Path) -> None:
    folder = write(tmp_path, format)
    for suffix in FORMATS[format].LAYOUT.suffixes:
        if suffix == ".ds.metadata":
            continue
        path = folder / f"shard{suffix}"
        data = path.read_bytes()
        path.write_bytes(data[:-2])
        with pytest.raises((FormatError, SourceError)):
            read(folder, format)
        path.write_bytes(data)
    assert read(folder, format).ids.tolist() == IDS


def test_npy_is_what_numpy_writes(tmp_path: Path) -> None:
    folder = write(tmp_path, "npy")
    np.save(tmp_path / "same.npy", np.array(IDS, "<u2"))
    assert (folder / "shard.npy").read_bytes() == (tmp_path / "same.npy").read_bytes()
    assert np.load(folder / "shard.ends.npy").tolist() == ENDS


def test_megatron(tmp_path: Path) -> None:
    folder = write(tmp_path, "megatron")
    assert (folder / "shard.bin").read_bytes() == np.array(IDS, "<u2").tobytes()
    assert (folder / "shard.idx").read_bytes() == (
        b"MMIDIDX\x00\x00"
        + struct.pack("<QBQQ", 1, 8, 4, 5)
        + struct.pack("<4i", 3, 0, 1, 300)
        + struct.pack("<4q", 0, 6, 6, 8)
        + struct.pack("<5q", 0, 1, 2, 3, 4)
    )


def test_megatron_of_a_large_vocabulary_is_int32(tmp_path: Path) -> None:
    folder = write(tmp_path, "megatron", dtype="int32")
    assert (folder / "shard.bin").read_bytes() == np.array(IDS, "<i4").tobytes()
    assert (folder / "shard.idx").read_bytes()[17] == 4


def test_datatrove(tmp_path: Path) -> None:
    folder = write(tmp_path, "datatrove")
    assert (folder / "shard.ds").read_bytes() == np.array(IDS, "<u2").tobytes()
    assert (folder / "shard.ds.index").read_bytes() == struct.pack("<4Q", *ENDS)
    assert (folder / "shard.ds.metadata").read_text().splitlines()[:2] == [
        "subword-abababababababab|2",
        "304",
    ]


def test_dolma(tmp_path: Path) -> None:
    folder = write(tmp_path, "dolma")
    assert (folder / "shard.npy").read_bytes() == np.array(IDS, "<u2").tobytes()
    with gzip.open(folder / "shard.csv.gz", "rt", newline="") as file:
        assert list(csv.reader(file)) == [
            ["0", "3", "a.txt:1", "a.txt", "1"],
            ["3", "3", "b,c.txt:2", "b,c.txt", "2"],
            ["3", "4", "a.txt:3", "a.txt", "3"],
            ["4", "304", "b,c.txt:4", "b,c.txt", "4"],
        ]
    first = (folder / "shard.csv.gz").read_bytes()
    assert (write(tmp_path, "dolma") / "shard.csv.gz").read_bytes() == first


@pytest.mark.parametrize(
    ("dtype", "magic", "version"), [("uint16", 20240520, 1), ("uint32", 20240801, 7)]
)
def test_llmc(dtype: str, magic: int, version: int, tmp_path: Path) -> None:
    data = (write(tmp_path, "llmc", dtype=dtype) / "shard.bin").read_bytes()
    assert data[:1024] == struct.pack("<3i", magic, version, 304) + bytes(1012)
    assert data[1024:] == np.array(IDS, f"<{np.dtype(dtype).str[1:]}").tobytes()


def test_llmc_with_another_header_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path, "llmc") / "shard.bin"
    path.write_bytes(bytes(4) + path.read_bytes()[4:])
    with pytest.raises(FormatError, match="its header is"):
        read(tmp_path, "llmc")


def test_nanogpt(tmp_path: Path) -> None:
    data = (write(tmp_path, "nanogpt") / "shard.bin").read_bytes()
    assert data == np.array(IDS, "<u2").tobytes()


def test_parquet(tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    table = parquet.read_table(write(tmp_path, "parquet") / "shard.parquet")
    assert table.column("input_ids").to_pylist() == DOCUMENTS
    assert str(table.schema.field("input_ids").type.value_type) == "uint16"


def test_mds(tmp_path: Path) -> None:
    data = (write(tmp_path, "mds") / "shard.mds").read_bytes()
    assert struct.unpack_from("<I", data) == (4,)
    offsets = struct.unpack_from("<5I", data, 4)
    config = json.loads(data[24 : offsets[0]])
    assert config["column_names"] == ["tokens"]
    assert config["column_encodings"] == ["ndarray:uint16"]
    assert config["column_sizes"] == [None]
    assert offsets[-1] == len(data)
    samples = [data[start:end] for start, end in itertools.pairwise(offsets)]
    # One axis; lengths of one byte, and for the long document of two.
    assert samples[0] == struct.pack("<I", 8) + b"\x04\x03" + struct.pack("<3H", 1, 2, 3)
    assert samples[1] == struct.pack("<I", 2) + b"\x04\x00"
    assert (
        samples[3] == struct.pack("<I", 603) + b"\x05" + struct.pack("<H", 300) + b"\x07\x00" * 300
    )


def test_the_index_of_mds(tmp_path: Path) -> None:
    write(tmp_path, "mds")
    assert write_index(tmp_path, "uint16", [("shard.mds", 4)]) == "index.json"
    index = json.loads((tmp_path / "index.json").read_text())
    assert index["version"] == 2
    (shard,) = index["shards"]
    assert (shard["samples"], shard["format"], shard["zip_data"]) == (4, "mds", None)
    n_bytes = (tmp_path / "shard.mds").stat().st_size
    assert shard["raw_data"] == {"basename": "shard.mds", "bytes": n_bytes, "hashes": {}}


@pytest.mark.parametrize(
    ("format", "vocab_size", "dtype"),
    [
        ("npy", 65_536, "uint16"),
        ("npy", 65_537, "uint32"),
        ("megatron", 65_499, "uint16"),
        ("megatron", 65_500, "int32"),
        ("nanogpt", 65_536, "uint16"),
        ("llmc", 128_256, "uint32"),
    ],
)
def test_the_narrowest_dtype_that_fits(format: str, vocab_size: int, dtype: str) -> None:
    assert choose_dtype(FORMATS[format].LAYOUT, vocab_size, None, format) == dtype


@pytest.mark.parametrize(
    ("format", "vocab_size", "dtype"),
    [
        ("nanogpt", 65_537, None),
        ("npy", 65_537, "uint16"),
        ("npy", 10, "int8"),
        ("megatron", 10, "uint32"),
    ],
)
def test_a_dtype_that_is_too_narrow_or_unknown_is_refused(
    format: str, vocab_size: int, dtype: str | None
) -> None:
    with pytest.raises(ArgumentError, match="format"):
        choose_dtype(FORMATS[format].LAYOUT, vocab_size, dtype, format)

"""Files of records: of every format, and bad ones."""

import bz2
import csv
import gzip
import io
import json
import lzma
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import zstandard

arrow = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

TEXTS = ["a cat", "", "Grüße, 你好 🌍", "two\nlines\r\n", 'a "quoted", text', "<|end|>"] * 3


def jsonl(texts: list[str]) -> bytes:
    return b"".join(json.dumps({"id": n, "text": t}).encode() + b"\n" for n, t in enumerate(texts))


def csv_of(texts: list[str], delimiter: str = ",") -> bytes:
    file = io.StringIO()
    rows = csv.writer(file, delimiter=delimiter)
    rows.writerow(["id", "text"])
    rows.writerows(enumerate(texts))
    return file.getvalue().encode()


def parquet_of(texts: list[Any], kind: Any = None, **options: Any) -> bytes:
    file = io.BytesIO()
    column = arrow.array(texts, kind or arrow.string())
    parquet.write_table(arrow.table({"id": range(len(texts)), "text": column}), file, **options)
    return file.getvalue()


def arrow_of(texts: list[str], kind: Any, new: Callable[..., Any]) -> bytes:
    file = io.BytesIO()
    batch = arrow.record_batch([arrow.array(texts, kind)], names=["text"])
    with new(file, batch.schema) as writer:
        writer.write_batch(batch.slice(0, 5))
        writer.write_batch(batch.slice(5))
    return file.getvalue()


def warc_record(kind: str, block: bytes) -> bytes:
    head = f"WARC/1.1\r\nWARC-Type: {kind}\r\nContent-Length: {len(block)}\r\n\r\n"
    return head.encode() + block + b"\r\n\r\n"


def wet_of(texts: list[str]) -> bytes:
    records = [warc_record("conversion", text.encode()) for text in texts]
    return warc_record("warcinfo", b"software: a test\r\n") + b"".join(records)


STORED: dict[str, bytes] = {
    "a.jsonl": jsonl(TEXTS),
    "a.jsonl.gz": gzip.compress(jsonl(TEXTS)),
    "a.ndjson.zst": zstandard.compress(jsonl(TEXTS)),
    "b.jsonl.bz2": bz2.compress(jsonl(TEXTS)),
    "two.jsonl.bz2": bz2.compress(jsonl(TEXTS[:5])) + bz2.compress(jsonl(TEXTS[5:])),
    "b.jsonl.xz": lzma.compress(jsonl(TEXTS)),
    "two.jsonl.xz": lzma.compress(jsonl(TEXTS[:5])) + lzma.compress(jsonl(TEXTS[5:])),
    "bom.jsonl": b"\xef\xbb\xbf" + jsonl(TEXTS).replace(b"\n", b"\r\n") + b"\n \n",
    "a.csv": csv_of(TEXTS),
    "bom.csv.gz": gzip.compress(b"\xef\xbb\xbf" + csv_of(TEXTS)),
    "a.tsv.xz": lzma.compress(csv_of(TEXTS, "\t")),
    "a.parquet": parquet_of(TEXTS),
    "groups.parquet": parquet_of(TEXTS, row_group_size=4),
    "large.parquet": parquet_of(TEXTS, arrow.large_string()),
    "binary.parquet": parquet_of(TEXTS, arrow.binary()),
    "dictionary.parquet": parquet_of(TEXTS, arrow.dictionary(arrow.int32(), arrow.string())),
    "no_name": parquet_of(TEXTS),
    "a.arrow": arrow_of(TEXTS, arrow.string(), arrow.ipc.new_file),
    "view.arrow": arrow_of(TEXTS, arrow.string_view(), arrow.ipc.new_file),
    "stream.arrow": arrow_of(TEXTS, arrow.string(), arrow.ipc.new_stream),
    "a.warc.wet.gz": gzip.compress(wet_of(TEXTS[:2])) + gzip.compress(wet_of(TEXTS[2:])),
    "a.wet": wet_of(TEXTS),
}


BAD_FILES: dict[str, tuple[bytes, str, int]] = {
    # name: content, message, documents that are left when bad ones are skipped
    "null.parquet": (parquet_of(["a", None, "b"]), "row 1: no text", 2),
    "bytes.parquet": (parquet_of([b"a", b"\xff", b"b"], arrow.binary()), "row 1: not UTF-8", 2),
    "cut.jsonl.gz": (
        gzip.compress(os.urandom(200).hex().encode() * 9 + b"\n", 1)[:150],
        "ends early",
        0,
    ),
    "short.csv": (b"id,text\n1,a\n2\n3,b\n", "record 2: no text", 2),
    "bytes.csv": (b"id,text\n1,a\n2,\xff\n3,b\n", "record 2: not UTF-8", 2),
    "quote.csv": (b'id,text\n1,a\n2,"x"y\n3,b\n', "no CSV", 2),
    "cut.wet": (wet_of(["a", "b"])[:-5], "record 3", 1),
    "bytes.wet": (wet_of(["a"]) + warc_record("conversion", b"\xff"), "text 2: not UTF-8", 1),
    "length.wet": (wet_of(["a"]) + b"WARC/1.0\r\nContent-Length: x\r\n\r\n", "Content-Length", 1),
}


@pytest.fixture(scope="module")
def records(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of all that is ``STORED``."""
    folder = tmp_path_factory.mktemp("records")
    for name, content in STORED.items():
        (folder / name).write_bytes(content)
    return folder

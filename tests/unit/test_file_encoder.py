"""The compiled encoder of files against its twin."""

import functools
import operator
import random
import zlib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import subword
from shard_samples import (
    EOT,
    tok,  # noqa: F401  # fixtures
)
from subword import _core


def twin(
    tok: subword.Tokenizer, text: bytes, cut: bytes | str, separator: int | None
) -> list[list[int]]:
    if cut == "file":
        documents = [text]
    else:
        mark = b"\n" if cut == "line" else cut
        assert isinstance(mark, bytes)
        documents = text.split(mark)
        if documents[-1] == b"":
            documents.pop()
        if cut == "line":
            documents = [
                d.removesuffix(b"\r") if at < text.count(b"\n") else d
                for at, d in enumerate(documents)
            ]
    return [tok.encode(d) + ([] if separator is None else [separator]) for d in documents]


TEXTS = st.lists(
    st.sampled_from(
        [
            b" ",
            b"\n",
            b"\r\n",
            b"cat",
            b"the cat's",
            b"<|endoftext|>",
            b"\xff",
            "你".encode(),
            b"12",
        ]
    )
).map(b"".join)


@given(
    text=TEXTS,
    cut=st.sampled_from(["file", "line", EOT.encode(), b"a"]),
    separator=st.sampled_from([None, 256]),
    chunk_bytes=st.sampled_from([1, 4, 50, None]),
    n_threads=st.sampled_from([1, 2, 8]),
    skip=st.integers(0, 4),
)
def test_a_file_is_encoded_as_its_documents_are(
    tok: subword.Tokenizer,
    tmp_path_factory: pytest.TempPathFactory,
    text: bytes,
    cut: bytes | str,
    separator: int | None,
    chunk_bytes: int | None,
    n_threads: int,
    skip: int,
) -> None:
    path = tmp_path_factory.mktemp("file") / "text"
    path.write_bytes(text)
    encoder = _core.FileEncoder(
        tok._kernel, path, cut, "recognize",
        separator=separator, chunk_bytes=chunk_bytes, n_threads=n_threads, skip=skip,
    )  # fmt: skip
    ids, ends, checksums = [], [], []
    for block, block_ends, block_checksums in encoder:
        ends += (block_ends + len(ids)).tolist()
        ids += block.tolist()
        checksums += block_checksums.tolist()
    wanted = twin(tok, text, cut, separator)[skip:]
    starts = [0, *ends]
    assert [ids[start:end] for start, end in zip(starts, ends, strict=False)] == wanted
    assert len(ids) == sum(map(len, wanted))
    plain = twin_documents(text, cut)[skip:]
    assert checksums == [zlib.crc32(document[: 1 << 16]) for document in plain]
    assert encoder.stored_bytes == len(text)


def twin_documents(text: bytes, cut: bytes | str) -> list[bytes]:
    identity = subword.ByteTokenizer()
    return [bytes(ids) for ids in twin(identity, text, cut, None)]


@pytest.mark.parametrize("cut", ["file", "line"])
def test_documents_larger_than_a_chunk(cut: str, tok: subword.Tokenizer, tmp_path: Path) -> None:
    rng = random.Random(2)
    line = " ".join(rng.choices(["the", "cat", "sat", "naïve"], k=60_000))
    text = f"{line}\nshort\n{line[::-1]}\n".encode()
    path = tmp_path / "text"
    path.write_bytes(text)
    encoder = _core.FileEncoder(
        tok._kernel, path, cut, "recognize", chunk_bytes=1000, n_threads=2, narrow=True
    )
    blocks = list(encoder)
    assert np.concatenate([ids for ids, _, _ in blocks]).tolist() == functools.reduce(
        operator.iadd, twin(tok, text, cut, None), []
    )
    checksums = np.concatenate([checksums for _, _, checksums in blocks]).tolist()
    # Of the first 64 KiB, though chunks are smaller.
    assert checksums == [zlib.crc32(d[: 1 << 16]) for d in twin_documents(text, cut)]


def test_ids_too_large_for_the_dtype_are_refused(tok: subword.Tokenizer, tmp_path: Path) -> None:
    (tmp_path / "text").write_text("a")
    large = tok.replace(special_tokens={EOT: 70_000})
    encoder = _core.FileEncoder(
        large._kernel, tmp_path / "text", "file", "recognize", separator=70_000, narrow=True
    )
    with pytest.raises(subword.VocabularyError, match="uint16"):
        next(encoder)

"""Sources to shards: the right ids, in the right files, for any split of the work."""

import functools
import gzip
import json
import operator
import random
import sys
import types
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import subword
from subword import _core
from subword.errors import (
    ArgumentError,
    CorpusError,
    MissingExtraError,
    ResumeError,
    SourceNotFoundError,
    SpecialTokenError,
    TextError,
    UnencodableTextError,
)
from subword.formats import save
from subword.manifest import file_sha256
from subword.shards.layouts import FORMATS
from subword.tokenizing.plan import tokenizer_sha256

EOT = "<|endoftext|>"
WORDS = ["the", "cat", "sat", "it's", "naïve", "你好", "🌍", "123", "\n\n", "  "]


def corpus(folder: Path, n_files: int = 5, seed: int = 1) -> list[Path]:
    rng = random.Random(seed)
    paths = []
    for number in range(n_files):
        documents = [
            " ".join(rng.choices(WORDS, k=rng.randrange(60))) for _ in range(rng.randrange(1, 12))
        ]
        path = folder / f"{number}.txt"
        path.write_bytes(EOT.join(documents).encode())
        paths.append(path)
    return paths


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("corpus")
    corpus(folder)
    return folder


@pytest.fixture(scope="module")
def tok() -> subword.Tokenizer:
    return subword.train_bpe([" ".join(WORDS * 3)], 285, [EOT])


def expected(tok: subword.Tokenizer, folder: Path) -> list[list[int]]:
    documents = []
    for path in sorted(folder.glob("*.txt")):
        parts = path.read_bytes().split(EOT.encode())
        documents += parts[:-1] if parts[-1] == b"" else parts
    return [[*tok.encode(document), tok.special_tokens[EOT]] for document in documents]


def lists(shards: Any) -> list[list[int]]:
    return [ids.tolist() for ids in shards]


def tree(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


OPTIONS: dict[str, dict[str, Any]] = {
    "plain": {},
    "small shards": {"shard_tokens": 50},
    "one file a task": {"task_bytes": 1, "shard_tokens": 200},
    "validation": {"validation": 0.4, "validation_seed": 3},
    "shuffled": {"shuffle_seed": 9, "shard_tokens": 300},
}


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
@pytest.mark.parametrize("format", FORMATS)
def test_shards_hold_the_ids_of_every_document(
    format: str, options: dict[str, Any], folder: Path, tok: subword.Tokenizer, tmp_path: Path
) -> None:
    if format == "parquet":
        pytest.importorskip("pyarrow")
    shards = subword.tokenize(f"{folder}/*.txt", tok, tmp_path, format=format, **options)
    assert shards is not None
    got = lists(shards)
    if "validation" in options:
        validation = subword.shards.open(tmp_path, "validation")
        assert len(got) > 0 < len(validation)
        got += lists(validation)
    wanted = expected(tok, folder)
    if options.keys() & {"validation", "shuffle_seed"}:
        assert got != wanted
        got, wanted = sorted(got), sorted(wanted)
    assert got == wanted
    shards.check()


def test_the_manifest_says_what_is_there(
    folder: Path, tok: subword.Tokenizer, tmp_path: Path
) -> None:
    shards = subword.tokenize(f"{folder}/*.txt", tok, tmp_path, shard_tokens=300)
    manifest = json.loads((tmp_path / "manifest.json").read_text())
    assert shards is not None and shards.manifest == manifest
    named = {"manifest.json"}
    for entry in manifest["splits"]["train"]["shards"]:
        for file in entry["files"]:
            path = tmp_path / file["name"]
            assert (path.stat().st_size, file_sha256(path)) == (file["bytes"], file["sha256"])
            named.add(file["name"])
        ids = np.load(tmp_path / entry["files"][0]["name"], mmap_mode="r")
        assert ids.dtype == np.uint16 and len(ids) == entry["tokens"]
    assert named == set(tree(tmp_path))
    assert [s["path"] for s in manifest["sources"]] == [
        str(p) for p in sorted(folder.glob("*.txt"))
    ]
    for source in manifest["sources"]:
        assert source["sha256"] == file_sha256(source["path"])
        assert source["bytes"] == Path(source["path"]).stat().st_size
    assert manifest["tokenizer"] == {"sha256": tokenizer_sha256(tok), "vocab_size": tok.vocab_size}
    assert (
        manifest["documents"]
        == len(expected(tok, folder))
        == sum(s["documents"] for s in manifest["sources"])
    )
    assert manifest["tokens"] == sum(map(len, expected(tok, folder))) == shards.n_tokens


@pytest.mark.parametrize("n_threads", [1, 2, 8])
def test_threads_change_no_byte(
    n_threads: int, folder: Path, tok: subword.Tokenizer, tmp_path: Path
) -> None:
    options: dict[str, Any] = {"shard_tokens": 100, "validation": 0.2, "shuffle_seed": 1}
    subword.tokenize(f"{folder}/*.txt", tok, tmp_path / "a", n_threads=3, **options)
    subword.tokenize(f"{folder}/*.txt", tok, tmp_path / "b", n_threads=n_threads, **options)
    assert tree(tmp_path / "a") == tree(tmp_path / "b")


@pytest.mark.parametrize("format", ["npy", "mds"])
@pytest.mark.parametrize("order", [[0, 1, 2], [2, 0, 1]])
def test_parts_in_any_order_are_the_whole(
    order: list[int], format: str, folder: Path, tok: subword.Tokenizer, tmp_path: Path
) -> None:
    options: dict[str, Any] = {
        "format": format, "shard_tokens": 100, "task_bytes": 1, "validation": 0.3, "shuffle_seed": 4
    }  # fmt: skip
    sources = f"{folder}/*.txt"
    subword.tokenize(sources, tok, tmp_path / "whole", **options)
    for at, index in enumerate(order):
        part = subword.tokenize(
            sources, tok, tmp_path / "parts", num_shards=3, shard_index=index, **options
        )
        assert (part is None) == (at < 2)
    assert tree(tmp_path / "parts") == tree(tmp_path / "whole")


# The compiled encoder against its twin: cut, encode each document, put the separator behind it.


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


# Documents that are given themselves, other sources


def test_documents_are_encoded_as_files_of_them(
    folder: Path, tok: subword.Tokenizer, tmp_path: Path
) -> None:
    documents = [tok.decode_bytes(ids[:-1]) for ids in expected(tok, folder)]
    options: dict[str, Any] = {"shard_tokens": 100, "validation": 0.3, "task_bytes": 10**9}
    subword.tokenize(f"{folder}/*.txt", tok, tmp_path / "files", **options)
    subword.tokenize(iter(documents), tok, tmp_path / "documents", **options)
    files, given_ = tree(tmp_path / "files"), tree(tmp_path / "documents")
    del files["manifest.json"], given_["manifest.json"]
    assert files == given_


def test_compressed_files_give_the_same_shards(
    folder: Path, tok: subword.Tokenizer, tmp_path: Path
) -> None:
    packed = tmp_path / "packed"
    packed.mkdir()
    for path in folder.glob("*.txt"):
        (packed / f"{path.name}.gz").write_bytes(gzip.compress(path.read_bytes()))
    shards = subword.tokenize(f"{packed}/*.gz", tok, tmp_path / "out")
    assert lists(shards) == expected(tok, folder)


def test_an_empty_corpus_has_no_shards(tok: subword.Tokenizer, tmp_path: Path) -> None:
    (tmp_path / "empty.txt").touch()
    for number, sources in enumerate((tmp_path / "empty.txt", [])):
        out = tmp_path / str(number)
        shards = subword.tokenize(sources, tok, out, format="npy")  # type: ignore[arg-type]
        assert shards is not None and (len(shards), shards.n_tokens) == (0, 0)
        assert set(tree(out)) == {"manifest.json"}


def test_documents_without_tokens_are_kept(tok: subword.Tokenizer, tmp_path: Path) -> None:
    for name, module in FORMATS.items():
        if name == "parquet":
            pytest.importorskip("pyarrow")
        shards = subword.tokenize(["", "", ""], tok, tmp_path / name, format=name, separator="")
        assert shards is not None and shards.manifest["documents"] == 3
        if module.LAYOUT.keeps_documents:
            assert lists(shards) == [[], [], []]


# Reading


def test_shards_are_a_sequence_and_one_stretch(
    folder: Path, tok: subword.Tokenizer, tmp_path: Path
) -> None:
    shards = subword.tokenize(f"{folder}/*.txt", tok, tmp_path, shard_tokens=200)
    wanted = expected(tok, folder)
    assert shards is not None and shards.n_shards > 2
    assert (len(shards), shards[-1].tolist()) == (len(wanted), wanted[-1])
    assert [ids.tolist() for ids in shards[3:-2:2]] == wanted[3:-2:2]
    with pytest.raises(IndexError):
        shards[len(wanted)]
    every = functools.reduce(operator.iadd, wanted, [])
    assert np.concatenate(shards.arrays()).tolist() == every
    for start, end in [(0, 0), (0, 1), (100, 700), (0, len(every)), (len(every), len(every))]:
        assert shards.read(start, end).tolist() == every[start:end]
    with pytest.raises(ArgumentError):
        shards.read(5, len(every) + 1)
    assert isinstance(shards.shard(0).ids, np.memmap)
    assert shards[0].base is not None


def test_a_changed_shard_is_found(folder: Path, tok: subword.Tokenizer, tmp_path: Path) -> None:
    shards = subword.tokenize(f"{folder}/*.txt", tok, tmp_path)
    path = tmp_path / "train" / "00000-00000.npy"
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)
    assert shards is not None
    with pytest.raises(subword.FormatError, match="SHA-256"):
        shards.check()


def test_open_refuses_what_is_not_finished(tmp_path: Path) -> None:
    with pytest.raises(SourceNotFoundError, match="no finished run"):
        subword.shards.open(tmp_path)
    (tmp_path / "manifest.json").write_text('{"kind": "other"}')
    with pytest.raises(subword.FormatError):
        subword.shards.open(tmp_path)


def test_open_names_the_splits(folder: Path, tok: subword.Tokenizer, tmp_path: Path) -> None:
    subword.tokenize(f"{folder}/*.txt", tok, tmp_path)
    with pytest.raises(ArgumentError, match=r"manifest\.json has train"):
        subword.shards.open(tmp_path, "validation")


class Tensor(list[int]):
    """What stands in for a tensor where torch is not installed."""


@pytest.fixture
def torch(monkeypatch: pytest.MonkeyPatch) -> Any:
    """PyTorch, or the few names of it that the data sets use."""
    try:
        import torch
    except ImportError:
        torch = types.ModuleType("torch")
        torch.from_numpy = lambda array: array  # type: ignore[attr-defined]
        worker = types.SimpleNamespace(id=1, num_workers=2)
        data = types.SimpleNamespace(
            Dataset=object, IterableDataset=object, get_worker_info=lambda: None
        )
        torch.utils = types.SimpleNamespace(data=data)  # type: ignore[attr-defined]
        torch.worker = worker  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, "torch", torch)
    return torch


def test_data_sets_for_torch(
    torch: Any,
    folder: Path,
    tok: subword.Tokenizer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shards = subword.tokenize(f"{folder}/*.txt", tok, tmp_path, shard_tokens=200)
    assert shards is not None
    every = functools.reduce(operator.iadd, expected(tok, folder), [])
    windows = shards.dataset(64)
    assert len(windows) == len(every) // 64
    assert windows[2].tolist() == every[128:192] == windows[2 - len(windows)].tolist()
    assert str(windows[0].dtype).endswith("int64")
    with pytest.raises(IndexError):
        windows[len(windows)]
    stream = shards.iterable_dataset(64)
    assert [item.tolist() for item in stream] == [
        windows[at].tolist() for at in range(len(windows))
    ]
    info = types.SimpleNamespace(id=1, num_workers=2)
    monkeypatch.setattr(torch.utils.data, "get_worker_info", lambda: info)
    assert [item.tolist() for item in stream] == [
        windows[at].tolist() for at in range(1, len(windows), 2)
    ]
    documents = shards.dataset()
    assert documents[1].tolist() == expected(tok, folder)[1]
    assert len(documents) == len(shards)
    with pytest.raises(ArgumentError):
        shards.dataset(0)


def test_torch_is_an_extra(
    folder: Path, tok: subword.Tokenizer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    shards = subword.tokenize(f"{folder}/*.txt", tok, tmp_path)
    assert shards is not None
    with pytest.raises(MissingExtraError, match="torch"):
        shards.dataset(4)


# Splits


def test_the_choice_for_validation_depends_on_the_documents_alone(
    tok: subword.Tokenizer, tmp_path: Path
) -> None:
    documents = [f"document {n}" for n in range(400)]
    held: list[set[str]] = []
    for number, texts in enumerate((documents, documents[::-1] + ["one more"], documents * 2)):
        out = tmp_path / str(number)
        subword.tokenize(texts, tok, out, validation=0.25, shard_tokens=100 * (number + 1))
        kept = {tok.decode(ids[:-1]) for ids in subword.shards.open(out, "validation")}
        trained = {tok.decode(ids[:-1]) for ids in subword.shards.open(out)}
        assert not kept & trained
        held.append(kept - {"one more"})
    assert held[0] == held[1] == held[2]
    # 400 draws at 0.25: five standard deviations are 43.
    assert 57 <= len(held[0]) <= 143
    subword.tokenize(documents, tok, tmp_path / "other", validation=0.25, validation_seed=1)
    assert {
        tok.decode(ids[:-1]) for ids in subword.shards.open(tmp_path / "other", "validation")
    } != held[0]


# Which token ends a document


def test_the_separator_is_named_where_it_could_be_any(
    tok: subword.Tokenizer, tmp_path: Path
) -> None:
    two = tok.replace(special_tokens={"<a>": 300, "<b>": 301})
    with pytest.raises(ArgumentError, match=r"several special tokens.*separator="):
        subword.tokenize(["x"], two, tmp_path / "0")
    shards = subword.tokenize(["x"], two, tmp_path / "1", separator="<b>")
    assert lists(shards) == [[*two.encode("x"), 301]]
    assert lists(subword.tokenize(["x"], two, tmp_path / "2", separator="")) == [two.encode("x")]
    with pytest.raises(SpecialTokenError, match="no special token of the tokenizer"):
        subword.tokenize(["x"], two, tmp_path / "3", separator="<c>")
    bare = tok.replace(special_tokens={})
    assert lists(subword.tokenize(["x"], bare, tmp_path / "4")) == [bare.encode("x")]


# Refusals


@pytest.mark.parametrize(
    "options",
    [
        {"format": "zip"},
        {"engine": "spark"},
        {"dtype": "int8"},
        {"shard_tokens": 0},
        {"task_bytes": 0},
        {"n_threads": 0},
        {"num_shards": 0},
        {"num_shards": 2, "shard_index": 2},
        {"validation": 1.0},
        {"validation": float("nan")},
        {"shuffle_seed": -1},
        {"format": "llmc", "shard_tokens": 2**31},
        {"documents": ""},
        {"special": {"<none>"}},
    ],
    ids=str,
)
def test_arguments_are_checked_before_anything_is_made(
    options: dict[str, Any], folder: Path, tok: subword.Tokenizer, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    with pytest.raises((ArgumentError, SpecialTokenError)):
        subword.tokenize(f"{folder}/*.txt", tok, out, **options)
    assert not (out / "manifest.json").exists()


def test_an_empty_glob_and_a_missing_file(tok: subword.Tokenizer, tmp_path: Path) -> None:
    with pytest.raises(SourceNotFoundError, match="no file matches this glob"):
        subword.tokenize(f"{tmp_path}/*.txt", tok, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_vocabulary_too_large_for_the_dtype(
    folder: Path, tok: subword.Tokenizer, tmp_path: Path
) -> None:
    large = tok.replace(special_tokens={EOT: 70_000})
    with pytest.raises(ArgumentError, match="70001 ids, more than the 65536 that uint16 holds"):
        subword.tokenize(f"{folder}/*.txt", large, tmp_path, format="nanogpt")
    shards = subword.tokenize(f"{folder}/*.txt", large, tmp_path)
    assert shards is not None and shards.dtype == np.uint32
    assert shards[0][-1] == 70_000


def test_a_folder_with_other_files_is_refused(
    folder: Path, tok: subword.Tokenizer, tmp_path: Path
) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(ResumeError, match=r"'notes\.txt' and is not the output of a run"):
        subword.tokenize(f"{folder}/*.txt", tok, tmp_path)
    assert tree(tmp_path) == {"notes.txt": b"mine"}


def test_a_finished_run_is_left_as_it_is(
    folder: Path, tok: subword.Tokenizer, tmp_path: Path
) -> None:
    subword.tokenize(f"{folder}/*.txt", tok, tmp_path)
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}
    again = subword.tokenize(f"{folder}/*.txt", tok, tmp_path)
    assert lists(again) == expected(tok, folder)
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")} == before


def test_another_run_is_refused(tok: subword.Tokenizer, tmp_path: Path) -> None:
    paths = corpus(tmp_path)
    out = tmp_path / "out"
    subword.tokenize(paths, tok, out)
    before = tree(out)
    with pytest.raises(ResumeError, match=r"options.shard_tokens was 100000000 and is now 7"):
        subword.tokenize(paths, tok, out, shard_tokens=7)
    other = subword.train_bpe(["other words"], 262, [EOT])
    with pytest.raises(ResumeError, match=r"tokenizer\.sha256"):
        subword.tokenize(paths, other, out)
    with pytest.raises(ResumeError, match="sources was a list of 5 and is now a list of 4"):
        subword.tokenize(paths[1:], tok, out)
    data = paths[2].read_bytes()
    paths[2].write_bytes(data.replace(b"cat", b"dog"))
    with pytest.raises(ResumeError, match=r"2\.txt, which changed since"):
        subword.tokenize(paths, tok, out)
    paths[2].write_bytes(data)
    assert subword.tokenize(paths, tok, out) is not None
    assert tree(out) == before


def test_other_documents_are_refused(tok: subword.Tokenizer, tmp_path: Path) -> None:
    subword.tokenize(["a", "b"], tok, tmp_path)
    assert subword.tokenize(["a", "b"], tok, tmp_path) is not None
    for other in (["ab"], ["a", "c"], ["a", "b", "c"]):
        with pytest.raises(ResumeError):
            subword.tokenize(other, tok, tmp_path)


def test_what_cannot_be_encoded_says_where(tmp_path: Path) -> None:
    tok = subword.BPETokenizer({97: b"a", 98: b"b"}, [], None)
    path = tmp_path / "text.txt"
    path.write_text("ab\nba\nabc\nx\n")
    with pytest.raises(UnencodableTextError, match=r"text\.txt: document 2: .*at byte 2"):
        subword.tokenize(path, tok, tmp_path / "out", documents="line")
    assert not (tmp_path / "out" / "manifest.json").exists()


def test_a_lone_surrogate_is_refused(tok: subword.Tokenizer, tmp_path: Path) -> None:
    with pytest.raises(TextError):
        subword.tokenize(["a", "\ud800"], tok, tmp_path)


def test_the_hash_of_a_tokenizer_is_of_what_ids_depend_on(
    tok: subword.Tokenizer, tmp_path: Path
) -> None:
    save(tok, tmp_path / "tokenizer.json")
    assert tokenizer_sha256(subword.load(tmp_path / "tokenizer.json")) == tokenizer_sha256(tok)
    assert tokenizer_sha256(tok.replace(memo_bytes=0)) == tokenizer_sha256(tok)
    for other in (
        tok.with_special_tokens(["<x>"]),
        tok.replace(pattern="cl100k"),
        tok.truncate(280),
    ):
        assert tokenizer_sha256(other) != tokenizer_sha256(tok)


def test_a_file_that_changes_while_it_is_read(
    tok: subword.Tokenizer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "text.txt"
    path.write_bytes(b"the cat sat\n" * 2_000_000)
    seen: list[int] = []

    def shrink(done: int) -> None:
        if not seen:
            with path.open("r+b") as file:
                file.truncate(1000)
        seen.append(done)

    with pytest.raises(CorpusError, match="shrank"):
        subword.tokenize(
            path, tok, tmp_path / "out", documents="line", n_threads=1, progress=shrink
        )
    assert seen
    assert not (tmp_path / "out" / "manifest.json").exists()


def test_progress_ends_with_all_bytes_and_may_stop_the_call(
    folder: Path, tok: subword.Tokenizer, tmp_path: Path
) -> None:
    path = tmp_path / "text.txt"
    path.write_bytes(b"the cat sat\n" * 2_000_000)
    seen: list[int] = []
    subword.tokenize(
        path, tok, tmp_path / "out", documents="line", n_threads=1, progress=seen.append
    )
    assert seen == sorted(seen)
    assert 0 < seen[0] <= seen[-1] <= path.stat().st_size

    def stop(done: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        subword.tokenize(path, tok, tmp_path / "2", documents="line", n_threads=1, progress=stop)

"""Corpora to shards: what they hold, and how they are read."""

import functools
import gzip
import json
import operator
import sys
import types
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import subword
from shard_samples import expected, folder, lists, tok, tree  # noqa: F401  # fixtures
from subword.errors import (
    ArgumentError,
    MissingExtraError,
    SourceNotFoundError,
    SpecialTokenError,
)
from subword.manifest import file_sha256
from subword.shards.layouts import FORMATS
from subword.tokenizing.plan import tokenizer_sha256

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

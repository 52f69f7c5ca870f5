"""Runs that are refused, changed inputs, and what is said of them."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import subword
from shard_samples import (  # noqa: F401  # fixtures
    EOT,
    corpus,
    expected,
    folder,
    lists,
    shrinking,
    tok,
    tree,
)
from subword.errors import (
    ArgumentError,
    CorpusError,
    ResumeError,
    SourceNotFoundError,
    SpecialTokenError,
    TextError,
    UnencodableTextError,
)
from subword.formats import save
from subword.tokenizing.plan import tokenizer_sha256


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
    with pytest.raises(CorpusError, match="shrank"):
        subword.tokenize(
            path,
            tok,
            tmp_path / "out",
            documents="line",
            n_threads=1,
            progress=shrinking(path, seen),
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

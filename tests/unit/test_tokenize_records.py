"""Shards of corpora that are not plain text: records, columns, archives, URLs, rows."""

import gzip
import json
import os
import warnings
from pathlib import Path
from typing import Any

import pytest

import subword
from record_samples import BAD_FILES, STORED, TEXTS, jsonl, parquet_of, records  # noqa: F401
from shard_samples import EOT, lists, shrinking, tok, tree  # noqa: F401  # fixtures
from subword.errors import (
    ArgumentError,
    BadRecordsWarning,
    CorpusError,
    ResumeError,
    SourceError,
    UnencodableTextError,
)
from subword.manifest import Journal
from subword.tokenizing import task

fsspec = pytest.importorskip("fsspec")


def encoded(tok: subword.Tokenizer, texts: list[str]) -> list[list[int]]:
    return [[*tok.encode(text), tok.special_tokens[EOT]] for text in texts]


@pytest.mark.parametrize("name", STORED)
def test_every_format_gives_the_ids_of_its_texts(
    name: str, records: Path, tok: subword.Tokenizer, tmp_path: Path
) -> None:
    sources: list[Any] = [records / name]
    if "." in name:
        sources.append(f"file://{records / name}")
    for number, source in enumerate(sources):
        out = tmp_path / str(number)
        options: dict[str, Any] = {"shard_tokens": 100, "validation": 0.4}
        shards = subword.tokenize(source, tok, out, **options)
        got = lists(shards) + lists(subword.shards.open(out, "validation"))
        assert sorted(got) == sorted(encoded(tok, TEXTS))
        assert shards is not None and shards.manifest["documents"] == len(TEXTS)
        # It is finished, and known to be.
        assert lists(subword.tokenize(source, tok, out, **options)) == lists(shards)
    data = [
        {**tree(tmp_path / str(number)), "manifest.json": b""} for number in range(len(sources))
    ]
    assert all(files == data[0] for files in data)


def test_formats_are_mixed_in_their_order(
    records: Path, tok: subword.Tokenizer, tmp_path: Path
) -> None:
    text = tmp_path / "a.txt"
    text.write_text(EOT.join(["one", "two"]))
    paths = [records / "a.parquet", text, records / "a.jsonl.gz", records / "a.csv"]
    wanted = encoded(tok, [*TEXTS, "one", "two", *TEXTS, *TEXTS])
    assert lists(subword.tokenize(paths, tok, tmp_path / "out", task_bytes=1)) == wanted


def test_rows_of_a_data_set_are_documents(tok: subword.Tokenizer, tmp_path: Path) -> None:
    rows = [{"body": text, "id": number} for number, text in enumerate(TEXTS)]
    shards = subword.tokenize(rows, tok, tmp_path / "rows", field="body")
    assert lists(shards) == encoded(tok, TEXTS)
    with pytest.raises(CorpusError, match="record 0: no such field"):
        subword.tokenize(rows, tok, tmp_path / "none")
    rows[1] = {"id": 1}
    with pytest.warns(BadRecordsWarning, match="1 bad records were skipped: record 1"):
        shards = subword.tokenize(rows, tok, tmp_path / "skip", field="body", on_bad="skip")
    assert lists(shards) == encoded(tok, [TEXTS[0], *TEXTS[2:]])


def test_a_data_set_of_hugging_face(tok: subword.Tokenizer, tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets")
    rows = datasets.Dataset.from_dict({"text": TEXTS})
    assert lists(subword.tokenize(rows, tok, tmp_path)) == encoded(tok, TEXTS)


@pytest.mark.parametrize("name", BAD_FILES)
def test_bad_records_fail_are_skipped_or_replaced(
    name: str, tok: subword.Tokenizer, tmp_path: Path
) -> None:
    content, message, n_left = BAD_FILES[name]
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(CorpusError, match=message) as refused:
        subword.tokenize(path, tok, tmp_path / "fail")
    assert str(path) in str(refused.value)
    assert not (tmp_path / "fail" / "manifest.json").exists()
    for policy in ("skip", "replace"):
        with pytest.warns(BadRecordsWarning, match=message) as caught:
            shards = subword.tokenize(path, tok, tmp_path / policy, on_bad=policy)
        assert shards is not None
        (source,) = shards.manifest["sources"]
        assert source["bad_records"] == caught[0].message.n_records > 0  # type: ignore[union-attr]
        counts = [0] if policy == "skip" and n_left == 0 else []
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", BadRecordsWarning)
            read = list(subword.corpus.read_documents(path, on_bad=policy))
            counts = [len(read)]
        assert [len(shards)] == counts
        assert [tok.decode_bytes(ids[:-1]) for ids in shards] == read
        if policy == "skip":
            assert len(shards) == n_left


def test_text_that_is_no_utf8_passes_unless_a_policy_is_given(
    tok: subword.Tokenizer, tmp_path: Path
) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"one\na\xffb\nthree")
    options: dict[str, Any] = {"documents": "line"}
    shards = subword.tokenize(path, tok, tmp_path / "0", **options)
    assert [tok.decode_bytes(ids[:-1]) for ids in shards or []] == [b"one", b"a\xffb", b"three"]
    with pytest.raises(CorpusError, match=r"a\.txt:2: not UTF-8 at its byte 1"):
        subword.tokenize(path, tok, tmp_path / "1", on_bad="fail", **options)
    with pytest.warns(BadRecordsWarning):
        shards = subword.tokenize(path, tok, tmp_path / "2", on_bad="replace", **options)
    assert [tok.decode(ids[:-1]) for ids in shards or []] == ["one", "a\ufffdb", "three"]


def test_columns_that_are_missing_or_no_text(tok: subword.Tokenizer, tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    path.write_bytes(parquet_of(["a"]))
    for field, message in (("body", "no column 'body'; there are: id, text"), ("id", "no text")):
        with pytest.raises(CorpusError, match=message):
            subword.tokenize(path, tok, tmp_path / "out", field=field)
        assert not (tmp_path / "out" / "manifest.json").exists()
    line = tmp_path / "a.jsonl"
    line.write_text('{"text": 5}\n')
    with pytest.raises(CorpusError, match=r'a\.jsonl:1: "text" is a number, no text'):
        subword.tokenize(line, tok, tmp_path / "out 2")


def test_how_records_are_read_belongs_to_the_run(tok: subword.Tokenizer, tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'{"text": "a", "body": "b"}\n')
    subword.tokenize(path, tok, tmp_path / "out")
    changes: dict[str, dict[str, Any]] = {
        "options.field": {"field": "body"},
        "options.input_format": {"input_format": "jsonl"},
        "options.on_bad": {"on_bad": "skip"},
    }
    for name, change in changes.items():
        with pytest.raises(ResumeError, match=name):
            subword.tokenize(path, tok, tmp_path / "out", **change)
    with pytest.raises(ArgumentError, match="a record is a document"):
        subword.tokenize(path, tok, tmp_path / "out", documents="line")


def test_what_cannot_be_encoded_says_where(tmp_path: Path) -> None:
    small = subword.BPETokenizer({97: b"a"}, [], None)
    for name, content in (("a.jsonl", jsonl(["a", "b"])), ("a.parquet", parquet_of(["a", "b"]))):
        (tmp_path / name).write_bytes(content)
        for source in (str(tmp_path / name), f"file://{tmp_path / name}"):
            with pytest.raises(UnencodableTextError) as refused:
                subword.tokenize(source, small, tmp_path / "out")
            assert str(refused.value).startswith(f"{source}: document 1: ")


class StoppedError(BaseException):
    """What ends a run in its middle."""


@pytest.mark.parametrize("name", ["a.jsonl.gz", "a.parquet", "a.csv", "a.wet", "url.jsonl.gz"])
def test_a_run_that_stopped_within_a_file_goes_on(
    name: str, tok: subword.Tokenizer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / name
    source: Any = f"file://{path}" if "url" in name else path
    path.write_bytes(
        gzip.compress(jsonl(TEXTS) + b"{\n" + jsonl(TEXTS)) if "jsonl" in name else STORED[name]
    )
    options: dict[str, Any] = {"shard_tokens": 40, "on_bad": "skip", "n_threads": 1}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BadRecordsWarning)
        whole = subword.tokenize(source, tok, tmp_path / "whole", **options)
    append, n_steps = Journal.append, 0

    def stopping(journal: Journal, record: Any) -> None:
        nonlocal n_steps
        append(journal, record)
        n_steps += 1
        if n_steps % 3 == 0:
            raise StoppedError

    monkeypatch.setattr(Journal, "append", stopping)
    monkeypatch.setattr(task, "_CHECKPOINT_BYTES", 16)
    said: list[warnings.WarningMessage] = []
    for _ in range(100):
        try:
            with warnings.catch_warnings(record=True) as said:
                warnings.simplefilter("always", BadRecordsWarning)
                subword.tokenize(source, tok, tmp_path / "out", **options)
            break
        except StoppedError:
            pass
    assert n_steps > 6
    assert tree(tmp_path / "out") == tree(tmp_path / "whole")
    # Those before the place where it went on were met once more, and are counted once.
    assert whole is not None
    assert whole.manifest["sources"][0]["bad_records"] == len(said) == ("jsonl" in name)


@pytest.fixture
def memory() -> Any:
    system = fsspec.filesystem("memory")
    system.pipe("/bucket/a.jsonl", jsonl(TEXTS * 50))
    yield system
    system.rm("/bucket", recursive=True)


def test_a_url_that_changed_is_noticed(memory: Any, tok: subword.Tokenizer, tmp_path: Path) -> None:
    shards = subword.tokenize("memory://bucket/*.jsonl", tok, tmp_path / "out")
    assert lists(shards) == encoded(tok, TEXTS * 50)
    assert subword.tokenize("memory://bucket/*.jsonl", tok, tmp_path / "out") is not None
    memory.pipe("/bucket/a.jsonl", jsonl(TEXTS * 49 + TEXTS[::-1]))
    with pytest.raises(ResumeError, match="changed since"):
        subword.tokenize("memory://bucket/*.jsonl", tok, tmp_path / "out")


def test_a_url_that_fails_halfway_leaves_nothing_that_is_taken_for_whole(
    memory: Any, tok: subword.Tokenizer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(task, "_CHECKPOINT_BYTES", 1)
    opened = memory.open

    class Cut:
        def __init__(self, file: Any) -> None:
            self.file = file
            self.left = 3000

        def __enter__(self) -> "Cut":
            return self

        def __exit__(self, *_: object) -> None:
            self.file.close()

        def read(self, n_bytes: int) -> bytes:
            if not self.left:
                raise OSError("connection lost")
            block = self.file.read(min(n_bytes, self.left))
            self.left -= len(block)
            return bytes(block)

    with monkeypatch.context() as patch:
        patch.setattr(type(memory), "open", lambda _, path, mode: Cut(opened(path, mode)))
        # One line of text: cut short it would be a document as good as any.
        with pytest.raises(SourceError, match="connection lost"):
            subword.tokenize(
                "memory://bucket/a.jsonl", tok, tmp_path / "out", input_format="text", separator=""
            )
    assert not (tmp_path / "out" / "manifest.json").exists()
    shards = subword.tokenize(
        "memory://bucket/a.jsonl", tok, tmp_path / "out", input_format="text", separator=""
    )
    assert [tok.decode_bytes(ids) for ids in shards or []] == [jsonl(TEXTS * 50)]


SHRINKING = {
    "a.jsonl": (jsonl(["the cat sat on the mat"] * 1_000_000), "shrank|changed"),
    "a.parquet": (
        parquet_of([os.urandom(40).hex() for _ in range(300_000)], row_group_size=30_000),
        "damaged|changed",
    ),
    "a.csv": (b"text\n" + b"the cat sat\n" * 2_000_000, "shrank|changed"),
}


@pytest.mark.parametrize("name", SHRINKING)
def test_a_file_that_shrinks_while_it_is_read(
    name: str, tok: subword.Tokenizer, tmp_path: Path
) -> None:
    content, message = SHRINKING[name]
    path = tmp_path / name
    path.write_bytes(content)
    seen: list[int] = []
    with pytest.raises((CorpusError, SourceError), match=message) as refused:
        subword.tokenize(path, tok, tmp_path / "out", n_threads=1, progress=shrinking(path, seen))
    assert name in str(refused.value)
    assert seen
    assert not (tmp_path / "out" / "manifest.json").exists()


def test_the_command_reads_records(
    tok: subword.Tokenizer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from cli_calls import run

    monkeypatch.chdir(tmp_path)
    subword.save(tok, "tokenizer.json")
    Path("a.jsonl").write_text('{"body": "a cat"}\n{\n{"body": "a hat"}\n')
    command = ["tokenize", "tokenizer.json", "a.jsonl", "-o", "out", "--field", "body"]
    result = run(*command)
    assert result.exit_code == 1
    assert result.stderr.startswith("subword: a.jsonl:2: no JSON object")
    result = run(*command[:-4], "-o", "skip", *command[-2:], "--on-bad", "skip", "--json")
    assert result.exit_code == 0, result.output
    assert "1 bad records were skipped: a.jsonl:2" in result.stderr
    assert json.loads(result.stdout)["documents"] == 2
    assert lists(subword.shards.open("skip")) == encoded(tok, ["a cat", "a hat"])

"""Records: JSON lines, columns, archives, URLs, and what bad ones do."""

import gzip
import io
import json
import os
import threading
import warnings
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import subword
from record_samples import (
    BAD_FILES,
    STORED,
    TEXTS,
    records,  # noqa: F401  # a fixture
    warc_record,
)
from subword import _core
from subword.corpus import Reading, Url, read_documents
from subword.errors import (
    ArgumentError,
    BadRecordsWarning,
    CorpusError,
    SourceError,
    SourceNotFoundError,
)

arrow = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")
fsspec = pytest.importorskip("fsspec")


@pytest.mark.parametrize("name", STORED)
def test_every_format_gives_its_texts(records: Path, name: str) -> None:
    path = records / name
    expected = [text.encode() for text in TEXTS]
    counts = subword.count(TEXTS)
    assert list(read_documents(path)) == expected
    assert subword.count(path, n_threads=2) == counts
    assert subword.count(path).n_documents == len(TEXTS)
    url = f"file://{path}" if "." in name else None
    if url is not None:
        assert list(read_documents(url)) == expected
        assert subword.count(url) == counts


def test_mixed_formats_are_read_in_the_order_of_their_names(records: Path) -> None:
    paths = [records / "a.jsonl", records / "a.parquet", records / "a.csv"]
    assert list(read_documents(paths)) == [text.encode() for text in TEXTS * 3]
    assert subword.count(paths) == subword.count(TEXTS * 3)


@given(st.lists(st.text(max_size=20), max_size=8), st.sampled_from([1, 5, 1 << 20]))
def test_json_lines_are_what_the_standard_library_reads(
    tmp_path_factory: pytest.TempPathFactory, texts: list[str], block_bytes: int
) -> None:
    path = tmp_path_factory.getbasetemp() / "any.jsonl"
    lines = [
        json.dumps({"n": [{"text": "no"}], "text": t}, ensure_ascii=bool(len(t) % 2)) for t in texts
    ]
    try:
        path.write_bytes("".join(f"{line}\n" for line in lines).encode())
    except UnicodeEncodeError:
        return
    twin = [json.loads(line)["text"].encode("utf-8", "surrogatepass") for line in lines]
    reader = _core.DocumentReader([path], "line", field="text", block_bytes=block_bytes)
    assert list(reader) == twin


# what bad records do

BAD_LINES = {
    b"\n": None,
    b'{"text": "half\n': ":2: no JSON object at its byte",
    b'{"other": 1}\n': ':2: no field "text"',
    b'{"text": 5}\n': ':2: "text" is a number, no text',
    b'{"text": null}\n': ':2: "text" is null, no text',
    b'["text"]\n': ":2: no JSON object at its byte",
    b'{"text": "a\xff"}\n': ":2: not UTF-8 at its byte 11",
    b'{"text": "\\ud800"}\n': ":2: no JSON object at its byte",
}


@pytest.mark.parametrize("line", BAD_LINES)
def test_bad_lines_fail_are_skipped_or_replaced(tmp_path: Path, line: bytes) -> None:
    path = tmp_path / "a.jsonl"
    good = b'{"text": "good"}\n'
    path.write_bytes(good + line + good)
    place = BAD_LINES[line]
    if place is None:
        assert list(read_documents(path)) == [b"good", b"good"]
        return
    with pytest.raises(CorpusError) as refused:
        list(read_documents(path))
    assert f"{path}{place}" in str(refused.value)
    assert "on_bad" in str(refused.value)
    with pytest.warns(BadRecordsWarning, match="1 bad records were skipped") as caught:
        assert list(read_documents(path, on_bad="skip")) == [b"good", b"good"]
    warning = caught[0].message
    assert isinstance(warning, BadRecordsWarning)
    assert warning.n_records == 1
    assert f"{path}{place}" in warning.places[0]
    with pytest.warns(BadRecordsWarning, match="replaced"):
        first, middle, last = read_documents(path, on_bad="replace")
    replaced = "a\ufffd" if b"\xff" in line else "\ufffd" if b"ud800" in line else ""
    assert (first, middle, last) == (b"good", replaced.encode(), b"good")
    with pytest.warns(BadRecordsWarning):
        assert subword.count(path, on_bad="skip").n_documents == 2


@pytest.mark.parametrize("name", BAD_FILES)
def test_bad_records_of_other_formats(tmp_path: Path, name: str) -> None:
    content, message, n_left = BAD_FILES[name]
    path = tmp_path / name
    path.write_bytes(content)
    for read in (lambda **o: list(read_documents(path, **o)), lambda **o: subword.count(path, **o)):
        with pytest.raises(CorpusError, match=message) as refused:
            read()
        assert str(path) in str(refused.value)
    with pytest.warns(BadRecordsWarning, match="1 bad records were skipped"):
        assert len(list(read_documents(path, on_bad="skip"))) == n_left


def test_text_that_is_no_utf8_passes_unless_a_policy_is_given(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"good<s>b\xffad<s>fine")
    assert list(read_documents(path, documents="<s>")) == [b"good", b"b\xffad", b"fine"]
    with pytest.raises(CorpusError, match="document 1: not UTF-8 at its byte 1"):
        list(read_documents(path, documents="<s>", on_bad="fail"))
    with pytest.warns(BadRecordsWarning, match="document 1"):
        assert list(read_documents(path, documents="<s>", on_bad="skip")) == [b"good", b"fine"]
    with pytest.warns(BadRecordsWarning):
        counts = subword.count(path, documents="<s>", on_bad="replace", pattern="none")
    assert dict(counts) == {b"good": 1, "b\ufffdad".encode(): 1, b"fine": 1}
    with pytest.warns(BadRecordsWarning, match="document 1"):
        assert list(read_documents([b"a", b"\xff"], on_bad="skip")) == [b"a"]


def test_a_stream_cut_short_keeps_whole_documents_under_skip(tmp_path: Path) -> None:
    path = tmp_path / "a.gz"
    text = b"".join(b"document %d %s\n" % (n, os.urandom(20).hex().encode()) for n in range(500))
    path.write_bytes(gzip.compress(text)[:-4000])
    with pytest.raises(CorpusError, match="ends early"):
        list(read_documents(path, documents="line"))
    results = []
    for policy in ("skip", "replace"):
        with pytest.warns(BadRecordsWarning, match="ends early"):
            results.append(list(read_documents(path, documents="line", on_bad=policy)))
    skipped, replaced = results
    lines = text.splitlines()
    assert 100 < len(skipped) < 500
    assert skipped == lines[: len(skipped)]
    assert replaced[: len(skipped)] == skipped
    assert lines[len(skipped)].startswith(b"".join(replaced[len(skipped) :]))


# bad input

BAD_COLUMNS = {
    ("a.parquet", "none"): "no column 'none'; there are: id, text",
    ("a.parquet", "id"): "'id' is int64, no text",
    ("a.arrow", "none"): "no column 'none'",
    ("a.csv", "none"): "no column 'none'; there are: id, text",
    ("a.jsonl", "none"): 'no field "none"',
}


@pytest.mark.parametrize("case", BAD_COLUMNS)
def test_columns_that_are_missing_or_no_text(records: Path, case: tuple[str, str]) -> None:
    name, field = case
    with pytest.raises(CorpusError) as refused:
        subword.count(records / name, field=field)
    assert BAD_COLUMNS[case] in str(refused.value)


def test_arguments_that_do_not_fit(records: Path, tmp_path: Path) -> None:
    with pytest.raises(ArgumentError, match="expected one of text, jsonl"):
        Reading.of(format="xml")  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="expected one of fail, skip"):
        Reading.of(on_bad="ignore")  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="field"):
        Reading.of(field="")
    with pytest.raises(ArgumentError, match="a record is a document"):
        subword.count(records / "a.jsonl", documents="line")
    (tmp_path / "a.txt").write_text("text")
    with pytest.raises(ArgumentError, match="has no records"):
        subword.count(tmp_path / "a.txt", documents="record")
    as_text = subword.count(records / "a.jsonl", format="text", documents="line")
    assert as_text == subword.count(STORED["a.jsonl"].splitlines())
    with pytest.raises(CorpusError, match="damaged"):
        subword.count(tmp_path / "a.txt", format="parquet")


def test_damaged_parquet_and_arrow_never_crash(tmp_path: Path, records: Path) -> None:
    for name in ("a.parquet", "a.arrow", "stream.arrow"):
        whole = (records / name).read_bytes()
        path = tmp_path / name
        for n in range(0, len(whole), max(len(whole) // 40, 1)):
            path.write_bytes(whole[:n])
            with pytest.raises(CorpusError, match=name):
                list(read_documents(path))


def test_rows_of_a_data_set_are_documents() -> None:
    rows = [{"text": text, "id": n} for n, text in enumerate(TEXTS)]
    counts = subword.count(TEXTS)
    assert subword.count(rows) == counts
    assert subword.count(iter(rows)) == counts
    assert subword.count([{"body": t} for t in TEXTS], field="body") == counts
    with pytest.raises(CorpusError, match="record 0: no such field"):
        subword.count(rows, field="body")
    with pytest.raises(CorpusError, match="record 1: 'text' is int, no text"):
        subword.count([{"text": "a"}, {"text": 1}])
    with pytest.warns(BadRecordsWarning):
        assert subword.count([{"text": "a"}, {"text": None}], on_bad="skip").n_documents == 1


def test_a_response_gives_the_body_of_its_message(tmp_path: Path) -> None:
    path = tmp_path / "a.warc"
    message = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<p>a body</p>"
    other = warc_record("request", b"GET / HTTP/1.1\r\n\r\n")
    path.write_bytes(other + warc_record("response", message) + warc_record("resource", b"as is"))
    assert list(read_documents(path)) == [b"<p>a body</p>", b"as is"]


def test_a_file_that_shrinks_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"word " * 1_000_000)
    reader = _core.DocumentReader([path], b" ", block_bytes=1 << 12)
    assert next(reader) == b"word"
    os.truncate(path, 2_500_000)
    with pytest.raises(CorpusError, match="shrank while it was read"):
        list(reader)


# URLs


@pytest.fixture
def memory() -> Any:
    system = fsspec.filesystem("memory")
    system.pipe("/bucket/a.jsonl.gz", STORED["a.jsonl.gz"])
    system.pipe("/bucket/b.txt", b"one<s>two")
    yield system
    system.rm("/bucket", recursive=True)


def test_urls_are_files_and_globs(memory: Any) -> None:
    assert list(read_documents("memory://bucket/b.txt", documents="<s>")) == [b"one", b"two"]
    assert list(read_documents([Url("memory://bucket/b.txt")])) == [b"one<s>two"]
    documents = list(read_documents("memory://bucket/*"))
    assert documents == [text.encode() for text in TEXTS] + [b"one<s>two"]
    with pytest.raises(SourceNotFoundError, match="no file matches"):
        subword.count("memory://bucket/*.none")
    with pytest.raises(SourceNotFoundError, match="no such file"):
        subword.count("memory://bucket/none")
    with pytest.raises(SourceError, match="fsspec cannot open it"):
        subword.count("nosuchprotocol://bucket/none")


def test_a_url_that_fails_halfway_is_refused(memory: Any, monkeypatch: Any) -> None:
    class Failing(io.BytesIO):
        n_reads = 0

        def read(self, n: int | None = -1) -> bytes:
            self.n_reads += 1
            if self.n_reads > 1:
                raise RuntimeError("the network is gone")
            return super().read(n)

    monkeypatch.setattr(type(memory), "open", lambda *_a, **_k: Failing(b"x\n" * (1 << 20)))
    for read in (
        lambda: subword.count("memory://bucket/b.txt", documents="line"),
        lambda: list(read_documents("memory://bucket/b.txt", documents="line")),
    ):
        with pytest.raises(SourceError, match="the network is gone"):
            read()


def test_no_thread_or_descriptor_stays(memory: Any) -> None:
    before = len(list(Path("/dev/fd").iterdir())), threading.active_count()
    documents = read_documents("memory://bucket/a.jsonl.gz")
    next(iter(documents))
    documents.close()  # type: ignore[attr-defined]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        list(read_documents("memory://bucket/*"))
    assert (len(list(Path("/dev/fd").iterdir())), threading.active_count()) == before

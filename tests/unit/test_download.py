"""Downloads from a server on this machine that drops connections."""

import gzip
import hashlib
import re
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from subword import downloads
from subword.downloads import RemoteFile, download, fetch
from subword.errors import ArgumentError, CorpusError, SourceError, SourceNotFoundError

TEXT = b"".join(b"a story of number %d<|endoftext|>\n" % n for n in range(40_000))


class Server:
    """Serves files, each request at most some bytes, and keeps what was asked for."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.most_bytes = 1 << 62
        self.knows_ranges = True
        self.etag = '"1"'
        self.ranges: list[str | None] = []
        served = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                served.answer(self)

            def log_message(self, *_: Any) -> None:
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.http.server_port}"

    def answer(self, request: BaseHTTPRequestHandler) -> None:
        wanted = request.headers["Range"]
        self.ranges.append(wanted)
        data = self.files.get(request.path.lstrip("/"))
        if data is None:
            request.send_error(404)
            return
        start = 0
        is_same = request.headers["If-Range"] in (None, self.etag)
        if wanted and self.knows_ranges and is_same:
            start = int(re.fullmatch(r"bytes=(\d+)-", wanted)[1])  # type: ignore[index]
            if start >= len(data):
                request.send_error(416)
                return
            request.send_response(206)
            request.send_header("Content-Range", f"bytes {start}-{len(data) - 1}/{len(data)}")
        else:
            request.send_response(200)
        request.send_header("ETag", self.etag)
        request.send_header("Content-Length", str(len(data) - start))
        request.end_headers()
        request.wfile.write(data[start : start + self.most_bytes])


@pytest.fixture
def server() -> Iterator[Server]:
    served = Server()
    thread = threading.Thread(target=served.http.serve_forever)
    thread.start()
    yield served
    served.http.shutdown()
    thread.join()
    served.http.server_close()


def known(name: str, text: bytes = TEXT, packed: bool = False) -> RemoteFile:
    stored = f"{name}.gz" if packed else name
    return RemoteFile(name, stored, len(text), hashlib.sha256(text).hexdigest())


def get(server: Server, folder: Path, file: RemoteFile, **options: Any) -> Path:
    return fetch(f"{server.url}/{file.stored}", folder, file, wait_seconds=0, **options)


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("most_bytes", [1 << 62, 300_000, 70_001])
def test_dropped_connections_go_on_where_they_ended(
    server: Server, tmp_path: Path, packed: bool, most_bytes: int
) -> None:
    file = known("a.txt", packed=packed)
    stored = gzip.compress(TEXT, 0) if packed else TEXT
    server.files[file.stored], server.most_bytes = stored, most_bytes
    seen: list[tuple[int, int | None]] = []
    path = get(server, tmp_path, file, progress=lambda done, total: seen.append((done, total)))
    assert path.read_bytes() == TEXT
    assert list(tmp_path.iterdir()) == [path]
    assert seen[-1] == (len(stored), len(stored))
    assert seen == sorted(seen)
    n_requests = -(-len(stored) // most_bytes)
    assert len(server.ranges) == n_requests
    assert server.ranges[1:] == [f"bytes={n * most_bytes}-" for n in range(1, n_requests)]


@pytest.mark.parametrize("packed", [False, True])
def test_the_next_call_goes_on_behind_what_an_earlier_one_kept(
    server: Server, tmp_path: Path, packed: bool
) -> None:
    file = known("a.txt", packed=packed)
    stored = gzip.compress(TEXT) if packed else TEXT
    server.files[file.stored] = stored
    (tmp_path / f"{file.stored}.part").write_bytes(stored[:1000])
    assert get(server, tmp_path, file).read_bytes() == TEXT
    assert server.ranges == ["bytes=1000-"]
    assert get(server, tmp_path, file).read_bytes() == TEXT
    assert len(server.ranges) == 1, "a file that is there is not fetched"


def test_what_is_whole_but_not_yet_checked_is_not_fetched_again(
    server: Server, tmp_path: Path
) -> None:
    server.files["a.txt"] = TEXT
    (tmp_path / "a.txt.part").write_bytes(TEXT)
    assert get(server, tmp_path, known("a.txt")).read_bytes() == TEXT


def test_a_server_without_ranges_and_a_file_that_changed_begin_anew(
    server: Server, tmp_path: Path
) -> None:
    server.files["a.txt"], server.knows_ranges = TEXT, False
    (tmp_path / "a.txt.part").write_bytes(b"other")
    assert get(server, tmp_path, known("a.txt")).read_bytes() == TEXT
    server.files["b.txt"], server.knows_ranges, server.etag = TEXT, True, '"2"'
    (tmp_path / "b.txt.part").write_bytes(b"other")
    (tmp_path / "b.txt.part.etag").write_text('"1"')
    assert get(server, tmp_path, known("b.txt")).read_bytes() == TEXT
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.txt", "b.txt"]


def test_wrong_bytes_are_refused_and_removed(server: Server, tmp_path: Path) -> None:
    wrong = bytearray(TEXT)
    wrong[5] ^= 1
    server.files["a.txt"] = bytes(wrong)
    server.files["b.txt"] = TEXT + b"more"
    server.files["c.txt"] = TEXT[:-1]
    server.files["d.txt.gz"] = b"no gzip at all"
    for file, message in (
        (known("a.txt"), "SHA-256"),
        (known("b.txt"), "more than"),
        (known("c.txt"), "bytes where it should have"),
        (known("d.txt", packed=True), "gzip stream is damaged"),
    ):
        with pytest.raises(CorpusError, match=message):
            get(server, tmp_path, file)
    assert list(tmp_path.iterdir()) == []


def test_a_missing_file_and_a_server_that_gives_nothing(server: Server, tmp_path: Path) -> None:
    with pytest.raises(SourceNotFoundError, match="no such file"):
        get(server, tmp_path, known("none.txt"))
    server.files["a.txt"], server.most_bytes = TEXT, 0
    with pytest.raises(SourceError, match="6 tries"):
        get(server, tmp_path, known("a.txt"))
    with pytest.raises(ArgumentError, match="no http"):
        fetch("file:///etc/hosts", tmp_path, known("a.txt"))
    with pytest.raises(ArgumentError, match="no data set"):
        download("pile", tmp_path)  # type: ignore[arg-type]


def test_a_set_is_fetched_from_a_mirror(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = (known("owt_train.txt", packed=True), known("owt_valid.txt", b"short", packed=True))
    monkeypatch.setitem(downloads._SETS, "owt-sample", ("http://nowhere.invalid", files))
    server.files["owt_train.txt.gz"] = gzip.compress(TEXT)
    server.files["owt_valid.txt.gz"] = gzip.compress(b"sh") + gzip.compress(b"ort")
    paths = download("owt-sample", tmp_path / "data", base_url=server.url + "/")
    assert [path.read_bytes() for path in paths] == [TEXT, b"short"]

"""Tokenizers by name: caches, and a server on loopback in place of the real ones."""

import base64
import hashlib
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import ClassVar

import pytest

from subword import hub
from subword.errors import ArgumentError, FormatError, MissingExtraError, SourceError
from subword.formats import load, save, tiktoken
from subword.training.bpe import train_bpe

TEXT = "the cat in the hat " * 9
RANKS = b"".join(base64.b64encode(bytes([byte])) + b" %d\n" % byte for byte in range(256))


class Files(BaseHTTPRequestHandler):
    """Serves ``files`` by path, with what the hub's own server says of them."""

    files: ClassVar[dict[str, bytes]] = {}
    asked: ClassVar[list[str]] = []

    def do_GET(self) -> None:
        self.asked.append(self.path)
        data = self.files.get(self.path)
        self.send_response(200 if data is not None else 404)
        if data is None:
            self.send_header("X-Error-Code", "EntryNotFound")
            data = b""
        self.send_header("Content-Length", str(len(data)))
        self.send_header("ETag", f'"{hashlib.sha256(data).hexdigest()}"')
        self.send_header("X-Repo-Commit", "a" * 40)
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(data)

    do_HEAD = do_GET  # noqa: N815  # the name that the base class looks for

    def log_message(self, *args: object) -> None:
        """Say nothing."""


@pytest.fixture
def server() -> Iterator[str]:
    Files.files, Files.asked = {}, []
    with ThreadingHTTPServer(("127.0.0.1", 0), Files) as running:
        threading.Thread(target=running.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{running.server_port}"
        running.shutdown()


@pytest.fixture
def cache(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


def test_a_rank_file_is_fetched_once(server, cache):
    Files.files["/tiny.tiktoken"] = RANKS
    sha256 = hashlib.sha256(RANKS).hexdigest()
    for _ in range(2):
        path = hub.tiktoken_file("tiny", sha256, base_url=f"{server}/")
        assert path.read_bytes() == RANKS
    assert Files.asked == ["/tiny.tiktoken"]
    assert path.parent == cache
    url = f"{hub.TIKTOKEN_URL}tiny.tiktoken".encode()
    assert path.name == hashlib.sha1(url, usedforsecurity=False).hexdigest()
    path.write_bytes(b"damaged")
    assert hub.tiktoken_file("tiny", sha256, base_url=f"{server}/").read_bytes() == RANKS


def test_another_file_is_refused(server, cache):
    Files.files["/tiny.tiktoken"] = RANKS
    with pytest.raises(FormatError, match="SHA-256"):
        hub.tiktoken_file("tiny", "0" * 64, base_url=f"{server}/")
    assert not cache.exists()


def test_a_missing_file_says_where_it_was_sought(server, cache):
    for base_url in (f"{server}/", "http://127.0.0.1:9/"):
        with pytest.raises(SourceError, match=r"cache.*cannot be fetched"):
            hub.tiktoken_file("tiny", "0" * 64, base_url=base_url)


def test_encodings_load_from_a_filled_cache(cache, monkeypatch):
    known = tiktoken.Encoding(hashlib.sha256(RANKS).hexdigest(), "gpt2", {"<|end|>": 256})
    monkeypatch.setitem(tiktoken.ENCODINGS, "tiny", known)
    url = f"{hub.TIKTOKEN_URL}tiny.tiktoken".encode()
    cache.mkdir()
    (cache / hashlib.sha1(url, usedforsecurity=False).hexdigest()).write_bytes(RANKS)
    assert load("tiktoken:tiny").encode("a<|end|>") == [97, 256]


@pytest.mark.parametrize("name", ["nothing", "llama3", "../x"])
def test_unknown_encodings_are_refused(name):
    with pytest.raises(ArgumentError, match="o200k_base"):
        load(f"tiktoken:{name}")


@pytest.fixture
def hugging_face(tmp_path, monkeypatch):
    """Give the settings of huggingface_hub, with its cache in a folder of the test."""
    found = pytest.importorskip("huggingface_hub.constants")
    monkeypatch.setattr(found, "HF_HUB_CACHE", str(tmp_path / "hf"))
    monkeypatch.setattr(found, "HF_HUB_DISABLE_TELEMETRY", True)
    return found


def test_a_repository_is_fetched_then_used_offline(hugging_face, server, tmp_path, monkeypatch):
    tok = train_bpe([TEXT], 262, ["<end>"])
    save(tok, tmp_path / "tokenizer.json")
    at = "/org/name/resolve/main/"
    Files.files[f"{at}tokenizer.json"] = (tmp_path / "tokenizer.json").read_bytes()
    Files.files[f"{at}tokenizer_config.json"] = json.dumps({"eos_token": "<end>"}).encode()
    folder = hub.hugging_face_folder("org/name", endpoint=server)
    assert load(folder).encode(TEXT) == tok.encode(TEXT)
    n_asked = len(Files.asked)
    monkeypatch.setattr(hugging_face, "HF_HUB_OFFLINE", True)
    again = load("hf:org/name")
    assert again.encode(TEXT) == tok.encode(TEXT)
    assert again.roles["eos"] == "<end>"
    assert len(Files.asked) == n_asked


def test_a_repository_without_a_tokenizer_is_refused(hugging_face, server):
    with pytest.raises(SourceError, match=r"tokenizer\.json"):
        hub.hugging_face_folder("org/name", endpoint=server)


def test_a_repository_that_is_not_cached_is_refused_offline(hugging_face, monkeypatch):
    monkeypatch.setattr(hugging_face, "HF_HUB_OFFLINE", True)
    with pytest.raises(SourceError, match="org/other"):
        load("hf:org/other")


@pytest.mark.parametrize("name", ["a/b/c", "", "../../x", "org/na me"])
def test_names_that_cannot_be_are_refused(hugging_face, name):
    with pytest.raises(SourceError):
        load(f"hf:{name}")


def test_a_missing_library_is_named(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "huggingface_hub", None)
    with pytest.raises(MissingExtraError, match=r"subword\[hub\]"):
        load("hf:org/name")

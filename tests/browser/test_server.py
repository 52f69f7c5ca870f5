"""The server's manners: limits, refusals, tokens, ports."""

import http.client
import json
import re
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import subword
from subword.playground.bodies import MAX_BODY_BYTES, MAX_TEXT_BYTES
from subword.playground.builtin import builtin_entries

TOK = builtin_entries()[0].tokenizer
Answer = tuple[int, Any, dict[str, str]]


def ask(
    port: int, path: str, body: object = None, *, method: str | None = None, host: str = "127.0.0.1",
    **headers: str,
) -> Answer:  # fmt: skip
    """Send a request, and give status, JSON (or the bytes), and headers."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    data = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
    given = {"Host": f"{host}:{port}"} | {
        name.replace("_", "-"): value for name, value in headers.items()
    }
    if data is not None:
        given.setdefault("Content-Type", "application/json")
    connection.request(method or ("GET" if data is None else "POST"), path, data, given)
    response = connection.getresponse()
    received = response.read()
    connection.close()
    answer = (
        json.loads(received) if "json" in response.headers.get("content-type", "") else received
    )
    return response.status, answer, dict(response.headers)


def test_the_page_asks_no_other_host(server: Any) -> None:
    status, page, headers = ask(server.port, "/")
    assert status == 200
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "http" not in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert not re.search(rb"(?:src|href)=\"(?:https?:)?//", page)


def test_the_pages_scripts_parse_no_html_and_no_code() -> None:
    static = Path(subword.__file__).parent / "playground" / "static"
    scripts = sorted(static.glob("*.js"))
    assert len(scripts) > 10
    for script in scripts:
        forbidden = r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function"
        assert not re.search(forbidden, script.read_text(encoding="utf-8")), script.name


@pytest.mark.parametrize(
    "text", ["the cat 你<|endoftext|>", "", "\x00\u202e", "e" + "\u0301" * 1_000]
)
def test_an_encoding_is_the_librarys(server: Any, text: str) -> None:
    status, answer, _ = ask(server.port, "/api/encode", {"text": text})
    expected = TOK.encode_spans(text)
    assert status == 200
    assert answer["ids"] == expected.ids
    assert list(zip(answer["starts"], answer["ends"], strict=True)) == expected.byte_spans


def test_lone_surrogates_of_json_become_replacement_characters(server: Any) -> None:
    status, answer, _ = ask(server.port, "/api/encode", rb'{"text": "a\ud800"}')
    assert status == 200
    assert TOK.decode(answer["ids"]) == "a\ufffd"


MALFORMED = {
    "no JSON": b"{",
    "no UTF-8": b'{"text": "\xff"}',
    "a list": b"[]",
    "nothing": b"",
    "deep": b"[" * 200_000,
    "many digits": b'{"text": "a", "tokenizer": ' + b"9" * 10_000 + b"}",
    "no text": b"{}",
    "a text that is a number": b'{"text": 1}',
    "null": b'{"text": null}',
    "a tokenizer that is not there": b'{"text": "a", "tokenizer": 99}',
    "a negative one": b'{"text": "a", "tokenizer": -1}',
    "true for a number": b'{"text": "a", "tokenizer": true}',
    "a path for a tokenizer": b'{"text": "a", "tokenizer": "/etc/passwd"}',
    "a mode unheard of": b'{"text": "a", "special": "maybe"}',
}


@pytest.mark.parametrize("body", MALFORMED.values(), ids=MALFORMED)
def test_malformed_requests_are_refused_in_words(server: Any, body: bytes) -> None:
    status, answer, _ = ask(server.port, "/api/encode", body)
    assert status == 400
    assert len(answer["error"]) > 10
    assert ask(server.port, "/api/encode", {"text": "a"})[0] == 200


REFUSED = {
    "an id that is none": ("decode", {"ids": [10**9]}, 422),
    "ids that are none": ("decode", {"ids": "1 2"}, 400),
    "a negative id": ("decode", {"ids": [-1]}, 400),
    "a token that is none": ("token", {"id": 10**9}, 422),
    "no training text": ("learn", {"text": ""}, 422),
    "a long training": ("learn", {"text": "a" * 10_001}, 413),
    "many steps": ("learn", {"text": "ab" * 4_000, "n_steps": 200}, 422),
    "too many steps": ("learn", {"text": "ab", "n_steps": 10**6}, 400),
    "an algorithm unheard of": ("learn", {"text": "ab", "algorithm": "magic"}, 400),
    "a pattern of one's own": ("learn", {"text": "ab", "pattern": "(a+)+$"}, 400),
    "half a byte": ("unicode", {"hex": "e5 9"}, 400),
    "many bytes": ("unicode", {"hex": "00" * 5_000}, 413),
    "five tokenizers": ("lines", {"lines": ["a"], "tokenizers": [0] * 5}, 413),
    "many lines": ("lines", {"lines": ["a"] * 2_001, "tokenizers": [0]}, 413),
}


@pytest.mark.parametrize(("path", "body", "expected"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_done_is_refused_in_words(
    server: Any, path: str, body: dict[str, Any], expected: int
) -> None:
    status, answer, _ = ask(server.port, f"/api/{path}", body)
    assert status == expected
    assert len(answer["error"]) > 10


@pytest.mark.parametrize(
    "path", ["/static/../app.py", "/static/%2e%2e%2fapp.py", "/static//etc/passwd", "/etc/passwd", "/static/"]
)  # fmt: skip
def test_no_path_is_opened(server: Any, path: str) -> None:
    status, answer, _ = ask(server.port, path)
    assert status == 404
    assert b"import" not in json.dumps(answer if isinstance(answer, dict) else "").encode()


def test_wrong_methods_and_types(server: Any) -> None:
    assert ask(server.port, "/api/encode")[0] == 405
    assert ask(server.port, "/api/tokenizers", {}, method="POST")[0] == 405
    status, answer, _ = ask(server.port, "/api/encode", b"text=a", Content_Type="text/plain")
    assert (status, "application/json" in answer["error"]) == (415, True)


def test_a_page_of_another_name_is_not_answered(server: Any) -> None:
    status, answer, _ = ask(server.port, "/api/tokenizers", host="evil.example")
    assert (status, "evil.example" in answer["error"]) == (421, True)
    assert ask(server.port, "/api/tokenizers", host="localhost")[0] == 200


def test_a_text_and_a_body_over_the_limit(server: Any) -> None:
    status, answer, _ = ask(server.port, "/api/encode", {"text": "a" * (MAX_TEXT_BYTES + 1)})
    assert (status, str(MAX_TEXT_BYTES) in answer["error"]) == (413, True)
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    connection.putrequest("POST", "/api/encode")
    connection.putheader("Content-Type", "application/json")
    connection.putheader("Content-Length", str(MAX_BODY_BYTES + 1))
    connection.endheaders()
    response = connection.getresponse()
    assert response.status == 413
    connection.close()
    assert ask(server.port, "/api/encode", {"text": "a"})[0] == 200


def test_a_flood_is_answered_or_told_to_come_back(server: Any) -> None:
    statuses: list[int] = []
    body = json.dumps({"text": "the cat sat on the mat " * 1_000}).encode()

    def flood() -> None:
        for _ in range(3):
            statuses.append(ask(server.port, "/api/encode", body)[0])

    threads = [threading.Thread(target=flood) for _ in range(100)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(statuses) == 300
    assert statuses.count(200) > 0
    assert set(statuses) <= {200, 503}
    assert ask(server.port, "/api/encode", {"text": "a"})[0] == 200


def test_a_busy_port_gives_the_next_free_one_and_says_so(serve: Callable[..., Any]) -> None:
    with socket.socket() as busy:
        busy.bind(("127.0.0.1", 0))
        busy.listen()
        port = busy.getsockname()[1]
        with serve("--port", str(port)) as started:
            assert started.port > port
            assert f"port {port} is busy; using {started.port}" in " ".join(started.said)
            assert ask(started.port, "/")[0] == 200


def test_another_address_is_warned_of_and_needs_the_token(serve: Callable[..., Any]) -> None:
    with serve("--host", "0.0.0.0") as started:  # noqa: S104
        assert "warning" in " ".join(started.said)
        token = started.url.partition("?token=")[2]
        assert len(token) > 16
        assert ask(started.port, "/")[0] == 403
        assert ask(started.port, "/?token=wrong")[0] == 403
        assert ask(started.port, "/api/tokenizers")[0] == 403
        assert ask(started.port, f"/?token={token}", host="another.name")[0] == 200
        assert ask(started.port, "/api/tokenizers", X_Subword_Token=token)[0] == 200


def test_tokenizers_of_files_are_named_after_them(
    serve: Callable[..., Any], tmp_path: Path
) -> None:
    subword.save(TOK, tmp_path / "mine.json")
    subword.save(TOK.truncate(300), tmp_path / "smaller.yaml")
    with serve(tmp_path / "mine.json", tmp_path / "smaller.yaml") as started:
        listed = ask(started.port, "/api/tokenizers")[1]["tokenizers"]
        assert [one["name"] for one in listed] == ["mine", "smaller"]
        assert [one["vocab_size"] for one in listed] == [1_000, 300]
        started.process.send_signal(signal.SIGINT)
        assert started.process.wait(timeout=60) == 0


def test_a_file_that_is_no_tokenizer_is_refused_at_the_start(tmp_path: Path) -> None:
    (tmp_path / "poem.json").write_text("roses are red", encoding="utf-8")
    command = [sys.executable, "-c", "from subword.cli import main; main()", "playground"]
    done = subprocess.run(
        [*command, "--no-browser", str(tmp_path / "poem.json")], capture_output=True, check=False
    )
    assert done.returncode == 1
    assert done.stdout == b""
    assert done.stderr.count(b"\n") == 1
    assert b"poem.json" in done.stderr

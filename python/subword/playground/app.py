"""The web application: routes, limits, and the headers that keep a page to itself.

No path of a request is ever opened: the page's own files are read once, and tokenizers are those
named at the start. What a page sends is text and numbers; what it gets is JSON.
"""

import secrets
import sys
import traceback
from collections.abc import Callable, Sequence
from functools import partial
from importlib.resources import files
from typing import Any, Final, Literal, cast

from anyio import CapacityLimiter, to_thread
from starlette.applications import Starlette
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from subword.errors import SubwordError
from subword.playground import answers, lessons
from subword.playground.bodies import (
    choice_of,
    integer_of,
    integers_of,
    read_json,
    text_of,
    texts_of,
)
from subword.playground.catalog import Entry, summary, token_facts

__all__ = ["create_app"]

MAX_WORKING: Final = 4
MAX_WAITING: Final = 64
"""Requests that work and that wait; more are told to come back."""

MAX_LINES: Final = 2_000
MAX_IDS: Final = 1_000_000
MAX_HEX_BYTES: Final = 4_096

_REFUSED: Final = 422
_LOOPBACK: Final = ("127.0.0.1", "localhost", "[::1]")
_TYPES: Final = {
    "html": "text/html; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
}
_HEADERS: Final = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
        "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    # The token of the address must not reach another page.
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}

Answer = Callable[[dict[str, Any]], dict[str, Any]]


def create_app(
    entries: Sequence[Entry], *, token: str | None = None, hosts: Sequence[str] | None = _LOOPBACK
) -> Starlette:
    """Make the application.

    Args:
        entries: The tokenizers, in the order in which the page lists them.
        token: What requests have to bring along, in the address of the page or in the header
            ``X-Subword-Token``; None asks for nothing.
        hosts: Names by which the server may be called, ports aside: a page of another site whose
            name was made to mean this machine is not answered. None for any.
    """
    page = _page_files()
    limiter = CapacityLimiter(MAX_WORKING)

    async def show(request: Request) -> Response:
        name = request.path_params.get("name", "index.html")
        if name not in page:
            raise HTTPException(404, "there is no such page")
        return Response(page[name], media_type=_TYPES[name.rpartition(".")[2]])

    def entry_of(body: dict[str, Any], name: str = "tokenizer") -> Entry:
        return entries[integer_of(body, name, 0, len(entries) - 1, 0)]

    def encode(body: dict[str, Any]) -> dict[str, Any]:
        special = choice_of(body, "special", ("recognize", "as_text"))
        mode = cast(Literal["recognize", "as_text"], special)
        return answers.encoded(entry_of(body), text_of(body, "text"), mode)

    def decode(body: dict[str, Any]) -> dict[str, Any]:
        ids = integers_of(body, "ids", 0, 2**32 - 1, MAX_IDS)
        return answers.decoded(entry_of(body), ids)

    def token_of(body: dict[str, Any]) -> dict[str, Any]:
        return token_facts(entry_of(body), integer_of(body, "id", 0, 2**32 - 1, -1))

    def lines(body: dict[str, Any]) -> dict[str, Any]:
        chosen = integers_of(body, "tokenizers", 0, len(entries) - 1, 4)
        return answers.count_lines([entries[at] for at in chosen], texts_of(body, "lines", MAX_LINES))

    def learn_encode(body: dict[str, Any]) -> dict[str, Any]:
        return lessons.encoding(None if body.get("tokenizer") is None else entry_of(body), body)

    def look(body: dict[str, Any]) -> dict[str, Any]:
        if "hex" in body:
            return answers.bytes_checked(_from_hex(text_of(body, "hex", 4 * MAX_HEX_BYTES)))
        return answers.characters(text_of(body, "text"))

    async def tokenizers(_: Request) -> Response:
        return JSONResponse({"tokenizers": [summary(entry) for entry in entries]})

    posts: dict[str, Answer] = {
        "encode": encode,
        "decode": decode,
        "token": token_of,
        "lines": lines,
        "learn": lessons.training,
        "learn/encode": learn_encode,
        "unicode": look,
    }
    routes = [
        Route("/", show),
        Route("/static/{name}", show),
        Route("/api/tokenizers", tokenizers),
        *(Route(f"/api/{name}", _posted(answer, limiter), methods=["POST"]) for name, answer in posts.items()),
    ]
    app = Starlette(
        routes=routes,
        exception_handlers={
            HTTPException: _say_http,
            SubwordError: _say_refused,
            Exception: _say_failed,
        },
    )
    app.add_middleware(partial(_Guard, token=token, hosts=hosts))  # type: ignore[arg-type]
    return app


class _Guard:
    """Ask for the host's name and the token, and put the headers on every answer."""

    def __init__(self, app: ASGIApp, token: str | None, hosts: Sequence[str] | None) -> None:
        self.app = app
        self.token = token
        self.hosts = hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(_HEADERS)
            await send(message)

        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        problem = self._problem(scope)
        app = self.app if problem is None else problem
        await app(scope, receive, send_with_headers)

    def _problem(self, scope: Scope) -> Response | None:
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        name = host if host.endswith("]") else host.rpartition(":")[0] or host
        if self.hosts is not None and name.lower() not in self.hosts:
            return _error(421, f"this server is not {name!r:.80}; use the address it printed")
        # The page's own files say nothing of anybody, and modules cannot bring a token along.
        if self.token is None or scope["path"].startswith("/static/"):
            return None
        given = headers.get("x-subword-token") or Request(scope).query_params.get("token", "")
        if not secrets.compare_digest(given.encode(), self.token.encode()):
            return _error(403, "the token is missing or wrong; use the address the server printed")
        return None


def _posted(answer: Answer, limiter: CapacityLimiter) -> Callable[[Request], Any]:
    async def handle(request: Request) -> Response:
        if limiter.statistics().tasks_waiting >= MAX_WAITING:
            raise HTTPException(503, "too many requests at once; try again", {"retry-after": "1"})
        body = await read_json(request)

        def work() -> Response:
            return JSONResponse(answer(body))

        return await to_thread.run_sync(work, limiter=limiter)

    return handle


def _page_files() -> dict[str, bytes]:
    folder = files("subword.playground") / "static"
    return {
        file.name: file.read_bytes()
        for file in folder.iterdir()
        if file.name.rpartition(".")[2] in _TYPES
    }


def _from_hex(text: str) -> bytes:
    digits = "".join(text.replace("0x", " ").replace("\\x", " ").replace(",", " ").split())
    try:
        data = bytes.fromhex(digits)
    except ValueError as error:
        raise HTTPException(
            400, "the bytes are not hexadecimal; expected pairs of digits such as e5 96 9c"
        ) from error
    if len(data) > MAX_HEX_BYTES:
        raise HTTPException(413, f"{len(data)} bytes; at most {MAX_HEX_BYTES} are taken")
    return data


def _error(status: int, message: str, headers: Any = None) -> JSONResponse:
    return JSONResponse({"error": message}, status, headers)


async def _say_http(_: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 500
    detail = error.detail if isinstance(error, HTTPException) else ""
    return _error(status, detail, getattr(error, "headers", None))


async def _say_refused(_: Request, error: Exception) -> Response:
    return _error(_REFUSED, str(error))


async def _say_failed(_: Request, error: Exception) -> Response:
    traceback.print_exception(error, file=sys.stderr)
    return _error(500, "the server failed at this; its terminal has the details")

"""The web application: the page's own files, the questions it asks, and what is said on errors.

No path of a request is ever opened: the page's files are read once, and tokenizers are those
named at the start. What a page sends is text and numbers; what it gets is JSON.
"""

import sys
import traceback
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from importlib.resources import files
from typing import Final

from anyio import CapacityLimiter, to_thread
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from subword.errors import SubwordError
from subword.playground.bodies import read_json
from subword.playground.catalog import Entry, summary
from subword.playground.guard import LOOPBACK_NAMES, Guard, error_response
from subword.playground.routes import ANSWERS, Answer

__all__ = ["create_app"]

MAX_WORKING: Final = 4
MAX_WAITING: Final = 16
"""Requests that work and that wait; more are told to come back."""

_REFUSED: Final = 422
_TYPES: Final = {
    "html": "text/html; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
}

Handler = Callable[[Request], Awaitable[Response]]


def create_app(
    entries: Sequence[Entry],
    *,
    token: str | None = None,
    hosts: Sequence[str] | None = LOOPBACK_NAMES,
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

    async def tokenizers(_: Request) -> Response:
        return JSONResponse({"tokenizers": [summary(entry) for entry in entries]})

    asked = [
        Route(f"/api/{name}", _posted(answer, entries, limiter), methods=["POST"])
        for name, answer in ANSWERS.items()
    ]
    return Starlette(
        routes=[
            Route("/", show),
            Route("/static/{name}", show),
            Route("/api/tokenizers", tokenizers),
            *asked,
        ],
        exception_handlers={
            HTTPException: _say_http,
            SubwordError: _say_refused,
            Exception: _say_failed,
        },
        middleware=[Middleware(Guard, token=token, hosts=hosts)],
    )


def _posted(answer: Answer, entries: Sequence[Entry], limiter: CapacityLimiter) -> Handler:
    """Make the handler of a question: its answer is worked out beside the event loop."""

    async def handle(request: Request) -> Response:
        if limiter.statistics().tasks_waiting >= MAX_WAITING:
            # Taken off the line: an answer that overtakes its request is lost with it.
            async for _ in request.stream():
                pass
            raise HTTPException(503, "too many requests at once; try again", {"retry-after": "1"})
        body = await read_json(request)
        work = partial(_answered, answer, entries, body)
        return await to_thread.run_sync(work, limiter=limiter)

    return handle


def _answered(answer: Answer, entries: Sequence[Entry], body: dict[str, object]) -> Response:
    return JSONResponse(answer(entries, body))


def _page_files() -> dict[str, bytes]:
    folder = files("subword.playground") / "static"
    return {
        file.name: file.read_bytes()
        for file in folder.iterdir()
        if file.name.rpartition(".")[2] in _TYPES
    }


async def _say_http(_: Request, error: Exception) -> Response:
    if not isinstance(error, HTTPException):  # what Starlette's types cannot say
        raise error
    headers = dict(error.headers) if error.headers else None
    return error_response(error.status_code, error.detail, headers)


async def _say_refused(_: Request, error: Exception) -> Response:
    return error_response(_REFUSED, str(error))


async def _say_failed(_: Request, error: Exception) -> Response:
    traceback.print_exception(error, file=sys.stderr)
    return error_response(500, "the server failed at this; its terminal has the details")

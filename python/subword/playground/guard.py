"""Who is answered, and the headers that keep the page to itself."""

import secrets
from collections.abc import Sequence
from typing import Final

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

__all__ = ["LOOPBACK_NAMES", "Guard", "error_response"]

LOOPBACK_NAMES: Final = ("127.0.0.1", "localhost", "[::1]")

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


class Guard:
    """Ask for the host's name and the token, and put the headers on every answer."""

    def __init__(self, app: ASGIApp, token: str | None, hosts: Sequence[str] | None) -> None:
        """Wrap an application; see ``create_app`` for the arguments."""
        self.app = app
        self.token = token
        self.hosts = hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or say why not."""

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(_HEADERS)
            await send(message)

        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        app = self._refusal(scope) or self.app
        await app(scope, receive, send_with_headers)

    def _refusal(self, scope: Scope) -> JSONResponse | None:
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        name = host if host.endswith("]") else host.rpartition(":")[0] or host
        if self.hosts is not None and name.lower() not in self.hosts:
            return error_response(
                421, f"this server is not {name!r:.80}; use the address it printed"
            )
        # The page's own files say nothing of anybody, and modules cannot bring a token along.
        if self.token is None or scope["path"].startswith("/static/"):
            return None
        given = headers.get("x-subword-token") or Request(scope).query_params.get("token", "")
        if not secrets.compare_digest(given.encode(), self.token.encode()):
            return error_response(
                403, "the token is missing or wrong; use the address the server printed"
            )
        return None


def error_response(
    status: int, message: str, headers: dict[str, str] | None = None
) -> JSONResponse:
    """Give what a request gets that cannot be answered: ``{"error": message}``."""
    return JSONResponse({"error": message}, status, headers)

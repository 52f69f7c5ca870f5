"""Find a port, say where the page is, and run until interrupted."""

import errno
import secrets
import socket
import sys
import threading
import webbrowser
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Final

import uvicorn

from subword.errors import ArgumentError
from subword.playground.app import create_app
from subword.playground.catalog import Entry

__all__ = ["LOOPBACK", "bind", "serve"]

LOOPBACK: Final = "127.0.0.1"
_TRIES: Final = 50
_MAX_CONNECTIONS: Final = 256


def bind(host: str, port: int, *, tries: int = _TRIES) -> tuple[socket.socket, int]:
    """Bind to a port, or to the next free one.

    Args:
        host: The address to listen on.
        port: The first to try; 0 for any.
        tries: Ports to try.

    Returns:
        The socket and its port.

    Raises:
        OSError: The address is none of this machine's, or no port is free.
    """
    family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    last = min(port + tries, 65_536) if port else 1
    for candidate in range(port, last):
        bound = socket.socket(family, kind, protocol)
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            bound.bind((address[0], candidate, *address[2:]))
            # Two servers that reuse an address may both bind; one alone may listen.
            bound.listen(_MAX_CONNECTIONS)
        except OSError as error:
            bound.close()
            if error.errno != errno.EADDRINUSE or candidate == last - 1:
                raise
        else:
            return bound, bound.getsockname()[1]
    raise ArgumentError(f"port is {port}; expected a number from 0 to 65535")


def serve(
    entries: Sequence[Entry],
    *,
    host: str = LOOPBACK,
    port: int = 8000,
    open_browser: bool = True,
    say: Callable[[str], None],
) -> None:
    """Serve the page until interrupted; its address is printed to standard output.

    Args:
        entries: The tokenizers of the page.
        host: The address to listen on. Another than loopback's makes the page ask for a token,
            which is in the address that is printed.
        port: The first port to try; 0 for any.
        open_browser: Whether to open the page in the browser.
        say: What is called with notices for people.

    Raises:
        OSError: The host is none of this machine's, or no port is free.
    """
    bound, chosen = bind(host, port)
    if port and chosen != port:
        say(f"port {port} is busy; using {chosen}")
    is_local = _is_loopback(bound)
    token = None if is_local else secrets.token_urlsafe(18)
    if not is_local:
        say(f"warning: {host} can be reached from other machines; who has the address can use it")
    shown = f"[{host}]" if ":" in host else host
    if bound.getsockname()[0] in ("0.0.0.0", "::"):  # noqa: S104
        shown = socket.gethostname()
    address = f"http://{shown}:{chosen}/" + (f"?token={token}" if token else "")
    app = create_app(entries, token=token, **({} if is_local else {"hosts": None}))
    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        server_header=False,
        ws="none",
        lifespan="off",
        timeout_keep_alive=30,
        timeout_graceful_shutdown=2,
        limit_concurrency=_MAX_CONNECTIONS,
    )
    print(address, flush=True)
    say("playground: Ctrl-C stops it")
    if open_browser:
        threading.Thread(target=_open, args=(address,), daemon=True).start()
    with bound, suppress(KeyboardInterrupt):
        uvicorn.Server(config).run(sockets=[bound])
    sys.stdout.flush()


def _is_loopback(bound: socket.socket) -> bool:
    address = str(bound.getsockname()[0])
    return address == "::1" or address.startswith("127.")


def _open(address: str) -> None:
    with suppress(webbrowser.Error):
        webbrowser.open(address)

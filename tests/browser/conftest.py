"""A server on loopback, and a real browser that is held to make no noise."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


@dataclass
class Server:
    """A running ``subword playground``.

    Attributes:
        url: Its address, with the token where there is one.
        process: The process.
        said: What it said for people before it was ready.
    """

    url: str
    process: subprocess.Popen[bytes]
    said: list[str] = field(default_factory=list)

    @property
    def port(self) -> int:
        return int(self.url.split("/")[2].rpartition(":")[2])


@contextmanager
def running(*arguments: str | Path) -> Iterator[Server]:
    """Run ``subword playground``; its port is any free one unless the arguments say."""
    for module in ("starlette", "uvicorn"):
        pytest.importorskip(module, reason="subword[playground] is not installed")
    chosen = () if "--port" in arguments else ("--port", "0")
    command = [sys.executable, "-c", "from subword.cli import main; main()", "playground"]
    process = subprocess.Popen(
        [*command, "--no-browser", *chosen, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    with process:
        try:
            assert process.stdout is not None
            assert process.stderr is not None
            url = process.stdout.readline().decode().strip()
            server = Server(url, process)
            while line := process.stderr.readline().decode().strip():
                server.said.append(line)
                if "Ctrl-C" in line:
                    break
            if not url:
                pytest.fail(f"the server did not start: {server.said}")
            yield server
        finally:
            process.terminate()
            process.communicate()


@pytest.fixture(scope="session")
def serve() -> Callable[..., Any]:
    return running


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    """The tokenizers that are there without any file."""
    with running() as started:
        yield started


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Chromium, as the system has it; nothing is downloaded."""
    playwright = pytest.importorskip(
        "playwright.sync_api", reason="playwright is not installed: make test installs it"
    )
    given = os.environ.get("SUBWORD_CHROMIUM")
    path = given or next(filter(None, map(shutil.which, NAMES)), None)
    if path is None:
        pytest.skip("no Chromium: apt-get install chromium, or say where in SUBWORD_CHROMIUM")
    with playwright.sync_playwright() as driver:
        # Without its sandbox, which a container's root cannot have; the pages are our own.
        launched = driver.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield launched
        launched.close()


@dataclass
class Watch:
    """What a page did that it should not; ``refusals`` allows the server's refusals."""

    noise: list[str] = field(default_factory=list)
    refusals: bool = False

    def console(self, message: Any) -> None:
        refused = self.refusals and "Failed to load resource" in message.text
        if message.type in ("error", "warning") and not refused:
            self.noise.append(f"console {message.type}: {message.text}")


def until(page: Any, script: str, arg: Any = None, timeout: int = 60_000) -> None:
    """Wait until a script gives true. Playwright's own wait evals, which the page forbids."""
    for _ in range(timeout // 20):
        if page.evaluate(script, arg):
            return
        page.wait_for_timeout(20)
    pytest.fail(f"never true: {script} with {arg!r:.200}")


@pytest.fixture
def open_page(browser: Any, server: Server) -> Iterator[Callable[..., Any]]:
    """Open views of the playground; fail on console errors, exceptions and outside requests."""
    contexts = []
    watch = Watch()

    def opened(
        hash_: str = "",
        *,
        url: str = server.url,
        width: int = 1280,
        refusals: bool = False,
        **how: Any,
    ) -> Any:
        watch.refusals = watch.refusals or refusals
        context = browser.new_context(
            viewport={"width": width, "height": 860}, **({"locale": "en-US"} | how)
        )
        context.set_default_timeout(30_000)
        context.grant_permissions(["clipboard-read", "clipboard-write"])
        contexts.append(context)
        page = context.new_page()
        page.wait_for_function = partial(until, page)
        page.on("console", watch.console)
        page.on("pageerror", lambda error: watch.noise.append(f"exception: {error}"))
        page.on("dialog", lambda dialog: watch.noise.append(f"dialog: {dialog.message}"))
        home = url.split("?")[0]
        page.on(
            "request",
            lambda request: (
                None if request.url.startswith(home) else watch.noise.append(request.url)
            ),
        )
        page.goto(url + hash_)
        page.wait_for_selector("html[data-ready]", state="attached")
        return page

    yield opened
    for context in contexts:
        context.close()
    assert watch.noise == []

"""Draw the pictures of docs/playground.md from the real page: ``make pictures``.

It needs Chromium and playwright (``make chromium``, ``make test``), and fonts for what the
pictures show: fonts-dejavu-core, fonts-noto-color-emoji, fonts-wqy-microhei.
"""

import shutil
import subprocess
import sys
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

PICTURES = Path(__file__).parents[1] / "docs" / "pictures"
DESKTOP = {"width": 1200, "height": 760}
PHONE = {"width": 390, "height": 780}
TEXT = "Tokenization decides what a model sees: naïve café, 你好, 🌍!<|endoftext|>"


def tokens(page: Page) -> None:
    page.fill("#text", TEXT)
    page.wait_for_selector("#flow .t.special")
    page.hover("#flow .t >> nth=2")
    page.wait_for_selector("#details svg")


def compare(page: Page) -> None:
    page.wait_for_selector("#card-1[data-shown]")
    page.click("#parallel")
    page.wait_for_selector("#lines tbody tr")


def learn(page: Page) -> None:
    page.wait_for_selector("#sequence")
    for at in (1, 2, 3):
        page.click("#player [data-step=forward]")
        page.wait_for_selector(f"#step[data-at='{at}']")
    page.wait_for_selector("#tree svg")


def tree(page: Page) -> None:
    page.select_option("#word-tokenizer", index=1)
    page.fill("#word", "tokenization of the cat")
    page.wait_for_selector("#tree svg")
    page.wait_for_timeout(500)
    page.locator("#word").scroll_into_view_if_needed()
    page.evaluate("window.scrollTo(0, document.body.scrollHeight)")


def unicode(page: Page) -> None:
    page.wait_for_selector("#hex-parts tr.bad")


# Name, view, what to do, theme, size, language.
SHOTS = (
    ("tokens", "tokens", tokens, "light", DESKTOP, "en"),
    ("tokens-phone", "tokens", tokens, "light", PHONE, "zh"),
    ("compare", "compare", compare, "light", DESKTOP, "en"),
    ("learn", "learn", learn, "light", DESKTOP, "en"),
    ("tree", "learn", tree, "dark", DESKTOP, "en"),
    ("unicode", "unicode", unicode, "light", {"width": 1200, "height": 560}, "en"),
)


def main() -> None:
    browser_path = shutil.which("chromium") or shutil.which("google-chrome")
    if browser_path is None:
        sys.exit("no Chromium: make chromium installs it on Debian")
    PICTURES.mkdir(exist_ok=True)
    command = [sys.executable, "-c", "from subword.cli import main; main()", "playground"]
    with subprocess.Popen(  # noqa: S603 - this very Python
        [*command, "--no-browser", "--port", "0"], stdout=subprocess.PIPE, text=True
    ) as server:
        try:
            url = server.stdout.readline().strip() if server.stdout else ""
            with sync_playwright() as driver:
                browser = driver.chromium.launch(
                    executable_path=browser_path, args=["--no-sandbox"]
                )
                for name, view, act, theme, size, language in SHOTS:
                    page = browser.new_page(viewport=size, color_scheme=theme, locale=language)
                    page.goto(f"{url}#{view}")
                    page.wait_for_selector("html[data-ready]", state="attached")
                    act(page)
                    page.screenshot(path=PICTURES / f"{name}.png")
                    page.close()
                browser.close()
        finally:
            server.terminate()


if __name__ == "__main__":
    main()

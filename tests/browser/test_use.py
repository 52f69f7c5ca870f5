"""The page for everybody: keyboard, contrast, phones, languages, long and hostile texts."""

import json
from typing import Any

import pytest

from subword.playground.builtin import builtin_entries

VIEWS = ("tokens", "compare", "learn", "unicode")
TOK = builtin_entries()[0].tokenizer


def fill_and_wait(page: Any, text: str) -> None:
    """Paste a text, and wait until its counts are shown."""
    page.evaluate(
        """text => {
            const element = document.querySelector("#text");
            element.value = text;
            element.dispatchEvent(new InputEvent("input", {bubbles: true}));
        }""",
        text,
    )
    n_bytes = len(text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace").encode())
    page.wait_for_function(
        "n => document.querySelector('#n-bytes').textContent.replaceAll(',', '') === String(n)",
        arg=n_bytes,
        timeout=60_000,
    )


def active(page: Any) -> int:
    """Give the place of the token that the arrow keys are at."""
    return int(page.get_attribute("#flow .t.on", "aria-posinset")) - 1


def paste(page: Any, text: str) -> None:
    """Paste as people do, over all that is there."""
    page.evaluate("text => navigator.clipboard.writeText(text)", text)
    page.focus("#text")
    page.keyboard.press("Control+A")
    page.keyboard.press("Control+V")


def test_everything_is_reached_by_the_keyboard(open_page: Any) -> None:
    page = open_page("#tokens")
    page.wait_for_selector("#flow .t")
    reached = []
    for _ in range(40):
        page.keyboard.press("Tab")
        reached.append(
            page.evaluate(
                "(document.activeElement.id || document.activeElement.dataset.view"
                " || document.activeElement.textContent)"
            )
        )
        if reached[-1] == "flow":
            break
    assert {"compare", "learn", "unicode", "language", "theme", "tok-select", "special", "copy-ids",
            "copy-link", "text", "flow"} <= set(reached)  # fmt: skip
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    assert active(page) == 2
    page.wait_for_selector("#details dl")
    page.keyboard.press("End")
    last = len(TOK.encode(page.input_value("#text"))) - 1
    assert active(page) == last
    page.keyboard.press("ArrowUp")
    assert active(page) < last
    page.keyboard.press("Home")
    assert page.get_attribute("#flow", "aria-activedescendant") == "flow-active"
    page.keyboard.press("Escape")
    assert page.locator("#flow .t.on").count() == 0


def test_a_training_by_the_keyboard_alone(open_page: Any) -> None:
    page = open_page("#tokens")
    for _ in range(10):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.dataset.view") == "learn":
            break
    page.keyboard.press("Enter")
    page.wait_for_selector("#step #sequence")
    for _ in range(40):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.dataset.step") == "forward":
            break
    page.keyboard.press("Enter")
    page.wait_for_selector("#step[data-at='1']")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowRight")
    page.wait_for_selector("#step[data-at='2']")


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("view", VIEWS)
def test_contrast_and_names_hold_in_both_themes(open_page: Any, view: str, theme: str) -> None:
    axe = pytest.importorskip(
        "axe_playwright_python.sync_playwright", reason="axe is not installed"
    )
    lines = "?text=English%09the%20cat%0ADeutsch%09die%20Katze%20%C3%A9"
    page = open_page(f"#{view}{lines if view == 'compare' else ''}", color_scheme=theme)
    if view == "tokens":
        fill_and_wait(page, "the cat <|endoftext|> é 你\n\x00")
        page.focus("#flow")
        page.wait_for_selector("#details dl")
    if view == "learn":
        page.wait_for_selector("#step #sequence")
        page.click("#player [data-step=to_end]")
        page.wait_for_selector("#tree svg")
    if view == "compare":
        page.wait_for_selector("#lines tbody tr")
    if view == "unicode":
        page.wait_for_selector("#hex-parts tr.bad")
    violations = axe.Axe().run(page).response["violations"]
    assert [(one["id"], [node["html"][:200] for node in one["nodes"]]) for one in violations] == []


@pytest.mark.parametrize("view", VIEWS)
def test_nothing_is_wider_than_a_phone(open_page: Any, view: str) -> None:
    page = open_page(f"#{view}", width=360)
    if view == "compare":
        page.click("#parallel")
        page.wait_for_selector("#lines tbody tr")
    if view == "learn":
        page.wait_for_selector("#tree svg")
    assert page.evaluate("document.documentElement.scrollWidth") <= 360


def test_every_text_is_there_in_chinese(open_page: Any) -> None:
    page = open_page("#tokens", locale="zh-CN")
    page.wait_for_selector("#flow .t")
    assert page.get_attribute("html", "lang") == "zh-CN"
    english = set(
        page.evaluate("import('/static/words.js').then(words => Object.keys(words.english))")
    )
    chinese = set(
        page.evaluate("import('/static/words.js').then(words => Object.keys(words.chinese))")
    )
    same = {"lesson_cat", "lesson_aaa", "pattern_gpt2", "pattern_cl100k", "pattern_o200k"}
    assert english - chinese == same
    assert chinese <= english
    for view, word in (("tokens", "复制编号"), ("compare", "添加分词器"), ("learn", "编码一个词")):
        page.click(f"nav [data-view={view}]")
        assert word in page.inner_text("main")
    page.click("#language")
    assert page.get_attribute("html", "lang") == "en"
    assert "Encode a word" in page.inner_text("main")


def test_the_theme_button_goes_round(open_page: Any) -> None:
    page = open_page("#tokens", color_scheme="light")
    grounds = []
    for _ in range(3):
        page.click("#theme")
        grounds.append(page.evaluate("getComputedStyle(document.documentElement).backgroundColor"))
    assert grounds[0] == grounds[2] != grounds[1]


def test_a_megabyte_is_shown_block_by_block(open_page: Any) -> None:
    page = open_page("#tokens")
    page.wait_for_selector("#flow .t")
    line = "The cat sat on the mat, and 你好 was said to it 1,000 times.\n"
    text = line * (1_000_000 // len(line.encode()) + 1)
    n_tokens = TOK.count_tokens(text)
    paste(page, text)
    page.wait_for_function(
        "n => document.querySelector('#n-tokens').textContent.replaceAll(',', '') === String(n)",
        n_tokens,
    )
    assert n_tokens > 200_000
    assert f"{len(text):,} characters" in page.inner_text("#view-tokens .long")
    assert len(page.input_value("#text")) < 3_000
    assert 0 < page.locator("#flow .t").count() < 5_000
    page.focus("#flow")
    page.keyboard.press("End")
    page.wait_for_function(f"document.querySelector('#flow .t.on')?.ariaPosInSet === '{n_tokens}'")
    assert page.locator("#flow .t").count() < 8_000
    page.click("#view-tokens .long button")
    page.keyboard.type("the")
    page.wait_for_function("document.querySelector('#n-tokens').textContent === '1'")


HOSTILE = {
    "markup": "<script>alert(1)</script><img src=x onerror=alert(1)><b>&amp;</b>\"'`${1}",
    "a link that runs": "javascript:alert(1) data:text/html,<script>alert(1)</script>",
    "overrides": "a\u202e\u2067\u2066\u200f\u200e\u2069\u202cb",
    "controls": "".join(map(chr, range(32))) + "\x7f\x80\x9f",
    "byte order": "\ufeff\ufffe\uffff",
    "emoji": "👩\u200d👩\u200d👧\u200d👦🏴\U000e0067\U000e0062\U000e007f",
    "templates": "{tokens} {{n}} %s $& $1 \\x41 \\u0041",
    "prototype": "__proto__ constructor toString",
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_hostile_text_is_text(open_page: Any, text: str) -> None:
    page = open_page("#tokens")
    page.wait_for_selector("#flow .t")
    # A text area turns a carriage return into a line feed, as HTML has it.
    text = text.replace("\r", "\n")
    fill_and_wait(page, text)
    assert int(page.inner_text("#n-tokens")) == len(TOK.encode(text))
    assert page.locator("#flow script, #flow img, #flow b").count() == 0
    for view in VIEWS[1:]:
        page.click(f"nav [data-view={view}]")
        page.wait_for_selector(f"#view-{view}:not([hidden])")
    page.fill("#unicode-text", text)
    page.wait_for_function(
        "n => document.querySelectorAll('#characters tbody tr').length === n", arg=len(text)
    )
    page.click("nav [data-view=learn]")
    page.fill("#lesson-text", text)
    page.wait_for_selector("#step #sequence")
    assert page.locator("#step script, #step img, #step b, #tree script").count() == 0


def test_lone_surrogates_become_replacement_characters(open_page: Any) -> None:
    page = open_page("#tokens")
    page.wait_for_selector("#flow .t")
    page.evaluate(
        """() => {
            const element = document.querySelector("#text");
            element.value = "a\\ud800b\\udc00";
            element.dispatchEvent(new InputEvent("input", {bubbles: true}));
        }"""
    )
    page.wait_for_function("document.querySelector('#n-bytes').textContent === '8'")
    page.click("#copy-ids")
    page.wait_for_function("document.querySelector('#copy-ids').textContent === 'Copied'")
    ids = json.loads(page.evaluate("navigator.clipboard.readText()"))
    assert TOK.decode(ids) == "a\ufffdb\ufffd"


def test_a_hundred_thousand_combining_marks(open_page: Any) -> None:
    page = open_page("#tokens")
    page.wait_for_selector("#flow .t")
    text = "e" + "\u0301" * 100_000
    paste(page, text)
    page.wait_for_function(
        "n => document.querySelector('#n-tokens').textContent.replaceAll(',', '') === String(n)",
        TOK.count_tokens(text),
    )
    page.click("#view-tokens .long button")
    fill_and_wait(page, "still here")


def test_a_text_over_the_limit_is_refused_in_words(open_page: Any) -> None:
    page = open_page("#tokens")
    page.wait_for_selector("#flow .t")
    paste(page, "a text\n" * 300_000)
    page.wait_for_selector("#problem:not([hidden])")
    assert "2,100,000 bytes" in page.inner_text("#problem")
    page.click("#view-tokens .long button")
    fill_and_wait(page, "short")
    assert page.is_hidden("#problem")

"""The page does what the library does: typed, clicked and read in a real browser."""

import json
from typing import Any

import pytest

import subword
from subword.playground.builtin import builtin_entries

ENTRIES = builtin_entries()
TOK = ENTRIES[0].tokenizer
TEXT = "The café's cat 你好 sat.\n\tnaïve 👩‍👩‍👧 <|endoftext|> end"


def shown(page: Any, act: Any, box: str = "#flow") -> None:
    """Do something, and wait until the page shows what came of it."""
    before = page.get_attribute(box, "data-shown") or "0"
    act()
    page.wait_for_function(
        "([box, before]) => (document.querySelector(box).dataset.shown ?? '0') !== before",
        arg=[box, before],
    )


def write(page: Any, text: str, area: str = "#text", box: str = "#flow") -> None:
    """Put a text in at once, as pasting does."""
    shown(
        page,
        lambda: page.evaluate(
            """([area, text]) => {
                const element = document.querySelector(area);
                element.value = text;
                element.dispatchEvent(new InputEvent("input", {bubbles: true}));
            }""",
            [area, text],
        ),
        box,
    )


def tokens(page: Any, box: str = "#flow") -> list[str]:
    return page.locator(f"{box} .t").all_text_contents()


def settled(page: Any) -> None:
    page.wait_for_function("Number(document.querySelector('#flow').dataset.shown) > 0")


def count(page: Any, name: str) -> int:
    return int(page.inner_text(f"#{name}").replace(",", ""))


def copied(page: Any) -> str:
    return page.evaluate("navigator.clipboard.readText()")


@pytest.mark.parametrize("at", range(len(ENTRIES)), ids=[entry.name for entry in ENTRIES])
def test_ids_and_counts_are_the_librarys(open_page: Any, at: int) -> None:
    page = open_page("#tokens")
    settled(page)
    if at:
        shown(page, lambda: page.select_option("#tok-select", str(at)))
    write(page, TEXT)
    expected = ENTRIES[at].tokenizer.encode(TEXT)
    page.click("#copy-ids")
    page.wait_for_function("document.querySelector('#copy-ids').textContent === 'Copied'")
    assert json.loads(copied(page)) == expected
    assert count(page, "n-tokens") == len(expected)
    assert count(page, "n-characters") == len(TEXT)
    assert count(page, "n-bytes") == len(TEXT.encode())
    assert page.inner_text("#ratio") == f"{len(TEXT.encode()) / len(expected):.2f}"
    assert len(tokens(page)) == len(expected)


def test_typing_shows_each_token_in_its_place_and_colours_alternate(open_page: Any) -> None:
    page = open_page("#tokens")
    settled(page)
    write(page, "")
    assert tokens(page) == []
    page.focus("#text")
    shown(page, lambda: page.keyboard.type("the cat"))
    page.wait_for_function("document.querySelectorAll('#flow .t').length === 2")
    assert tokens(page) == ["the", " cat"]
    backgrounds = page.eval_on_selector_all(
        "#flow .t", "all => all.map(one => getComputedStyle(one).backgroundColor)"
    )
    assert len(set(backgrounds)) == 2
    assert "rgba(0, 0, 0, 0)" not in backgrounds


def test_what_has_no_ink_is_made_visible_and_partial_characters_are_bytes(open_page: Any) -> None:
    page = open_page("#tokens")
    settled(page)
    shown(page, lambda: page.select_option("#tok-select", str(len(ENTRIES) - 1)))
    write(page, "a b\n\t\x00é")
    assert tokens(page) == ["a", " ", "b", "↵\n", "→\t", "NUL", "C3", "A9"]


def test_the_switch_makes_special_tokens_text(open_page: Any) -> None:
    page = open_page("#tokens")
    settled(page)
    write(page, "a<|endoftext|>")
    assert page.locator("#flow .t.special").all_text_contents() == ["<|endoftext|>"]
    page.focus("#special")
    shown(page, lambda: page.keyboard.press("Space"))
    assert page.locator("#flow .t.special").count() == 0
    assert count(page, "n-tokens") == len(TOK.encode("a<|endoftext|>", special="as_text"))
    assert "special=0" in page.evaluate("new Promise(r => setTimeout(() => r(location.hash), 600))")


def test_the_details_of_a_token_are_the_librarys(open_page: Any) -> None:
    page = open_page("#tokens")
    settled(page)
    write(page, "the cat")
    page.hover("#flow .t >> nth=1")
    page.wait_for_selector("#details dl")
    said = page.inner_text("#details")
    token_id = TOK.encode("the cat")[1]
    rank = TOK.merges.index((b" c", b"at"))
    assert str(token_id) in said
    assert "20 63 61 74" in said
    assert f"{rank}" in said
    assert "U+0063" in said
    assert "LATIN SMALL LETTER C" in said
    drawn = page.locator("#details svg g.root text, #details svg g.node text:first-of-type")
    labels = drawn.evaluate_all("all => all.map(one => one.textContent)")
    assert {"␣cat", "␣c", "at", "c", "a", "t"} <= set(labels)


def test_ids_in_any_notation_are_decoded(open_page: Any) -> None:
    page = open_page("#tokens", refusals=True)
    settled(page)
    ids = TOK.encode(TEXT)
    shown(page, lambda: page.check("[value=ids]", force=True))
    write(page, f"[{', '.join(map(str, ids))}]", "#id-list")
    assert page.inner_text("#decoded-text") == TOK.decode(ids)
    write(page, " ".join(map(str, ids[:3])) + ";" + str(ids[3]), "#id-list")
    assert page.text_content("#decoded-text") == TOK.decode(ids[:4])
    page.fill("#id-list", "1, two")
    page.wait_for_selector("#problem:not([hidden])")
    assert "two" in page.inner_text("#problem")
    page.fill("#id-list", "1 4000000000")
    page.wait_for_function("document.querySelector('#problem').textContent.includes('4000000000')")


def test_a_link_brings_the_view_back(open_page: Any) -> None:
    page = open_page("#tokens")
    settled(page)
    write(page, "käse & 100% + #?")
    shown(page, lambda: page.select_option("#tok-select", "1"))
    page.click("#copy-link")
    page.wait_for_function("document.querySelector('#copy-link').textContent === 'Copied'")
    again = open_page("#" + copied(page).split("#", 1)[1])
    settled(again)
    assert again.input_value("#text") == "käse & 100% + #?"
    assert again.input_value("#tok-select") == "1"


def test_two_tokenizers_side_by_side(open_page: Any) -> None:
    page = open_page("#compare")
    page.wait_for_selector("#card-1[data-shown]")
    text = "tokenization of 1984"
    write(page, text, "#compare-text", "#card-1")
    first, second = (ENTRIES[at].tokenizer.encode_spans(text) for at in (0, 1))
    assert len(tokens(page, "#card-0")) == len(first)
    assert len(tokens(page, "#card-1")) == len(second)
    ends = [{end for _, end in encoding.byte_spans} for encoding in (first, second)]
    assert page.locator("#card-1 .t.edge").count() == len(ends[1] - ends[0])
    assert f"{len(ends[0] & ends[1])} of {len(ends[0] | ends[1])}" in page.inner_text("#shared")
    page.click("#add-tokenizer")
    page.wait_for_selector("#card-2[data-shown]")
    page.click("#add-tokenizer")
    page.wait_for_selector("#card-3[data-shown]")
    assert page.is_disabled("#add-tokenizer")
    write(page, "byte", "#compare-text", "#card-3")
    assert len(tokens(page, "#card-3")) == ENTRIES[3].tokenizer.count_tokens("byte")


def test_parallel_lines_are_counted_relative_to_english(open_page: Any) -> None:
    page = open_page("#compare")
    page.wait_for_selector("#card-1[data-shown]")
    write(page, "Deutsch\tdie Katze\nEnglish\tthe cat\n中文\t猫", "#compare-text", "#card-1")
    page.wait_for_function("document.querySelectorAll('#lines tbody tr').length === 3")
    rows = page.locator("#lines tbody tr").all_inner_texts()
    n_tokens = [TOK.count_tokens(text) for text in ("die Katze", "the cat", "猫")]
    for row, n in zip(rows, n_tokens, strict=True):
        assert str(n) in row
        assert f"({n / n_tokens[1]:.2f}×)" in row


def forward(page: Any, at: int) -> None:
    page.click("#player [data-step=forward]")
    page.wait_for_function(f"document.querySelector('#step').dataset.at === '{at}'")


def symbols(page: Any) -> list[str]:
    return page.locator("#sequence .chip").all_text_contents()


def test_the_cat_in_the_hat_step_by_step(open_page: Any) -> None:
    page = open_page("#learn")
    page.click("[data-lesson=cat]")
    page.wait_for_selector("#step[data-at='0'] #sequence")
    assert symbols(page) == list("the cat in the hat")
    expected = subword.trace.bpe("the cat in the hat", n_merges=5, pattern="none", ties="first")
    for at, step in enumerate(expected.steps, start=1):
        forward(page, at)
        assert symbols(page) == [symbol.decode() for symbol in step.words[0].symbols]
        assert page.locator("#pairs tr.chosen .chip").all_text_contents() == [
            symbol.decode() for symbol in step.chosen.pair
        ]
        assert page.locator("#pairs tr.tied").count() == step.n_tied - 1
    assert page.locator("#merge-list li").count() == 5
    assert [step.merged for step in expected.steps[:3]] == [b"th", b"the", b"the "]
    assert "the pair seen first" in page.inner_text("#why")
    page.click("#player [data-step=back]")
    page.wait_for_selector("#step[data-at='4']")
    assert symbols(page) == [symbol.decode() for symbol in expected.steps[3].words[0].symbols]


def choose_lesson(page: Any, lesson: str) -> None:
    """Wait until it is there: the one before is at step 0 too, and its player would be pressed."""
    page.wait_for_load_state("networkidle")
    with page.expect_response("**/api/learn"):
        page.click(f"[data-lesson={lesson}]")
    page.wait_for_load_state("networkidle")
    page.wait_for_selector("#step[data-at='0']")


def test_play_goes_to_the_end_and_pause_stops(open_page: Any) -> None:
    page = open_page("#learn")
    # Of a dozen steps: it is not at the end before it is stopped.
    choose_lesson(page, "low")
    page.click("#player [data-step=play]")
    page.wait_for_function("Number(document.querySelector('#step').dataset.at) >= 1")
    page.click("#player [data-step=play]")
    assert page.inner_text("#player [data-step=play]") == "Play"
    stopped_at = page.get_attribute("#step", "data-at")
    page.wait_for_timeout(1_500)
    assert page.get_attribute("#step", "data-at") == stopped_at
    choose_lesson(page, "aaa")
    page.click("#player [data-step=play]")
    page.wait_for_selector("#step[data-at='3']")
    assert symbols(page) == ["aaab", "d", "aaab", "a", "c"] or len(symbols(page)) == 5
    page.wait_for_function(
        "document.querySelector('#player [data-step=play]').textContent === 'Play'"
    )


@pytest.mark.parametrize(("lesson", "seen"), [("low", "w</w>"), ("hug", "##s"), ("unigram", "hug")])
def test_every_algorithm_can_be_stepped_through(open_page: Any, lesson: str, seen: str) -> None:
    page = open_page("#learn")
    page.click(f"[data-lesson={lesson}]")
    page.wait_for_function(
        "seen => [...document.querySelectorAll('#step .chip')].some(one => one.textContent === seen)"
        " || document.querySelector('#player [data-step=to_end]').disabled === false",
        arg=seen,
    )
    page.click("#player [data-step=to_end]")
    page.wait_for_function(
        "seen => [...document.querySelectorAll('#step .chip')].some(one => one.textContent === seen)",
        arg=seen,
    )


def test_a_word_is_encoded_as_a_tree(open_page: Any) -> None:
    page = open_page("#learn")
    page.select_option("#word-tokenizer", ENTRIES[0].name)
    page.fill("#word", "tokenization")
    expected = subword.trace.encode(TOK, "tokenization")
    page.wait_for_function(
        "ids => document.querySelector('#tree-ids')?.textContent === ids",
        arg=f"[{', '.join(map(str, expected.ids))}]",
    )
    roots = page.locator("#tree g.root text:first-of-type").evaluate_all(
        "all => all.map(one => one.textContent)"
    )
    assert roots == [token.decode() for token in expected.tokens]
    page.click("#word-player [data-step=to_start]")
    page.wait_for_function("document.querySelectorAll('#tree g.root').length === 12")
    page.click("#word-player [data-step=forward]")
    left, right = expected.parts[0].merges[0].pair
    page.wait_for_function(
        "said => document.querySelector('#merge-said').textContent.includes(said)",
        arg=f"{left.decode()} + {right.decode()}",
    )


def test_characters_and_bytes(open_page: Any) -> None:
    page = open_page("#unicode")
    page.fill("#unicode-text", "é𝄞")
    page.wait_for_function("document.querySelectorAll('#characters tbody tr').length === 2")
    rows = page.locator("#characters tbody tr").all_inner_texts()
    assert "U+00E9\tLATIN SMALL LETTER E WITH ACUTE\tC3 A9\t00E9\t000000E9" in rows[0]
    assert "U+1D11E\tMUSICAL SYMBOL G CLEF\tF0 9D 84 9E\tD834 DD1E\t0001D11E" in rows[1]
    page.fill("#hex", "41 c3a9 80 e5 96")
    page.wait_for_function(  # the sample that is there before has as many parts
        "document.querySelector('#hex-parts').textContent.includes('end within a character')"
    )
    assert "not valid" in page.inner_text("#hex-note")
    rows = page.locator("#hex-parts tbody tr").all_inner_texts()
    assert "no character starts with this byte" in rows[2]
    assert "the bytes end within a character" in rows[3]
    page.fill("#hex", "e5969c")
    page.wait_for_function("document.querySelectorAll('#hex-parts tbody tr').length === 1")
    assert page.inner_text("#hex-note") == "3 bytes, valid UTF-8."


def test_edits_anywhere_leave_what_a_fresh_page_would_show(open_page: Any) -> None:
    page = open_page("#tokens")
    settled(page)
    text = "".join(
        f"{at} the cat sat on the mat, and then there were {at * 7}\n" for at in range(25)
    )
    write(page, text)
    edits = (
        (1000, "naïve "),
        (0, "\n"),
        (900, "\n\n"),
        (1100, "tokenization " * 9),
        (len(text), "end"),
    )
    for place, added in edits:
        text = text[:place] + added + text[place:]
        write(page, text)
        expected = TOK.encode_spans(text)
        seen = "".join(tokens(page)).replace("↵", "")
        assert seen == text.replace("ï", "C3AF")
        assert len(tokens(page)) == len(expected)
    text = text[:500] + text[1000:]
    write(page, text)
    assert len(tokens(page)) == len(TOK.encode(text))

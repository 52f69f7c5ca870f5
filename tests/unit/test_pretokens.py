import json
import os
import subprocess
import sys
import unicodedata
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from subword import _core
from subword.errors import PatternError
from subword.patterns import NAMED_PATTERNS, resolve_pattern
from subword.reference import pretokens as twin

GOLDEN = Path(__file__).parents[1] / "golden"
NAMES = sorted(NAMED_PATTERNS)


def by_masks(text: bytes, pattern: tuple[str, ...]) -> list[bytes]:
    return _core.split(text, list(pattern))


def by_engine(text: bytes, pattern: tuple[str, ...]) -> list[bytes]:
    return _core.split(text, list(pattern), engine=True)


ENGINES = {"masks": by_masks, "engine": by_engine, "twin": twin.split}


def read_cases() -> list[Any]:
    lines = (GOLDEN / "pretokens.jsonl").read_text(encoding="utf-8").splitlines()
    return [pytest.param(case, id=case["name"]) for case in map(json.loads, lines)]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("case", read_cases())
def test_golden(case: dict[str, Any], engine: str) -> None:
    pattern = resolve_pattern(case["pattern"])
    if "hex" in case:
        text = bytes.fromhex(case["hex"])
        expected = [bytes.fromhex(pretoken) for pretoken in case["pretokens"]]
    else:
        text = case["text"].encode()
        expected = [pretoken.encode() for pretoken in case["pretokens"]]
    assert ENGINES[engine](text, pattern) == expected


# Whitespace of every kind, and what is taken for it elsewhere (U+001C to U+001F, U+200B, U+FEFF).
SPACES = " \n\r\t\v\f\x1c\x1d\x1e\x1f\x85\xa0\u1680\u2000\u2007\u2028\u2029\u202f\u205f\u3000\u200b\ufeff"
DIGITS = "019\xb2\xbd\u0660\u0969\u0e59\u2167\u3007\u3021\uff11\U0001d7d8\U0001f101"
LETTERS = "azAZ\xe9\xdf\u017f\u212a\u01c5\u02b0\xaa\u0416\u05d0\u4e00\u9fa5\uac00\u3042\u30ff\U00010400\U0001d400\U00020000"
MARKS = "\u0301\u0345\u0903\u094d\u20dd\ufe0f\U000e0100"
OTHERS = (
    "'!\"#/_-+$|~\u20ac\xab\u2019\u3002\uff0c\u200d\U0001f600\u0378\ue000\U0010ffff\ufffd\x00\x7f"
)
CONTRACTIONS = [
    "'s",
    "'S",
    "'\u017f",
    "'ll",
    "'lL",
    "'l",
    "'re",
    "'rE",
    "'ve",
    "'d",
    "'m",
    "'t",
    "''s",
    "'sa",
]

# What a pattern treats alike and another cuts: case, han and kana, slashes behind newlines.
WORDS = [
    "aB", "AB", "ABc", "\u4e2dAB", "\u4e2dABc", "a\u4e2dB", "AB\u4e2d", "\u01c5a", "\u0301A", "a's\u4e2dB", "A'sB",
    "!\n/", "!\n//a", "!\n/!", "//\n/\n", " /\n/ ", "!\u0301a", "!!\u0301a", " !\u0301", "!\n\u0301", "!\n/\u0301",
    "\u309b\u4e2d", "!\u30fb!a", "\u30fb\n", "\u3099a", "\u3097\u4e2d", "\x00\x00a", "\x00\u4e2d", "!a\xe9", "!abc", " \u4e2d", "  1",
]  # fmt: skip

characters = st.sampled_from(SPACES + DIGITS + LETTERS + MARKS + OTHERS) | st.characters(
    exclude_categories=["Cs"]
)
runs = st.tuples(characters | st.sampled_from(SPACES + "a1'!"), st.integers(1, 70)).map(
    lambda run: run[0] * run[1]
)
# Bytes of no character: lone continuations, cut characters, surrogates, what is past U+10FFFF.
broken = st.sampled_from(
    [b"\x80", b"\xbf\xbf", b"\xc3", b"\xe2\x80", b"\xe3\x80", b"\xf0\x9f\x98", b"\xc0\x80"]
    + [b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xff", b"\xfe"]
)
parts = st.one_of(
    characters.map(str.encode),
    st.sampled_from(CONTRACTIONS).map(str.encode),
    st.sampled_from(WORDS).map(str.encode),
    runs.map(str.encode),
    st.text(characters, max_size=8).map(str.encode),
    broken,
)
texts = st.lists(parts, max_size=12).map(b"".join)


@given(texts, st.sampled_from(NAMES))
def test_masks_and_engine_and_twin_agree(text: bytes, name: str) -> None:
    pattern = resolve_pattern(name)
    pretokens = by_masks(text, pattern)
    assert pretokens == by_engine(text, pattern)
    assert pretokens == twin.split(text, pattern)
    assert b"".join(pretokens) == text


@given(
    st.integers(0, 140),
    st.sampled_from(["a", " ", "1", "'", "!", "\n", "\xe9", "\u4e00", "\U0001f600"]),
    st.sampled_from(["a", " ", "1", "!", "\u3000", ""]),
    st.sampled_from([*CONTRACTIONS, "  ", " \u3000", "\r\n", "\u0301", "12345"]),
    st.sampled_from(["", "a", "s", "ll", " ", "1", "\u4e00", "'", "'re", "\n"]),
    st.sampled_from(NAMES),
)
def test_what_stands_at_the_border_of_a_block_is_cut_alike(
    n: int, filler: str, before: str, middle: str, after: str, name: str
) -> None:
    text = (filler * n + before + middle + after).encode()
    pattern = resolve_pattern(name)
    assert by_masks(text, pattern) == by_engine(text, pattern) == twin.split(text, pattern)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("filler", ["a", " ", ".", "1", "\n"])
def test_every_contraction_and_word_at_every_place_of_a_block(name: str, filler: str) -> None:
    pattern = resolve_pattern(name)
    cases = (
        filler * n + middle + after
        for middle in CONTRACTIONS + WORDS
        for n in range(54, 66)
        for after in ["x 's", "\u4e2dA'll"]
    )
    # Each case begins where a block begins: the border stands at its 64th byte.
    text = b"".join(case.encode().ljust(128, b"!") for case in cases)
    assert by_masks(text, pattern) == by_engine(text, pattern)


def code_points(stride: int) -> list[str]:
    """All of Unicode; of the great blocks of letters and of what is not assigned one in ``stride``."""
    points = (chr(point) for point in range(0x110000) if not 0xD800 <= point <= 0xDFFF)
    ordinary = ("Lo", "Cn", "Co")
    return [c for c in points if ord(c) % stride == 0 or unicodedata.category(c) not in ordinary]


@pytest.mark.parametrize("name", NAMES)
def test_masks_and_engine_and_twin_agree_on_all_of_unicode(name: str, slow: bool) -> None:
    pattern = resolve_pattern(name)
    points = code_points(1 if slow else 61)
    for start in range(0, len(points), 1 << 14):
        text = "".join(
            f"a{c}1{c}{c} {c}'{c}s.{c}\n{c}" for c in points[start : start + (1 << 14)]
        ).encode()
        pretokens = by_masks(text, pattern)
        assert pretokens == by_engine(text, pattern)
        assert pretokens == twin.split(text, pattern)


@pytest.mark.parametrize("name", NAMES)
def test_a_cpu_without_avx2_gives_the_same(name: str) -> None:
    text = "".join(map(chr, range(0x20, 0x3100))) + "".join(CONTRACTIONS + WORDS)
    code = (
        "import sys; from subword import _core; from subword.patterns import NAMED_PATTERNS\n"
        f"text = sys.stdin.buffer.read(); pattern = list(NAMED_PATTERNS[{name!r}])\n"
        "print([len(pretoken) for pretoken in _core.split(text, pattern)])"
    )
    environment = os.environ | {"SUBWORD_PORTABLE": "1"}
    command = [sys.executable, "-c", code]
    done = subprocess.run(
        command, input=text.encode(), capture_output=True, check=True, env=environment
    )
    pretokens = by_masks(text.encode(), resolve_pattern(name))
    assert json.loads(done.stdout) == [len(pretoken) for pretoken in pretokens]


EXPRESSIONS = [
    "a", "b*", r"\d|", " ?[ab]+", r"\s+(?!\S)", "(?<=a)b", "$", "^", "|a", r"\b", r"\B", "a{2,3}+",
    "a?+a", "(?i)A|b ", r"[^ab]", "(?=b)", "(a)\\1", r"\w+?", "()", "a{0}", "b++|a", r"(?:a|ab)(?:c|bcd)*",
]  # fmt: skip


@given(
    st.text("aabbcd1 '\n\u4e00\u0301", max_size=30).map(str.encode) | texts,
    st.lists(st.sampled_from(EXPRESSIONS), max_size=4),
)
def test_any_pattern_keeps_gaps_and_ignores_empty_matches(text: bytes, pattern: list[str]) -> None:
    pretokens = _core.split(text, pattern)
    assert b"".join(pretokens) == text
    assert all(pretokens)
    assert pretokens == twin.split(text, tuple(pattern))


@pytest.mark.parametrize(
    ("pattern", "text", "expected"),
    [
        # A possessive repeat gives nothing back; read as a repeat of a repeat it would.
        ("a{2,3}+a", "aaa", ["aaa"]),
        ("a{2,3}+a", "xaaaax", ["x", "aaaa", "x"]),
        ("xa{2,3}+a", "xaaa", ["xaaa"]),
        ("a*+ab", "aab", ["aab"]),
        ("a++b", "aab", ["aab"]),
        ("(?:ab){1,2}+", "ababab", ["abab", "ab"]),
        (r"[+]+", "++a", ["++", "a"]),
        (r"\++", "++a", ["++", "a"]),
        # Braces of a code point are no repeat, so the plus behind them is one.
        (r"\x{12}+", "\x12\x12a", ["\x12\x12", "a"]),
        (r"\x{3000}+|a", "\u3000\u3000a", ["\u3000\u3000", "a"]),
        (r"\x{61}+ab", "aaab", ["aaab"]),
    ],
)
def test_possessive_repeats(pattern: str, text: str, expected: list[str]) -> None:
    pieces = [piece.encode() for piece in expected]
    assert _core.split(text.encode(), [pattern]) == pieces
    assert twin.split(text, (pattern,)) == pieces


def test_a_possessive_repeat_keeps_what_it_took() -> None:
    # `a{2,3}+a` cannot match in "aaa" (all three are kept), so "aaa" is a gap; `b` cuts after it.
    assert _core.split(b"aaab", ["a{2,3}+a|b"]) == [b"aaa", b"b"]
    assert _core.split(b"aaab", ["a{2,3}a|b"]) == [b"aaa", b"b"]
    assert _core.split(b"aab", ["a{2,3}+ab|b"]) == [b"aa", b"b"]
    assert _core.split(b"aab", ["a{1,3}ab|b"]) == [b"aab"]


def test_several_patterns_apply_in_turn() -> None:
    # The second sees no further than a piece of the first: `a` at the end of one is no `ab`.
    assert _core.split(b"xa1bab", [r"\d", "ab|x"]) == [b"x", b"a", b"1", b"b", b"ab"]
    deepseek = list(resolve_pattern("deepseek"))
    assert _core.split("中文1234ab。".encode(), deepseek) == [
        "中文".encode(), b"123", b"4", b"ab", "。".encode(),
    ]  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "unit", ["a", " ", "\n", "1", "'", "!", "\u4e00", "\u0301", "\U0001f600", "A\u4e00", b"\xff"]
)
def test_a_megabyte_of_one_character(name: str, unit: str | bytes) -> None:
    unit = unit.encode() if isinstance(unit, str) else unit
    text = unit * (1_000_000 // len(unit))
    pretokens = by_masks(text, resolve_pattern(name))
    assert b"".join(pretokens) == text
    assert pretokens == by_engine(text, resolve_pattern(name))


@pytest.mark.parametrize("name", NAMES)
def test_a_megabyte_of_spaces_between_letters(name: str) -> None:
    text = b"a" + b" " * 1_000_000 + b"b"
    pretokens = by_masks(text, resolve_pattern(name))
    assert b"".join(pretokens) == text
    assert len(pretokens) <= 4


def test_nested_repeats_are_linear() -> None:
    text = b"a" * 24 + b"b"
    assert _core.split(text, ["(a+)+$"]) == [text]
    assert _core.split(b"b" + b"a" * 100_000, ["(a+)+$"]) == [b"b", b"a" * 100_000]


@pytest.mark.parametrize("pattern", [r"(a*)*\1b", r"(a|aa)+(?!.)", r"(?=a)(a?){30}a{30}(?!a|b)"])
def test_backtracking_past_the_step_limit_is_refused(pattern: str) -> None:
    with pytest.raises(PatternError, match="steps"):
        _core.split(b"a" * 40 + b"c", [pattern])


@pytest.mark.parametrize(
    "bad",
    [
        "(", ")", "[a", "[", "[]", "*a", "a{3,2}", "(?P<n>", r"\p{Nonsense}", "[z-a]", r"\x{110000}",
        "(?<=a", "(?", "\\", "(?=b)a{3,2}", r"a\{|[a{3,2}]{2,1}", r"\2(a)", "(?(",
    ],
)  # fmt: skip
def test_a_pattern_that_does_not_compile_is_refused(bad: str) -> None:
    for engine in (False, True):
        with pytest.raises(PatternError, match="compile"):
            _core.split(b"abc", [bad], engine=engine)
        with pytest.raises(PatternError):
            _core.split(b"", ["a", bad], engine=engine)


def test_braces_that_are_no_repeat_of_fewer_than_its_least_compile() -> None:
    assert _core.split(b"a3,2}", [r"[{3,2}]+"]) == [b"a", b"3,2}"]
    assert _core.split(b"xa{3,2}", [r"a\{3,2\}"]) == [b"x", b"a{3,2}"]
    assert _core.split(b"aaaa", ["a{2,2}(?=a)"]) == [b"aa", b"aa"]


def test_the_newlines_of_a_file_are_those_of_an_escape() -> None:
    # DeepSeek's tokenizer.json has the characters themselves in its classes.
    spelled = [p.replace(r"\r", "\r").replace(r"\n", "\n") for p in resolve_pattern("deepseek")]
    text = "".join(WORDS).encode()
    assert _core.split(text, spelled) == by_engine(text, resolve_pattern("deepseek"))


def test_a_class_that_is_none_is_refused() -> None:
    for expression in ("ab", "(", r"\p{Nonsense}", ""):
        with pytest.raises(PatternError):
            _core.class_ranges(expression)
    assert _core.class_ranges(r"[a-c\d&&[^\d]]") == [(97, 99)]

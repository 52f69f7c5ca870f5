"""Patterns whose matches look far past their end: refused past a limit, never quadratic."""

import pytest

from subword import _core
from subword.counts import count
from subword.errors import PatternError
from subword.patterns import NAMED_PATTERNS
from subword.tokenizer import Tokenizer
from subword.training.bpe import train_bpe

QUADRATIC = {
    "reads all that is left": (r"a*b|a", "a" * 20_000),
    "reads all that is left behind a gap": (r"x[ax]*y|x", "xa" * 10_000),
    "steps to the end": (r"(?:(?=a)a)*b|a", "a" * 5_000),
    "nested repeats": (r"(?:a|(?=a)a)*(?=c)", "a" * 60 + "b"),
    "a back-reference": (r"(a*)\1b|a", "a" * 5_000),
}


@pytest.mark.parametrize(("pattern", "text"), QUADRATIC.values(), ids=QUADRATIC)
def test_a_pattern_past_its_limit_is_refused_by_name_place_and_limit(
    pattern: str, text: str
) -> None:
    tok = train_bpe(["ab"], 257).replace(pattern=pattern)
    for call in (tok.encode, tok.encode_spans, lambda text: count([text], pattern=pattern)):
        with pytest.raises(PatternError) as refused:
            call(text)
        message = str(refused.value)
        assert repr(pattern)[1:-1].replace("\\\\", "\\") in message.replace("\\\\", "\\")
        assert "steps" in message
        assert "byte " in message


@pytest.mark.parametrize("pattern", ["a*b|a", r"x[ax]*y|x", r"(?:(?=a)a)*b|a"])
def test_a_short_text_or_a_near_end_passes_no_limit(pattern: str) -> None:
    tok = train_bpe(["ab"], 257).replace(pattern=pattern)
    for text in ("a" * 500, "xa" * 250, ("a" * 50 + "b") * 2_000, ("xa" * 50 + "y") * 2_000):
        assert tok.decode(tok.encode(text)) == text


@pytest.mark.parametrize("name", sorted(NAMED_PATTERNS))
@pytest.mark.parametrize(
    "unit", ["a", " ", "\n", " \n", "'s", "A", "1", "中", "é!", "/", "e\u0301"]
)
def test_named_patterns_take_a_few_steps_a_byte(name: str, unit: str) -> None:
    # A thousandth of the limit of each byte would be used up by quadratic work of this size.
    raw = (unit * 200_000).encode()
    patterns = list(NAMED_PATTERNS[name])
    assert _core.split(raw, patterns, engine=True) == _core.split(raw, patterns)
    assert b"".join(_core.split(raw + b"x", patterns, engine=True)) == raw + b"x"


def test_word_borders_among_other_scripts() -> None:
    raw = "naïve café, 中文 x_1 ".encode()
    pretokens = _core.split(raw * 50, [r"\b\w+\b"])
    assert b"".join(pretokens) == raw * 50
    assert "café".encode() in pretokens
    assert pretokens[0] == "naïve".encode()


@pytest.mark.parametrize("pattern", ["(?<a>x)|(?<a>y)", "(?P<a>x)(?=y)(?<a>z)", "(?P<a>x)(?P<a>y)"])
def test_two_groups_of_one_name_are_refused(pattern: str) -> None:
    with pytest.raises(PatternError, match="two groups are named"):
        count(["xyz"], pattern=pattern)


def test_names_that_differ_and_looking_behind_are_fine() -> None:
    pretokens = _core.split(b"xaya", [r"(?<one>x)(?<=x)|(?P<two>y)(?<=y)"])
    assert pretokens == [b"x", b"a", b"y", b"a"]


def test_a_tokenizer_of_a_pattern_past_its_limit_works_on() -> None:
    tok: Tokenizer = train_bpe(["ab"], 257).replace(pattern="a*b|a")
    with pytest.raises(PatternError):
        tok.encode("a" * 20_000)
    assert tok.encode("aab") == [97, 256]

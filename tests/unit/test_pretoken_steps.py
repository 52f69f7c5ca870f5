import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from subword import _core
from subword.errors import ArgumentError, PatternError, TextError
from subword.pretokens import (
    Bert,
    ByteLevel,
    CharDelimiter,
    Digits,
    Metaspace,
    Punctuation,
    Split,
    UnicodeScripts,
    Whitespace,
    WhitespaceSplit,
    split,
)
from subword.reference import pretoken_steps as reference

BEHAVIORS = ["isolated", "removed", "merged_with_previous", "merged_with_next", "contiguous"]

# Source of each: tokenizers 0.23.3, the pre-tokenizer of that name.
EXAMPLES = [
    ([], "a b", [("a b", 0, 3)]),
    ([], "", []),
    ([Split("-", behavior="isolated")], "a--b", "a - - b"),
    ([Split("-", behavior="removed")], "a--b", "a b"),
    ([Split("-", behavior="merged_with_previous")], "a--b", "a- - b"),
    ([Split("-", behavior="merged_with_next")], "a--b", "a - -b"),
    ([Split("-", behavior="contiguous")], "a--b", "a -- b"),
    ([Split("[ab]+", behavior="removed", invert=True)], "ab-ba", "ab ba"),
    ([Split(".", regex=False)], "a.b", "a . b"),
    ([Whitespace()], "Hi, it's 3.5\u00a0m", "Hi , it ' s 3 . 5 m"),
    ([WhitespaceSplit()], " Hi,\tyou\u3000x\n", "Hi, you x"),
    ([Bert()], "Hi,,  you!", "Hi , , you !"),
    ([Punctuation()], "a,,b", "a , , b"),
    ([Punctuation("contiguous")], "a,,$b", "a ,,$ b"),
    ([Digits()], "ab12½c", "ab 12½ c"),
    ([Digits(individual=True)], "ab12½c", "ab 1 2 ½ c"),
    ([Metaspace()], "a b", [("▁a", 0, 1), ("▁b", 1, 3)]),
    ([Metaspace(prepend_scheme="never")], "a  b", [("a", 0, 1), ("▁", 1, 2), ("▁b", 2, 4)]),
    ([Metaspace(split=False)], "é b", [("▁é▁b", 0, 4)]),
    ([WhitespaceSplit(), Metaspace(prepend_scheme="first")], "a b", [("▁a", 0, 1), ("b", 2, 3)]),
    ([UnicodeScripts()], "どこで生れ。Yes", "どこで生れ 。 Yes"),
    (
        [UnicodeScripts()],
        "Apples are りんご 林檎",
        [("Apples are ", 0, 11), ("りんご 林檎", 11, 27)],
    ),
    ([UnicodeScripts()], "  a", [("a", 2, 3)]),
    ([CharDelimiter("-")], "a--b-", "a b"),
    ([ByteLevel()], "Hi  you", [(" Hi", 0, 2), (" ", 2, 3), (" you", 3, 7)]),
    ([ByteLevel(add_prefix_space=False, use_regex=False)], "a b", [("a b", 0, 3)]),
    ([Digits(individual=True), ByteLevel()], "a1", [(" a", 0, 1), (" 1", 1, 2)]),
]


@pytest.mark.parametrize(("steps", "text", "expected"), EXAMPLES)
@pytest.mark.parametrize("engine", [split, lambda text, s: reference.split(text.encode(), s)])
def test_pieces_are_those_of_the_source(engine, steps, text, expected):
    pieces = engine(text, steps)
    if isinstance(expected, str):
        assert " ".join(piece.decode() for piece, _, _ in pieces) == expected
        assert all(text.encode()[start:end] == piece for piece, start, end in pieces)
    else:
        assert pieces == [(piece.encode(), start, end) for piece, start, end in expected]


step = st.one_of(
    st.builds(
        Split,
        st.sampled_from(["[0-9]", "-", " +", "a ", "b|ab", "x*"]),
        st.just(True),
        st.sampled_from(BEHAVIORS),
        st.booleans(),
    ),
    st.builds(
        Split,
        st.sampled_from([".", "a ", "--"]),
        st.just(False),
        st.sampled_from(BEHAVIORS),
        st.booleans(),
    ),
    st.sampled_from([Whitespace(), WhitespaceSplit(), Bert(), UnicodeScripts()]),
    st.builds(Punctuation, st.sampled_from(BEHAVIORS)),
    st.builds(Digits, st.booleans()),
    st.builds(
        Metaspace,
        st.sampled_from("▁_"),
        st.sampled_from(["always", "first", "never"]),
        st.booleans(),
    ),
    st.sampled_from([CharDelimiter("-"), CharDelimiter("中")]),
    st.builds(ByteLevel, st.booleans(), st.booleans()),
)
texts = st.lists(
    st.one_of(
        st.sampled_from([*list("ab A.-12 '_▁ \n\xa0é中あカーж́½²٣、🙂"), "'s", "  "]).map(
            str.encode
        ),
        st.characters(exclude_categories=["Cs"]).map(str.encode),
        st.binary(min_size=1, max_size=2),
    ),
    max_size=14,
).map(b"".join)


@settings(max_examples=800, deadline=None)
@given(text=texts, steps=st.lists(step, max_size=3), at_start=st.booleans())
def test_kernel_agrees_with_the_reference(text, steps, at_start):
    expected = reference.split(text, steps, at_start=at_start)
    assert _core.Steps(steps).split(text, at_start=at_start) == expected


@settings(deadline=None)
@given(text=texts, steps=st.lists(step, max_size=3))
def test_spans_lie_in_the_text_in_order_and_no_piece_is_empty(text, steps):
    pieces = split(text, steps)
    assert all(piece for piece, _, _ in pieces)
    assert all(0 <= start <= end <= len(text) for _, start, end in pieces)
    assert [start for _, start, _ in pieces] == sorted(start for _, start, _ in pieces)


@settings(deadline=None)
@given(text=texts, steps=st.lists(step.filter(lambda s: type(s) is Split), max_size=3))
def test_what_is_not_removed_joins_to_the_text(text, steps):
    kept = [one for one in steps if one.behavior != "removed"]
    assert b"".join(piece for piece, _, _ in split(text, kept)) == text


@pytest.mark.parametrize("text", ["a" * 1_000_000, " " * 1_000_000, "1" * 300_000, "中-" * 100_000])
def test_a_megabyte_of_one_kind_is_split(text):
    text += "b"
    for steps in [[Whitespace()], [Bert()], [Digits()], [Metaspace()], [ByteLevel()]]:
        pieces = split(text, steps)
        assert pieces[-1][0].endswith(b"b")
        assert pieces[-1][2] == len(text.encode())


def test_what_cannot_be_a_step_is_refused():
    with pytest.raises(PatternError, match="empty pattern"):
        split("a", [Split("")])
    with pytest.raises(PatternError, match="does not compile"):
        split("a", [Split("(")])
    with pytest.raises(ArgumentError, match="behavior is 'gone'"):
        Split("a", behavior="gone")
    with pytest.raises(ArgumentError, match="prepend_scheme is 'last'"):
        Metaspace(prepend_scheme="last")
    with pytest.raises(ArgumentError, match="one character"):
        Metaspace("__")
    with pytest.raises(ArgumentError, match="one character"):
        CharDelimiter("")
    with pytest.raises(TypeError, match="got a str"):
        _core.Steps(["bert"])
    with pytest.raises(TextError, match="U\\+D800 at character 1"):
        split("a\ud800", [])

import pytest
from hypothesis import given
from hypothesis import strategies as st

from subword.errors import SpecialTokenError
from subword.reference.special_tokens import cut

ENDOFTEXT = b"<|endoftext|>"


@pytest.mark.parametrize(
    ("text", "special_tokens", "parts"),
    [
        (b"", [ENDOFTEXT], []),
        (b"plain", [], [(b"plain", False)]),
        (b"plain", [ENDOFTEXT], [(b"plain", False)]),
        (ENDOFTEXT, [ENDOFTEXT], [(ENDOFTEXT, True)]),
        (ENDOFTEXT * 2, [ENDOFTEXT], [(ENDOFTEXT, True)] * 2),
        # The longest wins, in either order of the list.
        (ENDOFTEXT * 2, [ENDOFTEXT, ENDOFTEXT * 2], [(ENDOFTEXT * 2, True)]),
        (ENDOFTEXT * 2, [ENDOFTEXT * 2, ENDOFTEXT], [(ENDOFTEXT * 2, True)]),
        # The leftmost wins over a longer one that begins later.
        (b"abcd", [b"ab", b"bcd"], [(b"ab", True), (b"cd", False)]),
        # A longer one that does not come to its end gives way to the shorter.
        (b"abcx", [b"a", b"abcd"], [(b"a", True), (b"bcx", False)]),
        # A token does not overlap the one before it.
        (b"aaa", [b"aa"], [(b"aa", True), (b"a", False)]),
        (
            b"x\xff<s>\xfe",
            [b"<s>", b"\xff"],
            [(b"x", False), (b"\xff", True), (b"<s>", True), (b"\xfe", False)],
        ),
    ],
)
def test_cut_takes_the_leftmost_longest(
    text: bytes, special_tokens: list[bytes], parts: list[tuple[bytes, bool]]
) -> None:
    assert cut(text, special_tokens) == parts


@given(
    st.text("ab<", max_size=40).map(str.encode),
    st.lists(st.text("ab<", min_size=1, max_size=4).map(str.encode), unique=True),
)
def test_parts_join_to_the_text_and_order_does_not_matter(
    text: bytes, special_tokens: list[bytes]
) -> None:
    parts = cut(text, special_tokens)
    assert b"".join(part for part, _ in parts) == text
    assert all(part for part, _ in parts)
    for part, is_special in parts:
        assert is_special == (part in special_tokens)
        assert is_special or not any(token in part for token in special_tokens)
    assert cut(text, special_tokens[::-1]) == parts


@pytest.mark.parametrize("bad", [[b""], [b"a", b""], [b"a", b"b", b"a"]])
def test_empty_and_repeated_tokens_are_refused(bad: list[bytes]) -> None:
    with pytest.raises(SpecialTokenError):
        cut(b"", bad)

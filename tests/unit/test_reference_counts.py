import pytest
from hypothesis import given
from hypothesis import strategies as st

from subword.errors import SpecialTokenError, TextError
from subword.patterns import resolve_pattern
from subword.reference.counts import count
from subword.reference.pretokens import split

GPT2 = resolve_pattern("gpt2")


def test_positions_run_through_documents_and_special_tokens() -> None:
    found = count(["é a", "a<s> a", b"\xffa"], GPT2, ["<s>"])
    assert list(found.items()) == [
        ("é".encode(), (1, 0)),
        (b" a", (2, 2)),
        (b"a", (2, 4)),
        (b"\xff", (1, 10)),
    ]


@pytest.mark.parametrize("documents", [[], [""], [b"", ""]])
def test_no_text_has_no_counts(documents: list[str | bytes]) -> None:
    assert count(documents, GPT2, ["<s>"]) == {}


def test_documents_of_special_tokens_alone_have_no_counts() -> None:
    assert count(["<s><s>", "<s>"], (), ["<s>"]) == {}


def test_special_tokens_hide_what_is_beside_them() -> None:
    # Alone, "a  b" splits the last space off; before a special token the run is at the end.
    assert count(["a  b"], GPT2) == {b"a": (1, 0), b" ": (1, 1), b" b": (1, 2)}
    assert count(["a  <s>b"], GPT2, ["<s>"]) == {b"a": (1, 0), b"  ": (1, 1), b"b": (1, 6)}


def test_longest_special_token_is_left_out() -> None:
    assert count(["a<s><s>b"], (), ["<s>", "<s><s>"]) == {b"a": (1, 0), b"b": (1, 7)}
    assert count(["a<s"], (), ["<s>"]) == {b"a<s": (1, 0)}


def test_no_pattern_counts_documents() -> None:
    assert count(["ab", "ab", "c"], ()) == {b"ab": (2, 0), b"c": (1, 4)}


@given(st.lists(st.text(max_size=20), max_size=5))
def test_counts_and_places_are_those_of_the_split(documents: list[str]) -> None:
    found = count(documents, GPT2)
    assert list(found.values()) == sorted(found.values(), key=lambda seen: seen[1])
    corpus = "".join(documents).encode()
    pretokens = [pretoken for document in documents for pretoken in split(document, GPT2)]
    for pretoken, (occurrences, first_seen) in found.items():
        assert occurrences == pretokens.count(pretoken)
        before = pretokens[: pretokens.index(pretoken)]
        assert first_seen == len(b"".join(before))
        assert corpus.startswith(pretoken, first_seen)
    assert set(found) == set(pretokens)


def test_bad_special_tokens_and_texts_are_refused_first() -> None:
    with pytest.raises(SpecialTokenError):
        count([], GPT2, ["<s>", "<s>"])
    with pytest.raises(TextError, match=r"U\+D800 at character 1"):
        count(["a\ud800"], GPT2)

import json
import unicodedata
from contextlib import suppress
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from samples import charsmap
from subword import _core, normalizers
from subword.errors import ArgumentError, FormatError, PatternError
from subword.normalizers import (
    NAMED_NORMALIZERS,
    Bert,
    Charsmap,
    Lowercase,
    Nfc,
    Nfd,
    Nfkc,
    Nfkd,
    Prepend,
    Replace,
    SentencePieceSpaces,
    Strip,
    StripAccents,
    resolve_normalizer,
)
from subword.reference import normalizers as reference

GOLDEN = Path(__file__).parent.parent / "golden" / "normalizers.jsonl"
CASES = [json.loads(line) for line in GOLDEN.read_text("utf-8").splitlines()]


def steps_of(case):
    if isinstance(case["steps"], str):
        return NAMED_NORMALIZERS[case["steps"]]
    return tuple(getattr(normalizers, name)(*arguments) for name, *arguments in case["steps"])


def character_ranges(text):
    ranges, start = [], 0
    for character in text.decode("utf-8", "surrogateescape"):
        end = start + len(character.encode("utf-8", "surrogateescape"))
        ranges.append((start, end))
        start = end
    return ranges


def by_kernel(text, steps):
    kernel = _core.Normalizer(steps)
    normalized, _ = kernel.normalize(text)
    again, spans = kernel.spans(text, character_ranges(normalized))
    assert again == normalized
    return normalized, spans


def by_reference(text, steps):
    result = reference.normalize(text, steps)
    return result.text, [result.original_span(i, i) for i in range(len(result.units))]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
@pytest.mark.parametrize("engine", [by_kernel, by_reference])
def test_text_and_spans_are_the_recorded_ones(engine, case):
    steps = steps_of(case)
    normalized, spans = engine(case["text"].encode(), steps)
    assert normalized.decode() == case["normalized"]
    assert [list(span) for span in spans] == case["spans"]


# Characters that both Unicode versions have; category Cn is "not assigned" in Python's.
assigned = st.characters(exclude_categories=["Cs", "Cn"]).filter(
    lambda c: unicodedata.category(c) != "Cn"
)
troublesome = st.sampled_from(
    [*list("aeAé .…？①ﬁཱཱིྀ̧̣́̈́한한カﾞ゙İΣ中\x10\t\n\x00"), "\xa0", "\u200b", "Å", "ﷺ", "�", "▁", "  "]
)
texts = st.lists(
    st.one_of(
        troublesome.map(str.encode), assigned.map(str.encode), st.binary(min_size=1, max_size=2)
    ),
    max_size=12,
).map(b"".join)
step = st.one_of(
    st.sampled_from([Nfc(), Nfd(), Nfkc(), Nfkd(), Nfkc(keep="？"), Lowercase(), StripAccents()]),
    st.builds(Strip, st.booleans(), st.booleans()),
    st.sampled_from(
        [Replace("..", "é"), Replace("a", ""), Replace(" {2,}", " ", regex=True), Prepend("▁x")]
    ),
    st.builds(Bert, st.booleans(), st.booleans(), st.none() | st.booleans(), st.booleans()),
)
spaces = st.builds(SentencePieceSpaces, st.booleans(), st.booleans(), st.booleans(), st.booleans())
step_lists = st.one_of(
    st.lists(step, max_size=4),
    st.tuples(st.lists(step, max_size=2), spaces).map(lambda parts: [*parts[0], parts[1]]),
)


@settings(max_examples=600, deadline=None)
@given(text=texts, steps=step_lists)
def test_kernel_agrees_with_the_reference(text, steps):
    kernel, reference = by_kernel(text, steps), by_reference(text, steps)
    try:
        text.decode()
    except UnicodeDecodeError:
        # What is removed between two stray bytes can make a character of them. The kernel's next
        # step then has one character, with the span of both; the twin keeps them apart.
        kernel, reference = kernel[0], reference[0]
    assert kernel == reference


@pytest.mark.parametrize(
    ("step", "form"), [(Nfc(), "NFC"), (Nfd(), "NFD"), (Nfkc(), "NFKC"), (Nfkd(), "NFKD")]
)
def test_every_assigned_character_has_the_form_python_gives_it(step, form):
    kernel = _core.Normalizer([step])
    for code in range(0x110000):
        character = chr(code)
        if unicodedata.category(character) in {"Cn", "Cs"}:
            continue
        text = f"a{character}\u0301b"
        expected = unicodedata.normalize(form, text)
        assert kernel.normalize(text.encode())[0].decode() == expected, hex(code)


@given(text=st.lists(assigned | troublesome).map("".join))
@settings(deadline=None)
def test_forms_are_those_of_python_and_stable(text):
    for step, form in [(Nfc(), "NFC"), (Nfd(), "NFD"), (Nfkc(), "NFKC"), (Nfkd(), "NFKD")]:
        kernel = _core.Normalizer([step])
        normalized, _ = kernel.normalize(text.encode())
        assert normalized.decode() == unicodedata.normalize(form, text)
        assert kernel.normalize(normalized) == (normalized, None)


@given(text=texts, steps=step_lists, data=st.data())
@settings(deadline=None)
def test_spans_lie_in_the_text_and_keep_its_order(text, steps, data):
    kernel = _core.Normalizer(steps)
    normalized, _ = kernel.normalize(text)
    ends = sorted(data.draw(st.lists(st.integers(0, len(normalized) + 3), max_size=6)))
    ranges = list(pairwise(ends))
    _, spans = kernel.spans(text, ranges)
    assert all(0 <= start <= end <= len(text) for start, end in spans)
    assert [start for start, _ in spans] == sorted(start for start, _ in spans)


@pytest.mark.parametrize("name", NAMED_NORMALIZERS)
def test_plain_text_is_its_own_form_and_bytes_pass_through(name):
    kernel = _core.Normalizer(NAMED_NORMALIZERS[name])
    assert kernel.normalize(b"plain text") == (b"plain text", None)
    assert kernel.normalize(b"") == (b"", None)
    assert kernel.normalize(b"\xff\xc3(\xf0\x9f\x98")[0] == b"\xff\xc3(\xf0\x9f\x98"


HOSTILE = {
    "marks": "a" + "\u0301\u0323" * 250_000,
    "one mark": "\u0323" * 500_000,
    "non-starter decompositions": "\u0344\u0f73" * 200_000,
    "vowel jamo": "\u1161" * 300_000,
    "half-width voice marks": "カ" + "\uff9e" * 300_000,
    "flags": "\U0001f1e6" * 250_000,
    "joiners": "\U0001f469\u200d" * 150_000,
    "viramas": "\u0915\u094d" * 150_000,
    "spaces": " " * 1_000_000,
    "ligatures": "\ufdfa" * 100_000,
    "capitals": "A" * 1_000_000,
    "NUL": "\0" * 1_000_000,
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_a_megabyte_of_one_kind_is_normalized(kind):
    text = HOSTILE[kind].encode()
    for steps in [[Nfc()], [Nfkc()], [Nfd(), StripAccents()], [Bert()], [SentencePieceSpaces()]]:
        normalized, _ = _core.Normalizer(steps).normalize(text)
        _, spans = _core.Normalizer(steps).spans(text, [(0, len(normalized))])
        assert 0 <= spans[0][0] <= spans[0][1] <= len(text)
    # Python's own normalization is quadratic here.
    start = HOSTILE[kind][:2_000]
    normalized, _ = _core.Normalizer([Nfc()]).normalize(start.encode())
    assert normalized.decode() == unicodedata.normalize("NFC", start)


def test_charsmap_replaces_removes_and_keeps():
    table = charsmap({b"a": "xyz", b"b": "", b"\t": " "})
    text = b"ab\tac\0"
    for per_grapheme in (False, True):
        kernel = _core.Normalizer([Charsmap(table, per_grapheme=per_grapheme)])
        assert kernel.normalize(text)[0] == b"xyz xyzc\0"
    kept = _core.Normalizer([Charsmap(table, keep=("ac", "a\t"))])
    assert kept.normalize(text)[0] == b"xyz ac\0"
    assert by_kernel(text, [Charsmap(table)]) == by_reference(text, [Charsmap(table)])


def test_a_removed_first_character_does_not_shift_the_rest():
    step = Charsmap(charsmap({b"b": ""}), per_grapheme=True)
    assert by_kernel(b"bTbhis", [step]) == (b"This", [(1, 2), (3, 4), (4, 5), (5, 6)])


@pytest.mark.parametrize(
    "data",
    [
        b"\1",
        b"\xff\xff\xff\xff",
        b"\5\0\0\0" + bytes(9),
        b"\0\0\0\0a\0",
        b"\4\0\0\0" + bytes(4),
        b"\4\0\0\0" + bytes(4) + b"no end",
    ],
)
def test_a_damaged_charsmap_is_refused(data):
    with pytest.raises(FormatError, match="charsmap"):
        _core.Normalizer([Charsmap(data)])


@given(data=st.binary(max_size=200), text=texts)
@settings(deadline=None)
def test_no_charsmap_breaks_the_kernel(data, text):
    blob = (len(data) // 8 * 4).to_bytes(4, "little") + data + b"\0"
    for per_grapheme in (False, True):
        with suppress(FormatError):
            _core.Normalizer([Charsmap(blob, per_grapheme=per_grapheme)]).normalize(text)


def test_a_leaf_past_the_strings_is_refused_when_it_is_met():
    table = bytearray(charsmap({b"a": "x"}))
    table[4 + 512 * 4] = 0xFF
    kernel = _core.Normalizer([Charsmap(bytes(table))])
    assert kernel.normalize(b"b") == (b"b", None)
    with pytest.raises(FormatError, match="byte 255"):
        kernel.normalize(b"a")


def test_what_cannot_be_a_normalizer_is_refused():
    with pytest.raises(PatternError, match="empty pattern"):
        _core.Normalizer([Replace("", "x")])
    with pytest.raises(PatternError, match="does not compile"):
        _core.Normalizer([Replace("(", "x", regex=True)])
    with pytest.raises(ArgumentError, match="empty"):
        _core.Normalizer([Charsmap(b"", keep=("",))])
    with pytest.raises(TypeError, match="got a str"):
        _core.Normalizer(["nfc"])
    with pytest.raises(ArgumentError, match="no normalizer is named 'nfx'"):
        resolve_normalizer("nfx")
    with pytest.raises(ArgumentError, match="got 1"):
        resolve_normalizer([1])

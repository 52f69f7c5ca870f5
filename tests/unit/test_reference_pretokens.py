import base64
import json
import unicodedata
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from subword.byte_characters import from_characters
from subword.errors import PatternError, TextError
from subword.patterns import NAMED_PATTERNS, resolve_pattern
from subword.reference.bpe import encode, encode_by_ranks
from subword.reference.pretokens import split, translate

GOLDEN = Path(__file__).parents[1] / "golden" / "pretokens.jsonl"
CASES = [json.loads(line) for line in GOLDEN.read_text(encoding="utf-8").splitlines()]
LIMIT = 2000
"""Characters: longer texts take the quadratic twin too long."""


@pytest.mark.parametrize("case", [pytest.param(case, id=case["name"]) for case in CASES])
def test_golden_pretokens(case: dict[str, Any]) -> None:
    pattern = resolve_pattern(case["pattern"])
    if "hex" in case:
        expected = [bytes.fromhex(pretoken) for pretoken in case["pretokens"]]
        assert split(bytes.fromhex(case["hex"]), pattern) == expected
    else:
        expected = [pretoken.encode() for pretoken in case["pretokens"]]
        assert split(case["text"], pattern) == expected
        assert split(case["text"].encode(), pattern) == expected


@given(st.binary() | st.text(), st.sampled_from(sorted(NAMED_PATTERNS)))
@settings(deadline=None)
def test_pretokens_join_to_the_text(text: str | bytes, name: str) -> None:
    pretokens = split(text, resolve_pattern(name))
    assert b"".join(pretokens) == (text.encode() if isinstance(text, str) else text)
    assert all(pretokens)


@given(
    st.text("ab1 '\n", max_size=30),
    st.lists(
        st.sampled_from(["a", "b*", r"\d|", " ?[ab]+", r"\s+(?!\S)", "(?<=a)b", "$", "|a", r"\b"]),
        max_size=4,
    ),
)
def test_any_expressions_keep_the_whole_text(text: str, pattern: list[str]) -> None:
    pretokens = split(text, tuple(pattern))
    assert b"".join(pretokens) == text.encode()
    assert all(pretokens)


def test_an_invalid_byte_is_matched_as_an_unassigned_code_point() -> None:
    for byte in range(0x80, 0x100):
        text = b"a" + bytes([byte]) + b"1"
        assert split(text, (r"\p{Cn}",)) == [b"a", bytes([byte]), b"1"]
        assert split(text, (r"\p{L}|\p{N}|\s",)) == [b"a", bytes([byte]), b"1"]


CLASSES = {
    # Of U+0085, U+00A0, U+3000 and their kin; not of Python's U+001C to U+001F.
    r"\s": "\t\n\v\f\r \x85\xa0\u1680\u2000\u2028\u2029\u202f\u205f\u3000",
    r"\d": "09\u0660\u0969\U0001d7d8",
    r"\w": "aZ_9\u0301\u200d\u203f\u4e00",
    r"\p{L}": "aZ\u4e00\u01c5\u02b0",
    r"\p{N}": "0\u2160\u00b2\u0661",
    r"\pM": "\u0301\u094d",
}


@pytest.mark.parametrize("expression", CLASSES)
def test_classes_are_unicodes_in_and_out_of_brackets(expression: str) -> None:
    outside = {r"\s": "a\x1c\x1d\x1e\x1f\u200b", r"\w": "-\u00b2 "}.get(expression, "-\u200b ")
    negated = expression.replace("p", "P") if "p" in expression else expression.upper()
    for member in CLASSES[expression]:
        for spelled in (expression, f"[{expression}]", f"[^{negated}]", f"[x{expression}]"):
            assert split("-" + member, (spelled,)) == [b"-", member.encode()], spelled
        assert split(member * 2, (negated,)) == [(member * 2).encode()]
        assert split(member * 2, (f"[^{expression}]",)) == [(member * 2).encode()]
    for other in outside:
        assert split(other * 2, (expression,)) == [(other * 2).encode()]


def test_case_folding_is_simple_folding_over_all_of_unicode() -> None:
    # One character folds to one: never "ss" for "ß", and never the dotted or dotless I.
    assert split("ſK", ("(?i:s)",)) == ["ſ".encode(), b"K"]
    assert split("\u212ax", ("(?i:k)",)) == ["\u212a".encode(), b"x"]
    assert split("ẞß", ("(?i:ß)",)) == ["ẞ".encode(), "ß".encode()]
    assert split("ssß", ("(?i:ß)",)) == [b"ss", "ß".encode()]
    assert split("İıiI", ("(?i:i)",)) == ["İı".encode(), b"i", b"I"]
    assert split("Σσς", ("(?i:[σ])",)) == ["Σ".encode(), "σ".encode(), "ς".encode()]
    assert split("ⓐⒶ", ("(?i)Ⓐ",)) == ["ⓐ".encode(), "Ⓐ".encode()]


@pytest.mark.parametrize(
    "bad",
    [
        "(",
        ")",
        "a)(b",
        "[a",
        "[",
        "[]",
        "[^]",
        "*a",
        "a**",
        "a{2}{3}",
        "a{3,2}",
        "(?P<n>a)(?P<n>b)",
        r"\p{Nonsense}",
        r"\pY",
        r"[\p{Nonsense}]",
        "[z-a]",
        r"\x{110000}",
        r"\x{1}{99999999999}",
        "\\",
        r"\Z",
        r"\G",
        r"\K",
        r"\R",
        r"\<",
        r"\b{start}",
        r"\0",
        r"\1",
        "(?x) a",
        "(?U)a",
        "(?#c)a",
        "(?(1)a)",
        "(?P=n)",
        "(?<=a+)b",
        "(?",
        "(?i",
        "(?)",
        "(?-)",
        "(?z:a)",
        "[[:foo:]",
    ],
)
def test_what_does_not_compile_is_refused(bad: str) -> None:
    with pytest.raises(PatternError):
        split("text", (bad,))


def test_refusal_says_what_and_where() -> None:
    with pytest.raises(PatternError, match=r"'\\\\Z' at character 2"):
        translate(r"ab\Z")


def test_a_lone_surrogate_is_refused_with_its_offset() -> None:
    with pytest.raises(TextError, match=r"U\+D800 at character 1"):
        split("a\ud800b", ())


def test_translation_leaves_only_ascii() -> None:
    for pattern in NAMED_PATTERNS.values():
        for expression in pattern:
            assert translate(expression).isascii()


def shared_texts(shared: Path, name: str) -> list[dict[str, Any]]:
    golden = json.loads((shared / "golden" / f"{name}.json").read_text(encoding="utf-8"))
    return [case for case in golden["cases"] if len(case["t"]) <= LIMIT]


def read_shared(path: Path) -> bytes:
    zstandard = pytest.importorskip("zstandard")
    with path.open("rb") as file, zstandard.ZstdDecompressor().stream_reader(file) as reader:
        content: bytes = reader.read()
    return content


@pytest.mark.parametrize(
    ("golden", "vocabulary", "pattern"),
    [
        ("gpt2", "r50k_base", "gpt2"),
        ("cl100k_base", "cl100k_base", "cl100k"),
        ("o200k_base", "o200k_base", "o200k"),
    ],
)
def test_ids_equal_tiktokens(shared: Path, golden: str, vocabulary: str, pattern: str) -> None:
    lines = read_shared(shared / "vocab" / vocabulary / f"{vocabulary}.tiktoken.zst").splitlines()
    ranks = {base64.b64decode(token): int(rank) for token, rank in map(bytes.split, lines)}
    cases = shared_texts(shared, golden)
    assert len(cases) > 200
    for case in cases:
        pretokens = split(case["t"], resolve_pattern(pattern))
        ids = [ranks[token] for pre in pretokens for token in encode_by_ranks(pre, ranks)]
        assert ids == case["ids"], case["t"]


@pytest.mark.parametrize(("name", "pattern"), [("qwen3_hf", "qwen2"), ("deepseek_v3", "deepseek")])
def test_ids_equal_tokenizers(shared: Path, name: str, pattern: str) -> None:
    content = json.loads(read_shared(shared / "vocab" / name / "tokenizer.json.zst"))
    vocab, merges = content["model"]["vocab"], content["model"]["merges"]
    added = [token["content"] for token in content["added_tokens"]]
    tokens = {from_characters(token): vocab[token] for token in vocab if token not in added}
    pairs = [merge.split(" ") if isinstance(merge, str) else merge for merge in merges]
    ranks = {(from_characters(a), from_characters(b)): rank for rank, (a, b) in enumerate(pairs)}
    nfc = (content["normalizer"] or {}).get("type") == "NFC"
    cases = [c for c in shared_texts(shared, name) if not any(token in c["t"] for token in added)]
    assert len(cases) > 200
    for case in cases:
        text = unicodedata.normalize("NFC", case["t"]) if nfc else case["t"]
        pretokens = split(text, resolve_pattern(pattern))
        ids = [tokens[token] for pre in pretokens for token in encode(pre, ranks)]
        assert ids == case["ids"], case["t"]

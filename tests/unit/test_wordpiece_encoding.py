"""WordPiece encoding: the kernel, its twin, and golden cases."""

import json
from pathlib import Path

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from subword import _core
from subword.errors import UnencodableTextError, VocabularyError
from subword.reference import wordpiece as reference

GOLDEN = Path(__file__).parents[1] / "golden" / "wordpiece_encoding.jsonl"
CASES = [json.loads(line) for line in GOLDEN.read_text(encoding="utf-8").splitlines()]


def encode_spans_in_rust(word, tokens, *, continuing_prefix, unk_id, max_input_chars_per_word):
    return compiled(
        tokens,
        continuing_prefix=continuing_prefix,
        unk_id=unk_id,
        max_input_chars_per_word=max_input_chars_per_word,
    ).encode_spans(word)


def compiled(tokens, *, continuing_prefix=b"##", unk_id=None, max_input_chars_per_word=100):
    return _core.WordPiece(
        list(tokens.items()),
        continuing_prefix=continuing_prefix,
        unk_id=unk_id,
        max_input_chars_per_word=max_input_chars_per_word,
    )


ENGINES = {"reference": reference.encode_spans, "rust": encode_spans_in_rust}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
@pytest.mark.parametrize("engine", ENGINES)
def test_spans_are_the_recorded_ones(engine, case):
    tokens = {token.encode(): index for index, token in enumerate(case["tokens"])}
    spans = ENGINES[engine](
        case["word"].encode(),
        tokens,
        continuing_prefix=case.get("prefix", "##").encode(),
        unk_id=0,
        max_input_chars_per_word=case.get("max_chars", 100),
    )
    assert [list(span) for span in spans] == case["spans"]


# Few letters, so that tokens share beginnings and ends; "#" so that texts spell the prefix.
letters = st.text(alphabet="aab#é", min_size=1, max_size=7).map(str.encode)
raw = letters | st.binary(min_size=1, max_size=3)


@given(
    tokens=st.lists(st.tuples(st.booleans(), raw), unique=True, max_size=25),
    words=st.lists(st.text(alphabet="aab#é", max_size=25).map(str.encode) | st.binary(max_size=6)),
    prefix=st.sampled_from([b"##", b"#", b"", b"a"]),
    max_chars=st.sampled_from([0, 5, 100]),
)
def test_kernel_gives_the_spans_of_the_reference(tokens, words, prefix, max_chars):
    spelled = dict.fromkeys(prefix + token if inside else token for inside, token in tokens)
    ids = {b"[UNK]": 7} | {token: 10 + 3 * at for at, token in enumerate(spelled)}
    options = {
        "continuing_prefix": prefix,
        "unk_id": 7,
        "max_input_chars_per_word": max_chars,
    }
    kernel = compiled(ids, **options)
    for word in words:
        expected = reference.encode_spans(word, ids, **options)
        assert kernel.encode_spans(word) == expected
        assert kernel.encode(word) == [token_id for token_id, _, _ in expected]


@given(word=st.text(alphabet="abé", min_size=1, max_size=40))
def test_spans_cover_the_word(word):
    tokens = {t.encode(): i for i, t in enumerate(["a", "b", "é", "##a", "##b", "##é", "##ab"])}
    spans = compiled(tokens).encode_spans(word.encode())
    assert [span[1] for span in spans] == [0, *(span[2] for span in spans[:-1])]
    assert spans[-1][2] == len(word.encode())


def test_long_words_take_linear_time():
    # Each "a" first looks like the start of the long token, which a naive search reads to its
    # end again and again: 1 MB would be 10^11 steps.
    tokens = {b"a": 0, b"##a": 1, b"##" + b"a" * 200_000 + b"b": 2, b"a" * 200_000 + b"c": 3}
    word = b"a" * 1_000_000
    kernel = compiled(tokens, max_input_chars_per_word=len(word))
    assert kernel.encode(word) == [0] + [1] * 999_999
    assert compiled({b"[UNK]": 5, b"a": 0, b"##a": 1}, unk_id=5).encode(word) == [5]


def test_a_word_that_cannot_be_spelled_needs_an_unknown_token():
    with pytest.raises(UnencodableTextError, match="no unknown token"):
        compiled({b"a": 0}).encode(b"ab")
    with pytest.raises(UnencodableTextError, match="no unknown token"):
        reference.encode_word(b"ab", {b"a": 0})


@pytest.mark.parametrize(
    ("tokens", "unk_id", "message"),
    [
        ([(b"a", 0), (b"a", 1)], None, "'?\"a\"'? stands twice"),
        ([(b"a", 0), (b"b", 0)], None, "id 0 stands twice"),
        ([(b"a", 0)], 1, "unknown token's id 1"),
    ],
)
def test_a_damaged_vocabulary_is_refused(tokens, unk_id, message):
    with pytest.raises(VocabularyError, match=message):
        _core.WordPiece(
            tokens, continuing_prefix=b"##", unk_id=unk_id, max_input_chars_per_word=100
        )


def test_no_tokens_at_all():
    assert compiled({}).encode(b"") == []
    with pytest.raises(UnencodableTextError):
        compiled({}).encode(b"a")


def test_words_of_a_real_vocabulary(shared):
    packed = (shared / "vocab" / "bert_uncased" / "vocab.txt.zst").read_bytes()
    text = zstandard.ZstdDecompressor().decompress(packed, max_output_size=1 << 24)
    tokens = {token: index for index, token in enumerate(text.split(b"\n")[:-1])}
    kernel = compiled(tokens, unk_id=100)
    options = {"unk_id": 100}
    listed = list(tokens)
    for index in range(0, len(listed), 7):
        for word in (listed[index], listed[index] + listed[-index].removeprefix(b"##")):
            assert kernel.encode_spans(word) == reference.encode_spans(word, tokens, **options)

"""BPE of characters, of merges and of pieces: the kernel, its twin, and golden cases."""

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from subword import _core
from subword.errors import ArgumentError, UnencodableTextError, VocabularyError
from subword.reference import character_bpe as reference

GOLDEN = Path(__file__).parents[1] / "golden" / "character_bpe.jsonl"
CASES = [json.loads(line) for line in GOLDEN.read_text(encoding="utf-8").splitlines()]
BYTES = [f"<0x{byte:02X}>" for byte in range(256)]


def compiled(tokens, merges, **options):
    for affix in ("continuing_subword_prefix", "end_of_word_suffix"):
        if affix in options:
            options[affix] = options[affix].decode()
    pairs = [(tokens[left], tokens[right]) for left, right in merges]
    return _core.CharacterBpe(list(tokens.items()), pairs, **options)


def compiled_pieces(pieces, *, unk_id=0, byte_fallback=False):
    raw = [(piece.text.encode(), piece.score, piece.kind) for piece in pieces]
    return _core.CharacterBpe.from_pieces(raw, unk_id=unk_id, byte_fallback=byte_fallback)


ENGINES = {
    "reference": reference.encode_spans,
    "rust": lambda pretoken, tokens, merges, **options: compiled(
        tokens, merges, **options
    ).encode_spans(pretoken),
}
PIECE_ENGINES = {
    "reference": reference.encode_pieces,
    "rust": lambda text, pieces, **options: compiled_pieces(pieces, **options).encode_spans(
        text.encode()
    ),
}


@pytest.mark.parametrize("case", [c for c in CASES if "merges" in c], ids=lambda c: c["name"])
@pytest.mark.parametrize("engine", ENGINES)
def test_spans_are_the_recorded_ones(engine, case):
    tokens = {token.encode(): at for at, token in enumerate(case["tokens"])}
    merges = [(left.encode(), right.encode()) for left, right in case["merges"]]
    options = {
        key: value.encode() if isinstance(value, str) else value
        for key, value in case.get("options", {}).items()
    }
    spans = ENGINES[engine](case["pretoken"].encode(), tokens, merges, **options)
    assert [list(span) for span in spans] == case["spans"]


@pytest.mark.parametrize("case", [c for c in CASES if "pieces" in c], ids=lambda c: c["name"])
@pytest.mark.parametrize("engine", PIECE_ENGINES)
def test_spans_of_pieces_are_the_recorded_ones(engine, case):
    pieces = [reference.Piece("<unk>", 0.0, "unknown")]
    pieces += [reference.Piece(*piece) for piece in case["pieces"]]
    fallback = case.get("byte_fallback", False)
    if fallback:
        pieces += [reference.Piece(text, 0.0, "byte") for text in BYTES]
    spans = PIECE_ENGINES[engine](case["text"], pieces, unk_id=0, byte_fallback=fallback)
    assert [list(span) for span in spans] == case["spans"]


@st.composite
def models(draw):
    prefix = draw(st.sampled_from([b"", b"", b"##", b"a"]))
    suffix = draw(st.sampled_from([b"", b"", b"</w>", b"a"]))
    letters = draw(st.lists(st.sampled_from("abcdé你"), min_size=1, max_size=6, unique=True))
    byte_level = draw(st.booleans())
    units = [letter.encode() for letter in letters]
    if byte_level:
        units = [bytes([byte]) for byte in b"".join(units)]
    spelled = []
    for unit in units:
        forms = {p + unit + s for p in (b"", prefix) for s in (b"", suffix)}
        spelled += sorted(forms)
    if draw(st.booleans()):
        spelled += [token.encode() for token in BYTES]
    tokens = {token: 3 * at + 5 for at, token in enumerate(dict.fromkeys([b"?", *spelled]))}
    merges = {}
    for _ in range(draw(st.integers(0, 12))):
        listed = [token for token in tokens if not token.startswith(b"<0x")]
        left, right = (draw(st.sampled_from(listed)) for _ in range(2))
        made = left + right.removeprefix(prefix)
        merges[left, right] = made
        tokens.setdefault(made, 3 * len(tokens) + 5)
    merges = draw(st.permutations(list(merges)))
    options = {
        "unk_id": tokens[b"?"],
        "fuse_unk": draw(st.booleans()),
        "byte_fallback": draw(st.booleans()),
        "continuing_subword_prefix": prefix,
        "end_of_word_suffix": suffix,
        "whole_first": draw(st.booleans()),
        "byte_level": byte_level,
    }
    return tokens, merges, options


raw_texts = st.text(alphabet="abcdé你x🙂", max_size=60).map(str.encode)
raw_texts |= st.binary(max_size=8) | st.lists(raw_texts | st.binary(max_size=3)).map(b"".join)


@given(model=models(), texts=st.lists(raw_texts, max_size=4))
def test_kernel_gives_the_spans_of_the_twin(model, texts):
    tokens, merges, options = model
    kernel = compiled(tokens, merges, **options)
    for text in texts:
        expected = reference.encode_spans(text, tokens, merges, **options)
        assert kernel.encode_spans(text) == expected
        assert kernel.encode(text) == [token_id for token_id, _, _ in expected]


@given(model=models(), text=raw_texts, p=st.sampled_from([0.0, 0.1, 0.5, 1.0]), seed=st.integers(0))
def test_dropout_is_that_of_the_twin_segment_by_segment(model, text, p, seed):
    tokens, merges, options = model
    kernel = compiled(tokens, merges, **options)
    seed %= 2**64
    uniform = reference.uniforms(seed)
    expected = []
    for start, end in kernel.segments(text):
        expected += reference.encode(
            text[start:end], tokens, merges, dropout=p, uniform=uniform, **options
        )
    assert kernel.encode_with_dropout(text, p, seed) == expected


@st.composite
def piece_lists(draw):
    letters = draw(st.sampled_from(["ab", "ab▁", "abc▁é", "a🙂你"]))
    spelled = st.text(alphabet=letters, min_size=1, max_size=6)
    texts = draw(st.lists(spelled, unique=True, max_size=25))
    # Few scores, so that many are equal, and in any order: a part may be worse than the whole.
    score = st.sampled_from([0.0, -1.0, -2.0, -3.0, -4.5, -7.0])
    kind = st.sampled_from(["normal"] * 8 + ["unused", "user_defined", "control"])
    pieces = [reference.Piece("<unk>", 0.0, "unknown")]
    pieces += [reference.Piece(text, draw(score), draw(kind)) for text in texts]
    byte_fallback = draw(st.booleans())
    if byte_fallback:
        pieces += [reference.Piece(text, 0.0, "byte") for text in BYTES]
    text = st.text(alphabet=letters + "x", max_size=70) | st.lists(
        st.sampled_from(texts or ["x"]), max_size=20
    ).map("".join)
    return pieces, byte_fallback, draw(st.lists(text, max_size=5))


@given(case=piece_lists())
@settings(max_examples=300)
def test_kernel_gives_the_spans_of_the_twin_for_pieces(case):
    pieces, byte_fallback, texts = case
    kernel = compiled_pieces(pieces, byte_fallback=byte_fallback)
    for text in texts:
        expected = reference.encode_pieces(text, pieces, unk_id=0, byte_fallback=byte_fallback)
        assert kernel.encode_spans(text.encode()) == expected
        assert kernel.encode(text.encode()) == [token_id for token_id, _, _ in expected]


@given(case=piece_lists())
def test_segments_can_be_encoded_on_their_own(case):
    pieces, byte_fallback, texts = case
    kernel = compiled_pieces(pieces, byte_fallback=byte_fallback)
    for text in map(str.encode, texts):
        segments = kernel.segments(text)
        assert b"".join(text[start:end] for start, end in segments) == text
        ids = [i for start, end in segments for i in kernel.encode(text[start:end])]
        assert ids == kernel.encode(text)


def ordered_pieces():
    """Pieces as a trainer makes them: each of two better ones, of which runs are a part."""
    spelled = ["▁▁", "▁▁▁▁", "▁" * 8, "aa", "aaaa", "▁a", "▁aa", "ab", "abab", "▁abab", "ba"]
    pieces = [reference.Piece("<unk>", 0.0, "unknown")]
    pieces += [reference.Piece(text, -float(at), "normal") for at, text in enumerate(spelled)]
    return pieces + [reference.Piece(text, -100.0, "normal") for text in "▁ab"]


@pytest.mark.parametrize("unit", ["a", "▁", "x", "🙂", "ab", "▁a", "aab▁", "\n"])
@pytest.mark.parametrize("has_bytes", [False, True])
def test_a_megabyte_without_a_cut_is_encoded(unit, has_bytes):
    pieces = ordered_pieces()
    if has_bytes:
        pieces += [reference.Piece(text, 0.0, "byte") for text in BYTES]
    kernel = compiled_pieces(pieces, byte_fallback=has_bytes)
    text = unit * (1_000_000 // len(unit.encode()))
    period = kernel.encode((unit * 160).encode())
    ids = kernel.encode(text.encode())
    assert ids[: len(period) // 2] == period[: len(period) // 2]
    spans = kernel.encode_spans(text.encode())
    assert [token_id for token_id, _, _ in spans] == ids
    assert [start for _, start, _ in spans[1:]] == [end for _, _, end in spans[:-1]]
    assert spans[-1][2] == len(text.encode())
    if unit in "x🙂\n" and not has_bytes:
        assert ids == [0]


def test_a_megabyte_merged_in_any_order_is_encoded():
    scores = {"aa": -2.0, "aaa": -1.0, "aaaa": -3.0, "a": -9.0}
    pieces = [reference.Piece("<unk>", 0.0, "unknown")]
    pieces += [reference.Piece(text, score, "normal") for text, score in scores.items()]
    kernel = compiled_pieces(pieces)
    start = reference.encode_pieces("a" * 60, pieces, unk_id=0)
    ids = kernel.encode(b"a" * 1_000_000)
    assert ids[:15] == [token_id for token_id, _, _ in start][:15]
    assert len(kernel.encode_with_dropout(b"a" * 300_000, 0.5, 1)) > len(ids) * 0.3


def test_dropout_is_deterministic_and_depends_on_its_seed():
    kernel = compiled_pieces(ordered_pieces())
    text = ("▁abab▁aaaa" * 50).encode()
    samples = [kernel.encode_with_dropout(text, 0.3, seed) for seed in (1, 1, 2)]
    assert samples[0] == samples[1] != samples[2]
    assert kernel.encode_with_dropout(text, 0.0, 1) == kernel.encode(text)
    assert len(kernel.encode_with_dropout(text, 1.0, 1)) == len(text.decode())
    for p in (-0.1, 1.1, float("nan")):
        with pytest.raises(ArgumentError, match="probability from 0 to 1"):
            kernel.encode_with_dropout(text, p, 1)


def test_an_unknown_character_needs_an_unknown_token():
    kernel = _core.CharacterBpe([(b"a", 0)], [])
    with pytest.raises(UnencodableTextError, match=r"'é' \(U\+00E9\) at byte 1 of a pre-token"):
        kernel.encode("aé".encode())
    with pytest.raises(UnencodableTextError, match=r"byte 0xff, .* at byte 2 of a pre-token"):
        kernel.encode_spans(b"aa\xff")
    with pytest.raises(UnencodableTextError):
        reference.encode("aé".encode(), {b"a": 0}, [])


def test_a_character_falls_back_only_if_all_its_bytes_are_tokens():
    tokens = {b"?": 0, b"<0xC3>": 1, b"<0xA9>": 2, b"a": 3}
    kernel = compiled(tokens, [], unk_id=0, byte_fallback=True)
    assert kernel.encode("aéè\xa9".encode() + b"\xc3") == [3, 1, 2, 0, 0, 1]


@pytest.mark.parametrize(
    ("tokens", "merges", "unk_id", "message"),
    [
        ([(b"a", 0)], [], 1, "unknown token's id 1"),
        ([(b"a", 0)], [(0, 0)], None, "'?\"aa\"'?, which is not in the vocabulary"),
        ([(b"a", 0)], [(0, 7)], None, "names id 7"),
        ([(b"a", 0), (b"aa", 1)], [(0, 0), (0, 0)], None, "merges 0 and 1 both join"),
        ([(b"a", 0), (b"a", 1)], [], None, "two ids"),
    ],
)
def test_damaged_merges_are_refused(tokens, merges, unk_id, message):
    with pytest.raises(VocabularyError, match=message):
        _core.CharacterBpe(tokens, merges, unk_id=unk_id)


@pytest.mark.parametrize("model", [_core.CharacterBpe, _core.Words, _core.Characters])
@pytest.mark.parametrize(
    ("pieces", "unk_id", "byte_fallback", "message"),
    [
        ([(b"a", 0.0, "normal")], 1, False, "1"),
        ([(b"a", 0.0, "normal"), (b"<0x00>", 0.0, "byte")], 0, True, "<0x01>"),
        ([], 0, False, "0"),
    ],
)
def test_damaged_pieces_are_refused(model, pieces, unk_id, byte_fallback, message):
    with pytest.raises(VocabularyError, match=message):
        model.from_pieces(pieces, unk_id=unk_id, byte_fallback=byte_fallback)


@pytest.mark.parametrize(
    ("piece", "message"),
    [
        ((b"b", float("nan"), "normal"), "not a number"),
        ((b"a", 0.0, "normal"), "two ids"),
        ((b"", 0.0, "normal"), "empty"),
        ((b"\xff", 0.0, "normal"), "not UTF-8"),
    ],
)
def test_pieces_that_merge_must_be_sound(piece, message):
    with pytest.raises(VocabularyError, match=message):
        _core.CharacterBpe.from_pieces([(b"a", 0.0, "normal"), piece], unk_id=0)


def test_nothing_has_no_tokens():
    assert compiled_pieces(ordered_pieces()).encode_spans(b"") == []
    assert compiled({b"a": 0}, []).encode(b"") == []
    assert reference.encode_pieces("", ordered_pieces(), unk_id=0) == []


def test_a_word_that_ends_in_an_invalid_byte():
    tokens = {b"a": 0, b"\xff": 1, b"\xff</w>": 2, b"?": 3}
    kernel = compiled(tokens, [], unk_id=3, end_of_word_suffix=b"</w>")
    assert kernel.encode_spans(b"a\xff") == [(0, 0, 1), (3, 1, 2)]


def test_words_are_looked_up_whole():
    words = _core.Words([(b"the", 0), (b"[UNK]", 1)], unk_id=1)
    assert words.encode_spans(b"the") == [(0, 0, 3)]
    assert words.encode_spans("thé".encode()) == [(1, 0, 4)]
    assert words.encode(b"") == []
    with pytest.raises(UnencodableTextError, match='"thee" at byte 0'):
        _core.Words([(b"the", 0)]).encode(b"thee")
    with pytest.raises(VocabularyError, match="id 3"):
        _core.Words([(b"the", 0)], unk_id=3)


def test_words_of_pieces_begin_at_the_space():
    pieces = [("<unk>", "unknown"), ("▁a", "normal"), ("▁", "normal"), ("b", "user_defined")]
    raw = [(text.encode(), 0.0, kind) for text, kind in pieces]
    words = _core.Words.from_pieces(raw, unk_id=0)
    assert words.encode("b▁a▁▁a▁x▁y▁a▁<unk>".encode()) == [3, 1, 2, 1, 0, 1, 0]
    assert words.encode_spans("▁x▁y▁".encode()) == [(0, 0, 8), (2, 8, 11)]
    raw += [(text.encode(), 0.0, "byte") for text in BYTES]
    words = _core.Words.from_pieces(raw, unk_id=0, byte_fallback=True)
    assert words.encode("xé▁a".encode()) == [4 + ord("x"), 4 + 0xC3, 4 + 0xA9, 1]


def test_characters_by_table_and_by_code_point():
    characters = _core.Characters([(b"a", 0), ("é".encode(), 1), (b"ab", 2), (b"?", 3)], unk_id=3)
    assert characters.encode_spans("aéab".encode()) == [(0, 0, 1), (1, 1, 3), (0, 3, 4), (3, 4, 5)]
    assert characters.encode(b"xx\xff") == [3, 3, 3]
    text = "aé你🙂\0\U0010ffff"
    assert _core.Characters().encode(text.encode()) == [ord(character) for character in text]
    with pytest.raises(UnencodableTextError, match=r"byte 0xff, .* at byte 1"):
        _core.Characters().encode(b"a\xff")
    assert _core.Characters(unk_id=0xFFFD).encode(b"a\xff") == [97, 0xFFFD]


def test_characters_of_pieces_give_user_defined_ones_first():
    pieces = [("<unk>", "unknown"), ("a", "normal"), ("ab", "user_defined"), ("c", "control")]
    raw = [(text.encode(), 0.0, kind) for text, kind in pieces]
    characters = _core.Characters.from_pieces(raw, unk_id=0)
    assert characters.encode_spans(b"aabxxca") == [(1, 0, 1), (2, 1, 3), (0, 3, 6), (1, 6, 7)]

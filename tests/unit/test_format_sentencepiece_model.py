"""SentencePiece models as tokenizers, made by hand; what is wrong is named with its byte."""

import contextlib
import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from subword import FormatError, SubwordError, load, save
from subword.formats.sentencepiece_model import read, tokenizer_of
from subword.formats.sentencepiece_proto import (
    NormalizerSpec,
    Piece,
    SentencePieceModel,
    TrainerSpec,
    format_proto,
    parse_proto,
)

BYTES = tuple(Piece(f"<0x{byte:02X}>", 0.0, "byte") for byte in range(256))
PIECES = (
    Piece("<unk>", 0.0, "unknown"),
    Piece("<s>", 0.0, "control"),
    Piece("</s>", 0.0, "control"),
    Piece("[M]", 0.0, "user_defined"),
    Piece("▁the", -1.0, "normal"),
    Piece("▁", -2.0, "normal"),
    Piece("c", -3.0, "normal"),
    Piece("at", -2.5, "normal"),
    Piece("a", -3.5, "normal"),
    Piece("t", -3.5, "normal"),
)


def made(pieces=PIECES, normalizer=None, denormalizer=None, **trainer):
    return SentencePieceModel(
        pieces=pieces,
        trainer=TrainerSpec(**trainer),
        normalizer=normalizer or NormalizerSpec(),
        denormalizer=denormalizer,
    )


def stored(tmp_path, model):
    path = tmp_path / "made.model"
    path.write_bytes(format_proto(model))
    return path


def test_text_and_special_tokens(tmp_path):
    tok = load(stored(tmp_path, made()))
    assert tok.encode("the cat") == [4, 5, 6, 7]
    assert tok.encode("the  [M]cat ") == [4, 5, 3, 6, 7]
    assert tok.encode("<s>") == tok.encode("<s>", special="as_text")
    assert 1 not in tok.encode("<s>")
    assert tok.encode("the", template=True) == [1, 4, 2]
    assert tok.special_tokens == {"<unk>": 0, "<s>": 1, "</s>": 2}
    assert tok.encode("é the") == [5, 0, 4]
    assert tok.decode([1, 4, 5, 6, 7, 2]) == "the cat"
    assert tok.decode([4, 0], skip_special=True) == "the"
    assert tok.decode([4, 0]) == "the \u2047 "
    assert tok.encode_spans("the cat").byte_spans == [(0, 3), (3, 4), (4, 5), (5, 7)]


def test_bytes_that_are_not_utf8_are_kept_with_byte_fallback(tmp_path):
    tok = load(stored(tmp_path, made((*PIECES, *BYTES), byte_fallback=True)))
    ids = tok.encode(b"the \xff\xc3")
    assert ids == [4, 5, 10 + 0xFF, 10 + 0xC3]
    assert tok.decode(ids) == "the \ufffd\ufffd"


def test_the_stream_decoder_gives_characters_as_soon_as_they_are_whole(tmp_path):
    tok = load(stored(tmp_path, made((*PIECES, *BYTES), byte_fallback=True)))
    stream = tok.stream_decoder()
    ids = [5, 10 + 0xC3, 10 + 0xA9, 10 + 0xFF, 1, 4, 10 + 0xE4]
    assert [stream.push(at) for at in ids] == ["", "", "é", "\ufffd", "", " the", ""]
    assert stream.finish() == "\ufffd"


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (made(PIECES[1:]), "none of 9 pieces is the unknown one"),
        (made((*PIECES, Piece("?", 0.0, "unknown"))), "piece 10, '?', is a second unknown piece"),
        (made(PIECES + BYTES), "piece 10, '<0x00>', is a byte, but byte_fallback is off"),
        (made(PIECES, byte_fallback=True), "byte_fallback is on, but 256 byte pieces lack"),
        (made(PIECES + BYTES[1:], byte_fallback=True), "1 byte pieces lack, as <0x00>"),
        (made((*PIECES, Piece("x", 0.0, "byte")), byte_fallback=True), "piece 10, 'x', is a byte"),
        (made((*PIECES, Piece("x", 1e30, "normal"))), "score"),
        (made(normalizer=NormalizerSpec(precompiled_charsmap=b"abc")), "charsmap is damaged"),
        (
            made(normalizer=NormalizerSpec(precompiled_charsmap=b"\xff\xff\xff\x7fabcd")),
            "charsmap is damaged",
        ),
    ],
)
def test_what_can_be_no_model_is_refused(tmp_path, model, message):
    with pytest.raises(FormatError) as caught:
        load(stored(tmp_path, model))
    assert message in str(caught.value)
    assert "made.model: " in str(caught.value)


def test_refusals_name_the_byte(tmp_path):
    pieces = (*PIECES, Piece("?", 0.0, "unknown"))
    data = format_proto(made(pieces))
    (tmp_path / "x.model").write_bytes(data)
    at = data.index(b"?") - 4
    with pytest.raises(FormatError, match=f"byte {at}:"):
        load(tmp_path / "x.model")


@pytest.mark.parametrize("kind", ["unigram", "bpe", "word", "char"])
def test_a_model_survives_saving(tmp_path, kind):
    normalizer = NormalizerSpec(remove_extra_whitespaces=False)
    model = made((*PIECES, *BYTES), normalizer, byte_fallback=True, model_type=kind)
    tok = load(stored(tmp_path, model))
    save(tok, tmp_path / "again.model")
    again = parse_proto((tmp_path / "again.model").read_bytes())
    assert again.pieces == model.pieces
    assert load(tmp_path / "again.model") == tok


def test_a_rank_file_may_be_called_model(tmp_path):
    (tmp_path / "tokenizer.model").write_bytes(b"YQ== 0\nYg== 1\n")
    with pytest.raises(FormatError, match="pattern"):
        load(tmp_path / "tokenizer.model")
    assert load(tmp_path / "tokenizer.model", pattern="gpt2").encode("ab") == [0, 1]
    stored(tmp_path, made()).rename(tmp_path / "unnamed")
    assert load(tmp_path / "unnamed").encode("the") == [4]


@given(st.data())
def test_a_damaged_file_gives_a_tokenizer_or_an_error_of_subword(tmp_path_factory, data):
    content = bytearray(format_proto(made((*PIECES, *BYTES), byte_fallback=True)))
    charsmap = data.draw(st.binary(max_size=40))
    content += format_proto(made((), NormalizerSpec(precompiled_charsmap=charsmap)))
    for at in data.draw(st.lists(st.integers(0, len(content) - 1), max_size=4)):
        content[at] = data.draw(st.integers(0, 255))
    path = tmp_path_factory.getbasetemp() / "damaged.model"
    path.write_bytes(content[: data.draw(st.integers(0, len(content)))])
    with contextlib.suppress(SubwordError):
        tok = read(path)
        tok.decode(tok.encode("the cat é [M]"))


def test_a_vocab_is_written_and_read_with_what_it_does_not_hold(tmp_path):
    tok = load(stored(tmp_path, made()))
    save(tok, tmp_path / "made.vocab")
    lines = (tmp_path / "made.vocab").read_text().split("\n")
    assert lines[4:6] == ["▁the\t-1", "▁\t-2"]
    given = {"model_type": "unigram", "normalizer": NormalizerSpec()}
    assert load(tmp_path / "made.vocab", user_defined=["[M]"], **given) == tok
    for name in given:
        rest = {key: value for key, value in given.items() if key != name}
        with pytest.raises(FormatError, match=f"does not say its {name}"):
            load(tmp_path / "made.vocab", **rest)
    with pytest.raises(FormatError, match="'nope' is not in the file"):
        load(tmp_path / "made.vocab", user_defined=["nope"], **given)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "the file is empty"),
        ("a\t1\n\n", ":2: '' is not a piece"),
        ("a\t1\na\t2\n", ":2: 'a' stands on line 1 too"),
        ("a\tnan\n", ":1: 'a"),
        ("a 1\n", ":1: 'a 1' is not a piece"),
        ("a\t1\n", ":2: none of 1 pieces is the unknown one"),
    ],
)
def test_a_damaged_vocab_is_refused_by_its_line(tmp_path, content, message):
    (tmp_path / "x.vocab").write_text(content)
    with pytest.raises(FormatError) as caught:
        load(tmp_path / "x.vocab", model_type="bpe", normalizer=NormalizerSpec())
    assert message in str(caught.value)


def test_a_piece_that_a_line_cannot_hold_is_refused(tmp_path):
    tok = load(stored(tmp_path, made((*PIECES, Piece("a\tb", -1.0, "normal")))))
    with pytest.raises(FormatError, match="piece 10"):
        save(tok, tmp_path / "x.vocab")


TEXTS = st.text(alphabet="thecatx é\t▁[M]", max_size=60)


@pytest.mark.parametrize("kind", ["unigram", "bpe"])
@given(
    texts=st.lists(TEXTS, min_size=1, max_size=6),
    flags=st.tuples(st.booleans(), st.booleans(), st.booleans()),
)
def test_words_that_are_remembered_have_the_ids_of_the_whole_text(kind, texts, flags):
    """Spans are found in the text as a whole, ids word by word from the memo."""
    normalizer = NormalizerSpec(
        add_dummy_prefix=flags[0], remove_extra_whitespaces=flags[1], escape_whitespaces=flags[2]
    )
    tok = tokenizer_of(made(normalizer=normalizer, model_type=kind))
    for text in [*texts, *texts, " ".join(texts * 20)]:
        assert tok.encode(text) == tok.encode_spans(text).ids


def test_near_ties_are_decided_anew_behind_long_texts(tmp_path):
    """Sums of 32 bits round more the longer the text, and what wins by little depends on it."""
    letters = {letter: -5.0 - at / 7 for at, letter in enumerate("abcdefgh")}
    pieces = [Piece("<unk>", 0.0, "unknown"), Piece("▁", -2.0, "normal")]
    pieces += [Piece(letter, score, "normal") for letter, score in letters.items()]
    pieces += [
        Piece(a + b, letters[a] + letters[b] + (at % 41 - 20) / 5000, "normal")
        for at, (a, b) in enumerate(itertools.product(letters, repeat=2))
    ]
    path = stored(tmp_path, made(tuple(pieces)))
    words = ["".join(word) for word in itertools.product("abcdefgh", repeat=4)]
    tok = load(path)
    for text in [" ".join(words[::2] * 2), *words, " ".join(words)]:
        assert tok.encode(text) == tok.encode_spans(text).ids

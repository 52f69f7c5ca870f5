"""Real models give the ids, the spans and the text that sentencepiece gives."""

import json

import pytest
import zstandard

from subword import load

sentencepiece = pytest.importorskip("sentencepiece", reason="the peers group is not installed")


@pytest.fixture(scope="module")
def model(sentencepiece_model, shared, tmp_path_factory):
    """Golden cases, our tokenizer and sentencepiece's of one model."""
    name, data = sentencepiece_model
    path = tmp_path_factory.mktemp("model") / "tokenizer.model"
    path.write_bytes(data)
    golden = json.loads((shared / "golden" / f"{name}.json").read_bytes())
    assert len(golden["cases"]) > 300
    theirs = sentencepiece.SentencePieceProcessor(model_proto=data)
    return golden, load(path), theirs


def test_ids_are_the_golden_ones(model):
    golden, tok, _ = model
    assert tok.vocab_size == golden["vocab_size"]
    for case in golden["cases"]:
        assert tok.encode(case["t"]) == case["ids"], case["t"]
        assert tok.encode(case["t"].encode()) == case["ids"], case["t"]
    batch = tok.encode_batch([case["t"] for case in golden["cases"]])
    assert batch.tolist() == [case["ids"] for case in golden["cases"]]


def test_ids_of_parts_are_the_golden_ones(model):
    golden, tok, _ = model
    for case in golden["cases"]:
        assert list(tok.encode_iterable(case["t"])) == case["ids"], case["t"]


def test_text_of_ids_is_the_golden_one(model):
    golden, tok, _ = model
    for case in golden["cases"]:
        text = case.get("dec", case["t"])
        assert tok.decode(case["ids"]) == text
        stream = tok.stream_decoder()
        assert "".join(map(stream.push, case["ids"])) + stream.finish() == text


def test_pieces_and_spans_are_those_of_sentencepiece(model):
    """Of the bytes of an unknown character, there only the last has a width: all of it."""
    golden, tok, theirs = model
    for case in golden["cases"]:
        ours = tok.encode_spans(case["t"])
        pieces = theirs.encode(case["t"], return_type="proto").pieces
        assert ours.ids == case["ids"]
        expected = [(piece.begin, piece.end) for piece in pieces]
        for at, (span, piece) in enumerate(zip(ours.byte_spans, pieces, strict=True)):
            assert tok.token_bytes(piece.id) == theirs.id_to_piece(piece.id).encode()
            if theirs.is_byte(piece.id):
                begin, end = expected[at]
                expected[at] = span
                assert begin <= span[0] < span[1]
                assert end in (begin, span[1])
        assert ours.byte_spans == expected
        data = case["t"].encode()
        for (start, end), (first, last) in zip(ours.byte_spans, ours.char_spans, strict=True):
            assert first == len(data[:start].decode(errors="ignore"))
            assert case["t"][first:last].encode().startswith(data[start:end]) or first < last


def test_template_is_what_add_bos_and_add_eos_give(model):
    golden, tok, theirs = model
    bos, eos = theirs.bos_id() >= 0, theirs.eos_id() >= 0
    for case in golden["cases"][::20]:
        expected = theirs.encode(case["t"], add_bos=bos, add_eos=eos)
        assert tok.encode(case["t"], template=True) == expected


def test_text_that_spells_a_control_piece_stays_text(model):
    _, tok, theirs = model
    for token in tok.special_tokens:
        for text in (token, f"a {token}b"):
            assert tok.encode(text) == theirs.encode(text)
            assert tok.encode(text, special="forbid") == theirs.encode(text)


@pytest.mark.parametrize(
    "corpus", ["en_web/wikitext2_valid_test", "ja/aozora_bunko", "ru/tinystories_ru", "code/c"]
)
def test_ids_of_running_text(model, shared, corpus):
    """Lines, again when they are remembered, and a text so long that 32-bit scores lose digits."""
    golden, tok, theirs = model
    if golden["vocab"].startswith("kh_"):
        pytest.skip("a vocabulary of a few words")
    with (shared / "data" / f"{corpus}.txt.zst").open("rb") as packed:
        text = zstandard.ZstdDecompressor().stream_reader(packed).read(200_000)
    text = text.decode(errors="ignore")
    texts = [*text.split("\n"), text, text.replace("\n", " ")]
    expected = [ids.tolist() for ids in theirs.encode(texts, return_type="numpy")]
    for _ in range(2):
        assert tok.encode_batch(texts, n_threads=1).tolist() == expected

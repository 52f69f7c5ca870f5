"""Models made at random do in sentencepiece what they do here: ids, spans, text, and files."""

import random

import pytest

from subword import load
from subword.formats.sentencepiece_proto import (
    NormalizerSpec,
    Piece,
    SentencePieceModel,
    TrainerSpec,
    format_proto,
)

sentencepiece = pytest.importorskip("sentencepiece", reason="the peers group is not installed")

BYTES = [f"<0x{byte:02X}>" for byte in range(256)]
KINDS = ["normal"] * 8 + ["unused", "control"]


def random_model(pick):
    letters = pick.choice(["ab", "ab▁", "abcé▁", "a🙂你▁▁"])
    texts = {"".join(pick.choices(letters, k=pick.randrange(1, 6))) for _ in range(25)}
    kinds = KINDS + ["user_defined"] * pick.randrange(3)
    pieces = [Piece("<unk>", 0.0, "unknown"), Piece("<s>", 0.0, "control")]
    for text in sorted(texts):
        pieces.append(Piece(text, float(-pick.randrange(1, 90)) / 8, pick.choice(kinds)))
    has_bytes = pick.random() < 0.4
    pieces += [Piece(text, 0.0, "byte") for text in BYTES if has_bytes]
    pick.shuffle(pieces)
    model = SentencePieceModel(
        pieces=tuple(pieces),
        trainer=TrainerSpec(
            model_type=pick.choice(["unigram", "unigram", "bpe", "bpe", "word", "char"]),
            byte_fallback=has_bytes,
            treat_whitespace_as_suffix=pick.random() < 0.3,
            unk_surface=pick.choice([" \u2047 ", "?"]),
        ),
        normalizer=NormalizerSpec(
            add_dummy_prefix=pick.random() < 0.7,
            remove_extra_whitespaces=pick.random() < 0.5,
            escape_whitespaces=pick.random() < 0.8,
        ),
        denormalizer=None,
    )
    return model, letters.replace("▁", " ") + "  x<"


@pytest.mark.parametrize("seed", range(300))
def test_ids_and_spans_and_text(seed, tmp_path):
    pick = random.Random(seed)
    model, letters = random_model(pick)
    path = tmp_path / "made.model"
    path.write_bytes(format_proto(model))
    tok = load(path)
    theirs = sentencepiece.SentencePieceProcessor(model_file=str(path))
    is_coarse = any(len(p.text) > 1 for p in model.pieces if p.type in ("byte", "user_defined"))
    for n_letters in (1, 2, 3, 5, 8, 13, 40):
        text = "".join(pick.choices(letters, k=n_letters))
        proto = theirs.encode(text, return_type="proto")
        ours = tok.encode_spans(text)
        assert ours.ids == [piece.id for piece in proto.pieces], (model, text)
        assert tok.encode(text) == ours.ids
        for piece, span in zip(proto.pieces, ours.byte_spans, strict=True):
            # A user-defined piece that encoding does not keep whole, or a character of byte
            # pieces, is one place there: what begins inside it begins where it does.
            if is_coarse:
                assert piece.begin <= span[0] <= span[1], (model, text)
            else:
                assert (piece.begin, piece.end) == span, (model, text)
    for n_ids in (1, 2, 3, 5, 8, 40):
        ids = pick.choices(range(len(model.pieces)), k=n_ids)
        text = theirs.decode(ids)
        assert tok.decode(ids) == text, (model, ids)
        stream = tok.stream_decoder()
        assert "".join(map(stream.push, ids)) + stream.finish() == text, (model, ids)
        assert "".join(map(stream.push, ids)) + stream.finish() == text, (model, ids)

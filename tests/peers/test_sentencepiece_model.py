"""Model files are read as sentencepiece itself reads them."""

import pytest

from subword.formats.sentencepiece_proto import parse_proto, role_ids

sentencepiece = pytest.importorskip("sentencepiece", reason="the peer is not installed")
zstandard = pytest.importorskip("zstandard")

MODELS = [
    "albert_sp/spiece.model",
    "mistral_v1/tokenizer.model",
    "mistral_v7/tokenizer.model",
    "seqio_test_sp/sentencepiece.model",
    "spm_test_en/test_model.model",
    "spm_test_ja/test_ja_model.model",
    "xlnet_sp/spiece.model",
    "keras_hub_spm/phi3_test_vocab.spm",
    "keras_hub_spm/t5_test_vocab.spm",
]


@pytest.mark.parametrize("name", MODELS)
def test_pieces_and_ids_are_equal(name, shared):
    with (shared / "vocab" / f"{name}.zst").open("rb") as packed:
        data = zstandard.ZstdDecompressor().stream_reader(packed).read()
    ours, theirs = parse_proto(data), sentencepiece.SentencePieceProcessor(model_proto=data)
    assert len(ours.pieces) == theirs.get_piece_size()
    for at, piece in enumerate(ours.pieces):
        assert piece.text == theirs.id_to_piece(at)
        assert piece.score == theirs.get_score(at)
        assert (piece.type == "control") == theirs.is_control(at)
        assert (piece.type == "unknown") == theirs.is_unknown(at)
        assert (piece.type == "byte") == theirs.is_byte(at)
        assert (piece.type == "unused") == theirs.is_unused(at)
    theirs_by_role = {
        "unk": theirs.unk_id(),
        "bos": theirs.bos_id(),
        "eos": theirs.eos_id(),
        "pad": theirs.pad_id(),
    }
    assert role_ids(ours) == {role: at for role, at in theirs_by_role.items() if at >= 0}

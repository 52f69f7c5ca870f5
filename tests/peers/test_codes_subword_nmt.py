"""Codes learnt by subword-nmt, applied by both."""

import io

import pytest

from subword.formats import load, save

apply_bpe = pytest.importorskip("subword_nmt.apply_bpe")
learn_bpe = pytest.importorskip("subword_nmt.learn_bpe")

TEXT = "low low lower newest newest widest naïve café 你好 你好 世界 здравствуй, мир! it's\n" * 4


def test_segments_are_those_of_subword_nmt(tmp_path):
    codes = io.StringIO()
    learn_bpe.learn_bpe(io.StringIO(TEXT), codes, 40)
    path = tmp_path / "codes"
    path.write_text(codes.getvalue(), encoding="utf-8")
    tok = load(path, "subword_nmt")
    peer = apply_bpe.BPE(io.StringIO(codes.getvalue()))
    for line in TEXT.splitlines()[:1] + ["lowest  lownew niece мир世", "  wide  "]:
        tokens = [tok.token_bytes(token_id).decode() for token_id in tok.encode(line)]
        spelled = [
            token.removesuffix("</w>") if token.endswith("</w>") else f"{token}@@"
            for token in tokens
        ]
        assert spelled == peer.process_line(line).split()
    save(tok, tmp_path / "again", "subword_nmt")
    assert (tmp_path / "again").read_text(encoding="utf-8") == codes.getvalue()

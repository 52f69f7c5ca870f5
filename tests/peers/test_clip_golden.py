"""CLIP's vocabulary, held to the golden ids of open_clip."""

import json

import pytest
import zstandard

from subword.formats import clip, load, save


def test_real_ids_are_those_of_open_clip(shared, tmp_path):
    pytest.importorskip("ftfy")
    name = "bpe_simple_vocab_16e6.txt.gz"
    packed = (shared / "vocab" / "clip" / f"{name}.zst").read_bytes()
    (tmp_path / name).write_bytes(zstandard.ZstdDecompressor().stream_reader(packed).read())
    tok = load(tmp_path / name)
    record = json.loads((shared / "golden" / "clip.json").read_text())
    assert tok.vocab_size == record["vocab_size"]
    for case in record["cases"]:
        assert tok.encode(clip.clean(case["t"])) == case["ids"]
        assert tok.decode(case["ids"]) == case["dec"]
    save(tok, tmp_path / "again.gz", "clip")
    assert load(tmp_path / "again.gz", "clip") == tok

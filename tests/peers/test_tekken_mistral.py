"""tekken.json, held to mistral-common and to its golden ids."""

import json

import pytest
import zstandard

from subword.formats import load, save
from subword.training.bpe import train_bpe

TEXT = "the cat in the hat, naïve 你好 \U0001f642 12 [INST] <s> \x00\n\n  it's " * 5


def test_real_ids_are_those_of_mistral_common(shared, tmp_path):
    packed = (shared / "vocab" / "tekken_240911" / "tekken.json.zst").read_bytes()
    path = tmp_path / "tekken.json"
    path.write_bytes(zstandard.ZstdDecompressor().stream_reader(packed).read())
    tok = load(path)
    record = json.loads((shared / "golden" / "tekken_240911.json").read_text())
    assert tok.vocab_size == record["n_words"]
    for case in record["cases"]:
        assert tok.encode(case["t"]) == case["ids"]
        assert tok.decode(case["ids"]) == case.get("dec", case["t"])
    not_utf_8 = 0
    for token in tok.model.vocab.values():
        try:
            token.decode()
        except UnicodeDecodeError:
            not_utf_8 += 1
            assert tok.decode_bytes(tok.encode(token)) == token
    assert not_utf_8 > 1000
    save(tok, tmp_path / "again.json", "tekken")
    assert load(tmp_path / "again.json") == tok


def test_mistral_common_reads_what_is_written(tmp_path):
    mistral = pytest.importorskip("mistral_common.tokens.tokenizers.tekken")
    tok = train_bpe([TEXT], 270, pattern="o200k")
    ids = {token_id + 4: token for token_id, token in tok.model.vocab.items()}
    special = {"<unk>": 0, "<s>": 1, "</s>": 2, "[INST]": 3}
    merges = tuple((left + 4, right + 4) for left, right in tok.model.merges)
    shifted = tok.replace(
        model=type(tok.model)(ids, merges, whole_first=True), special_tokens=special
    )
    save(shifted, tmp_path / "tekken.json", "tekken")
    peer = mistral.Tekkenizer.from_file(tmp_path / "tekken.json")
    assert peer.n_words == shifted.vocab_size
    assert peer.encode(TEXT, bos=False, eos=False) == shifted.encode(TEXT, special="as_text")

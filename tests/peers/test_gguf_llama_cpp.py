"""GGUF vocabularies, held to the ids that llama.cpp gives."""

import numpy as np
import pytest
import zstandard

from subword.formats import load, save

gguf = pytest.importorskip("gguf")

NAMES = ["bert-bge", "gpt-2", "phi-3", "qwen2"]


def unpack(path):
    return zstandard.ZstdDecompressor().stream_reader(path.read_bytes()).read()


@pytest.mark.parametrize("name", NAMES)
def test_real_ids_are_those_of_llama_cpp(shared, tmp_path, name):
    stem = shared / "vocab" / "llamacpp_gguf" / f"ggml-vocab-{name}.gguf"
    path = tmp_path / "vocab.gguf"
    path.write_bytes(unpack(stem.with_name(f"{stem.name}.zst")))
    texts = unpack(stem.with_name(f"{stem.name}.inp.zst")).decode()
    wanted = unpack(stem.with_name(f"{stem.name}.out.zst")).decode().split("\n")
    tok = load(path)
    cases = list(zip(texts.split("\n__ggml_vocab_test__\n"), wanted, strict=True))
    assert len(cases) > 40
    for text, ids in cases:
        assert tok.encode(text) == list(map(int, ids.split()))


@pytest.mark.parametrize("name", ["bert-bge", "phi-3"])
def test_the_package_gguf_reads_what_is_written(shared, tmp_path, name):
    packed = shared / "vocab" / "llamacpp_gguf" / f"ggml-vocab-{name}.gguf.zst"
    (tmp_path / "vocab.gguf").write_bytes(unpack(packed))
    tok = load(tmp_path / "vocab.gguf")
    save(tok, tmp_path / "again.gguf")
    assert load(tmp_path / "again.gguf") == tok
    old, new = (gguf.GGUFReader(tmp_path / file) for file in ("vocab.gguf", "again.gguf"))
    fields = [field for field in ("scores", "tokens") if f"tokenizer.ggml.{field}" in old.fields]
    for field in fields:
        before, after = (reader.fields[f"tokenizer.ggml.{field}"] for reader in (old, new))
        assert len(before.data) == len(after.data) == tok.vocab_size
    if "scores" in fields:
        scores = [reader.fields["tokenizer.ggml.scores"].contents() for reader in (old, new)]
        assert np.array_equal(*scores)

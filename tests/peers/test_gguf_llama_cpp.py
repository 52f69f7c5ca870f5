"""GGUF vocabularies, held to the ids that llama.cpp gives."""

import pytest
import zstandard

from subword.byte_characters import to_characters
from subword.formats import load, save
from subword.training.bpe import train_bpe

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
def test_a_real_vocabulary_survives_saving(shared, tmp_path, name):
    packed = shared / "vocab" / "llamacpp_gguf" / f"ggml-vocab-{name}.gguf.zst"
    (tmp_path / "vocab.gguf").write_bytes(unpack(packed))
    tok = load(tmp_path / "vocab.gguf")
    save(tok, tmp_path / "again.gguf")
    assert load(tmp_path / "again.gguf") == tok


def test_the_package_gguf_reads_what_is_written(tmp_path):
    tok = train_bpe(["the cat in the hat " * 9], 260, ["<end>"], pattern="qwen2")
    save(tok, tmp_path / "out.gguf")
    fields = gguf.GGUFReader(tmp_path / "out.gguf").fields
    read = {name: fields[f"tokenizer.ggml.{name}"].contents() for name in ("model", "pre")}
    assert read == {"model": "gpt2", "pre": "qwen2"}
    tokens = fields["tokenizer.ggml.tokens"].contents()
    assert tokens[256] == "<end>"
    assert [to_characters(token) for token in tok.model.vocab.values()] == [
        token for token in tokens if token != "<end>"
    ]
    assert fields["tokenizer.ggml.token_type"].contents()[255:257] == [1, 3]
    merges = fields["tokenizer.ggml.merges"].contents()
    assert merges == [" ".join(map(to_characters, merge)) for merge in tok.merges]

"""Real vocabularies give the ids that their own libraries gave."""

import hashlib
import io
import json
import tarfile
from pathlib import Path

import numpy as np
import pytest
import zstandard

from subword.formats import load, save

ENCODINGS = ["r50k_base", "p50k_base", "p50k_edit", "cl100k_base", "o200k_base", "o200k_harmony"]
FOLDERS = {"p50k_edit": "p50k_base", "o200k_harmony": "o200k_base", "gpt2": "r50k_base"}
END = "<|endoftext|>"


@pytest.fixture(scope="session")
def vocabularies(shared, tmp_path_factory):
    """The folder of a vocabulary by name, decompressed once."""
    root = tmp_path_factory.mktemp("vocabularies")

    def folder(name):
        name = FOLDERS.get(name, name)
        if not (root / name).exists():
            (root / name).mkdir()
            for packed in sorted((shared / "vocab" / name).glob("*.zst")):
                (root / name / packed.stem).write_bytes(unpack(packed))
        return root / name

    return folder


def unpack(path: Path) -> bytes:
    with path.open("rb") as file:
        return zstandard.ZstdDecompressor().stream_reader(file).read()


def golden(shared, name):
    return json.loads((shared / "golden" / f"{name}.json").read_text())


def only_file(folder):
    (path,) = folder.iterdir()
    return path


def load_tiktoken(folder, name):
    return load(only_file(folder), encoding=name if name in FOLDERS else None)


@pytest.mark.parametrize("name", ENCODINGS)
def test_ids_of_a_rank_file_are_tiktokens(name, shared, vocabularies):
    tok, record = load_tiktoken(vocabularies(name), name), golden(shared, name)
    assert tok.vocab_size == record["n_vocab"]
    for case in record["cases"]:
        assert tok.encode(case["t"], special="as_text") == case["ids"]
        assert tok.encode(case["t"]) == case.get("ids_sp", case["ids"])
        assert tok.decode(case["ids"]) == case.get("dec", case["t"])


def test_the_second_spelling_of_an_id_is_tiktokens(shared, vocabularies):
    tok, record = (
        load_tiktoken(vocabularies("o200k_harmony"), "o200k_harmony"),
        golden(shared, "o200k_harmony"),
    )
    assert len(tok.special_tokens) == record["n_special"]
    # The record holds the first of the reserved names only.
    assert record["special_tokens"].items() <= tok.special_tokens.items()
    assert tok.encode("<|reserved_200018|><|endofprompt|>") == [200018, 200018]
    assert tok.decode([200018]) == "<|endofprompt|>"


def test_ids_of_whisper_are_tiktokens(shared, vocabularies):
    record = golden(shared, "whisper_multilingual")
    path = only_file(vocabularies("whisper_multilingual"))
    tok = load(path, special_tokens=record["special_tokens"])
    for case in record["cases"]:
        assert tok.encode(case["t"], special="as_text") == case["ids"]
        assert tok.encode(case["t"]) == case.get("ids_sp", case["ids"])
        assert tok.decode(case["ids"]) == case.get("dec", case["t"])


@pytest.mark.parametrize("name", ["gpt2_hf", "gptoss_hf", "deepseek_v3"])
def test_ids_of_a_file_of_hf_are_those_of_tokenizers(name, shared, vocabularies):
    tok, record = load(vocabularies(name)), golden(shared, name)
    assert tok.vocab_size == record["vocab_size"]
    for case in record["cases"]:
        assert tok.encode(case["t"]) == case["ids"]
        assert tok.decode(case["ids"]) == case.get("dec", case["t"])
        if "ids_plain" in case:
            assert tok.encode(case["t"], special="as_text") == case["ids_plain"]


@pytest.mark.parametrize("name", ["gpt2_hf", "deepseek_v3", "cl100k_base"])
@pytest.mark.parametrize("kind", ["tokenizer_json", "yaml"])
def test_a_real_vocabulary_survives_saving(name, kind, vocabularies, tmp_path):
    folder = vocabularies(name)
    tok = load(folder) if name.endswith(("_hf", "_v3")) else load(only_file(folder))
    save(tok, tmp_path / "saved", format=kind)
    again = load(tmp_path / "saved", format=kind)
    assert again == tok
    assert again.model == tok.model


@pytest.mark.parametrize("name", ["gpt2", "r50k_base", "cl100k_base", "o200k_base"])
def test_ids_of_whole_corpora_are_tiktokens(name, shared, vocabularies, corpora):
    tok = load_tiktoken(vocabularies(name), name)
    record = json.loads((shared / "golden" / "bulk.json").read_text())
    name = "gpt2" if name == "r50k_base" else name
    for text, documents in corpora.items():
        ids = tok.encode_batch(documents).ids
        assert len(ids) == record[name][text]["tokens"], text
        digest = hashlib.sha256(ids.astype("<u4").tobytes()).hexdigest()
        assert digest == record[name][text]["ids_sha256"], text


@pytest.mark.parametrize("name", ["deepseek_v3"])
def test_ids_of_whole_corpora_are_hfs(name, shared, vocabularies, corpora):
    tok = load(vocabularies(name))
    record = json.loads((shared / "golden" / "bulk.json").read_text())[name]
    for text, documents in corpora.items():
        if text not in record:
            continue
        ids = tok.encode_batch(documents).ids
        assert len(ids) == record[text]["tokens"], text
        digest = hashlib.sha256(ids.astype("<u4").tobytes()).hexdigest()
        assert digest == record[text]["ids_sha256"], text


@pytest.fixture(scope="session")
def corpora(shared):
    """The documents of each text of bulk.json."""
    texts = json.loads((shared / "golden" / "bulk.json").read_text())["_texts"]
    found = {name: read_corpus(shared / "data", name) for name in texts}
    for name, documents in found.items():
        assert len(documents) == texts[name]["docs"], name
        assert sum(map(len, documents)) == texts[name]["bytes"], name
    return found


def read_corpus(data, name):
    stem, _, part = name.partition(" ")
    if stem == "ntrex128":
        return list(first_lines(data / "parallel" / "ntrex128.tar.zst", 100))
    (path,) = data.rglob(f"{stem.split('/')[-1]}.txt.zst")
    documents = unpack(path).split(f"{END}\n".encode())
    if part == "(all)":
        return [document for document in documents if document]
    n_bytes = int(part.split(">=")[1].split()[0]) * 1_000_000
    sizes = np.cumsum([len(document) for document in documents])
    return documents[: int(np.searchsorted(sizes, n_bytes)) + 1]


def first_lines(path, n_lines):
    with tarfile.open(fileobj=io.BytesIO(unpack(path))) as archive:
        members = sorted((m for m in archive if m.isfile()), key=lambda member: member.name)
        for member in members:
            lines = archive.extractfile(member).read().split(b"\n")[:n_lines]
            yield from (line for line in lines if line.strip())

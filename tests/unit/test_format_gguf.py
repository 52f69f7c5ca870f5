"""GGUF files: metadata, vocabularies, damage."""

import struct
from dataclasses import replace

import numpy as np
import pytest

from subword.errors import FormatError, MissingExtraError
from subword.formats import gguf, load, save
from subword.formats.gguf_fields import read_fields
from subword.formats.gguf_vocabulary import PATTERNS
from subword.named import UnigramTokenizer, WordPieceTokenizer
from subword.normalizers import SentencePieceSpaces
from subword.patterns import NAMED_PATTERNS
from subword.training.bpe import train_bpe

TEXT = "the cat in the hat, naïve 你好 12\n it's " * 9
CODES = {np.uint32: 4, np.int32: 5, np.float32: 6, bool: 7, str: 8, np.uint64: 10}


def string(text):
    data = text if isinstance(text, bytes) else text.encode()
    return struct.pack("<Q", len(data)) + data


def value(item):
    if isinstance(item, bool):
        return struct.pack("<IB", 7, item)
    if isinstance(item, int):
        return struct.pack("<II", 4, item)
    if isinstance(item, str | bytes):
        return struct.pack("<I", 8) + string(item)
    if isinstance(item, np.ndarray):
        code = CODES[item.dtype.type]
        return struct.pack("<IIQ", 9, code, len(item)) + item.tobytes()
    return struct.pack("<IIQ", 9, 8, len(item)) + b"".join(map(string, item))


def packed(fields, version=3, n_fields=None):
    body = b"".join(string(name) + value(item) for name, item in fields.items())
    count = len(fields) if n_fields is None else n_fields
    return b"GGUF" + struct.pack("<IQQ", version, 0, count) + body


FIELDS = {
    "general.architecture": "gpt2",
    "general.weights": np.arange(4, dtype=np.float32),
    "general.names": ["x", "y"],
    "tokenizer.ggml.model": "gpt2",
    "tokenizer.ggml.pre": "gpt-2",
    "tokenizer.ggml.tokens": ["a", "Ġ", "Ġa", "<end>", "unused"],
    "tokenizer.ggml.token_type": np.array([1, 1, 1, 3, 5], np.int32),
    "tokenizer.ggml.merges": ["Ġ a"],
    "tokenizer.ggml.bos_token_id": 3,
    "tokenizer.ggml.add_bos_token": True,
}


@pytest.fixture
def file(tmp_path):
    def write(data):
        path = tmp_path / "vocab.gguf"
        path.write_bytes(data if isinstance(data, bytes) else packed(data))
        return path

    return write


def test_fields_are_read_by_prefix(file):
    fields = read_fields(file(FIELDS), "general.")
    assert fields["general.architecture"] == b"gpt2"
    assert fields["general.weights"].tolist() == [0, 1, 2, 3]
    assert fields["general.names"] == [b"x", b"y"]
    assert len(fields) == 3


def test_weights_behind_the_fields_do_not_matter(file):
    tok = load(file(packed(FIELDS) + bytes(1000)))
    assert tok.encode("a a<end>") == [0, 2, 3]
    assert tok.encode("a", template=True) == [3, 0]
    assert 4 not in tok.vocab


def test_the_pattern_is_not_guessed(file):
    path = file(FIELDS | {"tokenizer.ggml.pre": "someone's"})
    with pytest.raises(FormatError, match=r"someone's.*pattern="):
        load(path)
    assert load(path, pattern="gpt2").encode("a ") == load(file(FIELDS)).encode("a ")
    assert set(PATTERNS.values()) <= NAMED_PATTERNS.keys()


def test_a_file_cut_short_is_refused(file):
    whole = packed(FIELDS)
    for n_bytes in range(0, len(whole), 7):
        with pytest.raises(FormatError, match=r"vocab\.gguf"):
            load(file(whole[:n_bytes]))


@pytest.mark.parametrize(
    ("data", "match"),
    [
        (b"GGML" + bytes(100), "starts with 'GGUF'"),
        (packed(FIELDS, version=1), "version 1"),
        (packed(FIELDS, version=1 << 24), "little-endian"),
        (packed(FIELDS, n_fields=10**9), "1000000000 fields"),
        (packed({}, n_fields=1) + struct.pack("<Q", 2**63) + bytes(40), "cut short"),
        (packed({}, n_fields=1) + string("a") + struct.pack("<IIQ", 9, 8, 2**60), "strings"),
        (packed({}, n_fields=1) + string("a") + struct.pack("<IIQ", 9, 4, 2**60), "numbers"),
        (packed({}, n_fields=1) + string("a") + struct.pack("<IIQ", 9, 9, 1) + bytes(20), "list"),
        (packed({}, n_fields=1) + string("a") + struct.pack("<IQ", 13, 0), "type 13"),
        (packed({"a": 1}, n_fields=2) + string("a") + value(2), "twice"),
    ],
)
def test_hostile_lengths_are_refused(file, data, match):
    with pytest.raises(FormatError, match=match):
        read_fields(file(data))


@pytest.mark.parametrize(
    ("changes", "match"),
    [
        ({"tokenizer.ggml.model": "rwkv"}, "rwkv"),
        ({"tokenizer.ggml.model": 7}, "expected a string"),
        ({"tokenizer.ggml.tokens": []}, "tokens"),
        ({"tokenizer.ggml.token_type": np.array([1], np.int32)}, "token_type"),
        ({"tokenizer.ggml.token_type": np.array([9] * 5, np.int32)}, "type 9"),
        ({"tokenizer.ggml.tokens": ["a", "Ġ", "a", "<end>", "y"]}, "two ids"),
        ({"tokenizer.ggml.merges": ["a"]}, "merge 0"),
        ({"tokenizer.ggml.merges": ["a b"]}, "merge 0"),
        ({"tokenizer.ggml.merges": 3}, "merges"),
        ({"tokenizer.ggml.bos_token_id": 0}, "bos_token_id"),
        ({"tokenizer.ggml.add_bos_token": 1}, "true or false"),
        ({"tokenizer.ggml.model": "llama"}, "scores"),
        ({"tokenizer.ggml.tokens": [b"\xff", "Ġ", "aĠ", "<end>", "x"]}, "UTF-8"),
    ],
)
def test_damaged_vocabularies_are_refused(file, changes, match):
    with pytest.raises((FormatError, ValueError), match=match):
        load(file(FIELDS | changes))


def test_scores_that_are_no_numbers_are_refused(file):
    fields = FIELDS | {
        "tokenizer.ggml.model": "llama",
        "tokenizer.ggml.scores": np.array([0, np.nan, 0, 0, 0], np.float32),
    }
    with pytest.raises(FormatError, match="finite"):
        load(file(fields))


PIECES = [("<unk>", 0.0), ("\u2581", -1.0), ("a", -2.0), ("b", -3.0), ("\u2581ab", -1.5)]
TOKENIZERS = {
    "gpt2": lambda: train_bpe([TEXT], 265, ["<end>"], pattern="llama3"),
    "bert": lambda: WordPieceTokenizer(
        ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "the", "##s", "cat"], normalizer="bert"
    ),
}


@pytest.mark.parametrize("name", TOKENIZERS)
def test_what_is_written_is_read_back(tmp_path, name):
    pytest.importorskip("gguf")
    tok = TOKENIZERS[name]()
    save(tok, tmp_path / "out.gguf")
    again = load(tmp_path / "out.gguf")
    assert again.vocab == tok.vocab
    assert again.template == tok.template
    assert again.encode("The cats, the cat<end>") == tok.encode("The cats, the cat<end>")


def test_roles_and_chat_templates_are_read(file):
    fields = FIELDS | {
        "tokenizer.ggml.eos_token_id": 2,
        "tokenizer.ggml.padding_token_id": 2**32 - 1,
        "tokenizer.ggml.unknown_token_id": 5,
        "tokenizer.chat_template": "{{ messages }}",
    }
    tok = load(file(fields))
    assert dict(tok.roles) == {"bos": "<end>", "eos": " a"}
    assert tok.chat_template == "{{ messages }}"
    named = {"tokenizer.chat_templates": ["tools"], "tokenizer.chat_template.tools": "{{ tools }}"}
    more = load(file(fields | named))
    assert more.chat_template == {"default": "{{ messages }}", "tools": "{{ tools }}"}


@pytest.mark.parametrize(
    "changes",
    [
        {"tokenizer.chat_template": 7},
        {"tokenizer.chat_template": b"\xff"},
        {"tokenizer.chat_templates": ["absent"]},
        {"tokenizer.chat_templates": "tools"},
    ],
)
def test_damaged_chat_templates_are_refused(file, changes):
    with pytest.raises(FormatError, match="chat_template"):
        load(file(FIELDS | changes))


def test_a_pattern_may_have_either_name_where_ids_do_not_depend_on_it(tmp_path):
    pytest.importorskip("gguf")
    tok = train_bpe([TEXT], 265, pattern="o200k")
    assert not tok.model.whole_first
    save(tok, tmp_path / "out.gguf")
    assert load(tmp_path / "out.gguf").encode(TEXT) == tok.encode(TEXT)
    whole = tok.replace(model=replace(tok.model, merges=tok.model.merges[1:], whole_first=True))
    save(whole, tmp_path / "out.gguf")
    assert load(tmp_path / "out.gguf").encode(TEXT) == whole.encode(TEXT)
    with pytest.raises(FormatError, match="without looking whole"):
        save(whole.replace(model=replace(whole.model, whole_first=False)), tmp_path / "out.gguf")


def test_what_would_not_be_read_back_is_refused(tmp_path):
    pytest.importorskip("gguf")
    path = tmp_path / "out.gguf"
    with pytest.raises(FormatError, match="no name for the split pattern"):
        save(train_bpe([TEXT], 265, pattern="none"), path)
    with pytest.raises(FormatError, match="normalizer"):
        save(TOKENIZERS["bert"]().replace(normalizer=()), path)
    spaces = UnigramTokenizer(PIECES, normalizer=[SentencePieceSpaces()], pattern=r"\S+")
    with pytest.raises(FormatError):
        save(spaces, path)
    assert not path.exists()


def test_a_missing_library_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "gguf", None)
    with pytest.raises(MissingExtraError, match=r"subword\[gguf\]"):
        gguf.write(TOKENIZERS["bert"](), tmp_path / "out.gguf")

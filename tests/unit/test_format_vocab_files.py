"""The shapes in which people write a vocabulary and its merges."""

import json
import pickle
from itertools import product

import pytest
import yaml

from subword.byte_characters import to_characters
from subword.errors import FormatError
from subword.formats import load
from subword.formats.vocab_files import read_files
from subword.named import BPETokenizer
from subword.training.bpe import train_bpe

TEXT = "the cat in the hat, the  \n\n naïve 你好 hat\u00a0cat " * 5


@pytest.fixture(scope="module")
def trained():
    return train_bpe([TEXT], 280)


def latin_1(token):
    return token.decode("latin-1")


SPELLINGS = {"gpt2": to_characters, "latin-1": latin_1, "bytes": list}
VOCABULARIES = {
    "{id: token}": lambda tokens: dict(enumerate(tokens)),
    "[token]": list,
    "{token: id}": lambda tokens: {token: at for at, token in enumerate(tokens)},
}

# No list can be a key.
WAYS = sorted(set(product(SPELLINGS, VOCABULARIES)) - {("bytes", "{token: id}")})


@pytest.mark.parametrize("suffix", [".json", ".yaml"])
@pytest.mark.parametrize(("spelling", "shape"), WAYS)
def test_every_shape_gives_the_same_tokenizer(trained, tmp_path, spelling, shape, suffix):
    spell = SPELLINGS[spelling]
    vocab = VOCABULARIES[shape]([spell(token) for token in trained.vocab.values()])
    merges = [[spell(left), spell(right)] for left, right in trained.merges]
    paths = tmp_path / f"vocab{suffix}", tmp_path / f"merges{suffix}"
    dump = json.dumps if suffix == ".json" else yaml.safe_dump
    for path, value in zip(paths, (vocab, merges), strict=True):
        path.write_text(dump(value), encoding="utf-8")
    found = BPETokenizer.from_files(*paths)
    assert found.vocab == trained.vocab
    assert found.merges == trained.merges
    assert load(paths[0], "vocab_merges", merges_path=paths[1]).encode(TEXT) == found.encode(TEXT)


def test_merges_may_be_joined_by_a_space(tmp_path):
    (tmp_path / "v.json").write_text('{"a": 0, "b": 1, "ab": 2}')
    (tmp_path / "m.json").write_text('["a b"]')
    assert read_files(tmp_path / "v.json", tmp_path / "m.json")[1] == [(b"a", b"b")]


def test_lines_of_latin_1_have_no_tokens_with_spaces(tmp_path):
    (tmp_path / "v.json").write_text('["é", " ", "t", "ét"]')
    (tmp_path / "m.txt").write_text("é t\n", encoding="utf-8")
    vocab, merges = read_files(tmp_path / "v.json", tmp_path / "m.txt")
    assert vocab == {0: b"\xe9", 1: b" ", 2: b"t", 3: b"\xe9t"}
    assert merges == [(b"\xe9", b"t")]
    (tmp_path / "m.txt").write_text("  t\n", encoding="utf-8")
    with pytest.raises(FormatError, match=r"m\.txt:1: .*JSON list"):
        read_files(tmp_path / "v.json", tmp_path / "m.txt")


def test_lost_bytes_are_noticed(trained, tmp_path):
    replaced = {at: token.decode(errors="replace") for at, token in trained.vocab.items()}
    (tmp_path / "v.json").write_text(json.dumps(replaced))
    (tmp_path / "m.json").write_text("[]")
    with pytest.raises(FormatError, match=r"v\.json: \d+ tokens are U\+FFFD .*errors='replace'"):
        read_files(tmp_path / "v.json", tmp_path / "m.json")


@pytest.mark.parametrize("name", ["v.json", "v.pkl", "v.yaml"])
def test_nothing_is_unpickled(tmp_path, name):
    (tmp_path / name).write_bytes(pickle.dumps({0: b"a"}))
    (tmp_path / "m.json").write_text("[]")
    with pytest.raises(FormatError, match="pickle"):
        read_files(tmp_path / name, tmp_path / "m.json")
    (tmp_path / "m.pkl").write_bytes(pickle.dumps([(b"a", b"b")]))
    (tmp_path / "v.json").write_text("[]")
    with pytest.raises(FormatError):
        read_files(tmp_path / "v.json", tmp_path / "m.pkl")


@pytest.mark.parametrize(
    ("vocab", "match"),
    [
        ("[[256]]", "not of bytes"),
        ("[[true]]", "not of bytes"),
        ("[null]", "expected a string"),
        ('{"0": [97], "x": [98]}', "decimal"),
        ("[]", "expected an object"),
    ],
)
def test_damaged_vocabularies_are_refused(tmp_path, vocab, match):
    (tmp_path / "v.json").write_text(vocab)
    (tmp_path / "m.json").write_text("[]")
    with pytest.raises(FormatError, match=rf"v\.json: .*{match}"):
        read_files(tmp_path / "v.json", tmp_path / "m.json")


@pytest.mark.parametrize("merges", ["{}", "[7]", '[["a"]]', '["a b c"]', '["ab"]', '[["a", 7]]'])
def test_damaged_merges_are_refused(tmp_path, merges):
    (tmp_path / "v.json").write_text('["a", "b", "ab"]')
    (tmp_path / "m.json").write_text(merges)
    with pytest.raises(FormatError, match=r"m\.json"):
        read_files(tmp_path / "v.json", tmp_path / "m.json")

"""Mistral's tekken.json."""

import base64
import json

import pytest

from subword.errors import FormatError
from subword.formats import load, save, tekken
from subword.named import BPETokenizer
from subword.special_tokens import TokenFlags

PATTERN = r"\w+|\W+"


def file_of(tokens=(b"ab", b"\xff\xfe"), **config):
    """Give a file of the bytes, some tokens and three special ones."""
    vocab = [bytes([byte]) for byte in range(256)] + list(tokens)
    sizes = {"default_vocab_size": 3 + len(vocab), "default_num_special_tokens": 3}
    return {
        "config": {"pattern": PATTERN, "num_vocab_tokens": len(vocab), "version": "v3"}
        | sizes
        | config,
        "special_tokens": [
            {"rank": 0, "token_str": "<s>", "is_control": True},
            {"rank": 1, "token_str": "[X]", "is_control": False},
        ],
        "vocab": [
            {"rank": rank, "token_bytes": base64.b64encode(token).decode(), "token_str": None}
            for rank, token in enumerate(vocab)
        ],
    }


@pytest.fixture
def written(tmp_path):
    def write(root):
        path = tmp_path / "tekken.json"
        path.write_text(root if isinstance(root, str) else json.dumps(root))
        return path

    return write


def test_ranks_follow_the_special_tokens(written):
    tok = load(written(file_of()))
    assert tok.encode("abba") == [3 + 256, 3 + ord("b"), 3 + ord("a")]
    assert tok.vocab_size == 3 + 256 + 2
    assert dict(tok.special_tokens) == {"<s>": 0, "[X]": 1, "<SPECIAL_2>": 2}
    assert tok.pattern == (PATTERN,)


def test_text_spells_no_control_token(written):
    tok = load(written(file_of()))
    assert tok.decode(tok.encode("<s>[X]")) == "<s>[X]"
    assert 0 not in tok.encode("<s>[X]")
    assert 1 in tok.encode("<s>[X]")
    assert tok.replace(token_flags={}).encode("<s>") == [0]


def test_tokens_that_are_no_utf_8_keep_their_bytes(written, tmp_path):
    tok = load(written(file_of()))
    assert tok.token_bytes(3 + 257) == b"\xff\xfe"
    assert tok.encode(b"\xff\xfe") == [3 + 257]
    save(tok, tmp_path / "again.json", "tekken")
    again = load(tmp_path / "again.json")
    assert again == tok
    entry = json.loads((tmp_path / "again.json").read_text())["vocab"][257]
    assert entry == {"rank": 257, "token_bytes": "//4=", "token_str": None}


def test_of_the_ranks_as_many_are_used_as_the_model_has(written):
    tok = load(written(file_of(default_vocab_size=3 + 257)))
    assert tok.vocab_size == 3 + 257
    assert tok.encode(b"\xff\xfe") == [3 + 255, 3 + 254]


def test_old_files_list_no_special_tokens(written):
    root = file_of(default_num_special_tokens=30, default_vocab_size=30 + 258)
    del root["special_tokens"]
    tok = load(written(root))
    assert tok.special_tokens["[INST]"] == 3
    assert tok.special_tokens["[TOOL_CONTENT]"] == 19
    assert tok.special_tokens["<SPECIAL_29>"] == 29
    root["config"]["version"] = "v11"
    with pytest.raises(FormatError, match="v11"):
        load(written(root))


@pytest.mark.parametrize(
    ("change", "match"),
    [
        (lambda root: root.update(colour="red"), "colour"),
        (lambda root: root["config"].update(dropout=0.1), "dropout"),
        (lambda root: root["config"].pop("pattern"), "pattern"),
        (lambda root: root["vocab"][7].update(rank=8), r"vocab\[7\]"),
        (lambda root: root["vocab"][7].update(token_bytes="*"), r"vocab\[7\].*base64"),
        (lambda root: root["vocab"][7].update(token_bytes=""), r"vocab\[7\].*empty"),
        (lambda root: root["vocab"][7].update(token_bytes="AA=="), r"vocab\[7\].*twice"),
        (lambda root: root["vocab"].__setitem__(7, None), r"vocab\[7\]"),
        (lambda root: root["special_tokens"][1].update(token_str="<s>"), "twice"),
        (lambda root: root["special_tokens"][1].update(token_str="<SPECIAL_2>"), "SPECIAL_2"),
        (lambda root: root["config"].update(default_num_special_tokens=1), "2 special tokens"),
        (lambda root: root["config"].update(default_vocab_size=10**6), "vocab holds"),
        (lambda root: root["config"].update(default_vocab_size=10**12), "below"),
        (lambda root: root["config"].update(default_vocab_size=-1), "below"),
    ],
)
def test_damage_is_named(written, change, match):
    root = file_of()
    change(root)
    with pytest.raises(FormatError, match=match):
        tekken.read(written(root))


@pytest.mark.parametrize("content", ["", "{}", "[]", '{"config": {}}', "[" * 100_000])
def test_other_files_are_refused(written, content):
    with pytest.raises(FormatError, match=r"tekken\.json"):
        tekken.read(written(content))


def test_what_the_format_cannot_hold_is_refused(tmp_path):
    vocab = {byte: bytes([byte]) for byte in range(256)} | {256: b"ab"}
    tok = BPETokenizer(vocab, [(b"a", b"b")], ["<end>"], pattern=PATTERN)
    path = tmp_path / "tekken.json"
    with pytest.raises(FormatError, match="first ids"):
        save(tok, path, "tekken")
    plain = tok.replace(special_tokens={})
    save(plain, path, "tekken")
    assert load(path).encode("abba") == plain.encode("abba")
    with pytest.raises(FormatError, match="one split pattern"):
        save(plain.replace(pattern="none"), path, "tekken")
    flagged = plain.replace(special_tokens={"a": 97}, token_flags={"a": TokenFlags(lstrip=True)})
    with pytest.raises(FormatError, match="flags"):
        save(flagged, path, "tekken")

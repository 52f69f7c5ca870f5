"""The YAML format loses nothing and reads nothing else."""

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from subword.bpe_models import bpe_from_ranks
from subword.errors import FormatError, SubwordError
from subword.formats import load, save, yaml_file
from subword.models import Bpe, Training
from subword.patterns import resolve_pattern
from subword.special_tokens import TokenFlags
from subword.tokenizer import Tokenizer
from subword.training.bpe import train_bpe

TEXT = "the cat in the hat, the  \n\n it's naïve 你好 hat\u00a0cat \\n " * 5
AWKWARD = "'\"\\ \n\r\t\x00\x7f\x85\u2028\ufeff\ue000\u200bé中🙂#:-"


@pytest.fixture
def text(tmp_path):
    tok = train_bpe([TEXT], 270, ["<|end|>"])
    yaml_file.write(tok, tmp_path / "saved.yaml")
    return (tmp_path / "saved.yaml").read_text(encoding="utf-8")


@pytest.fixture
def read_text(tmp_path):
    def read(content):
        path = tmp_path / "file.yaml"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return load(path)

    return read


@given(
    tokens=st.lists(
        st.binary(min_size=2, max_size=6)
        | st.text(AWKWARD, min_size=1, max_size=6).map(str.encode).filter(lambda t: len(t) > 1),
        unique=True,
        max_size=8,
    ),
    special=st.lists(st.text(AWKWARD + "ab", min_size=2, max_size=8), unique=True, max_size=3),
    pattern=st.sampled_from(["gpt2", "none", "a\n'b", [r"\d", "é'\u200b"]]),
    gap=st.integers(0, 3),
)
def test_any_tokenizer_comes_back(tokens, special, pattern, gap, tmp_path_factory):
    ranks = {bytes([byte]): byte * (gap + 1) for byte in range(256)}
    for token in tokens:
        ranks[token] = 1024 + len(ranks) * (gap + 1)
    model = bpe_from_ranks(ranks)
    ids = {token: 5000 + at for at, token in enumerate(special)}
    tok = Tokenizer(model, ids).replace(pattern=pattern)
    path = tmp_path_factory.getbasetemp() / "any.yaml"
    yaml_file.write(tok, path)
    again = yaml_file.read(path)
    assert again == tok
    assert again.model == tok.model


def test_the_file_is_yaml_that_a_person_can_read(text):
    root = yaml.safe_load(text)
    assert root["format"] == "subword"
    assert root["pattern"] == "gpt2"
    assert root["special_tokens"] == [[256, "<|end|>"]]
    assert root["vocab"][255] == r"\xff"
    assert root["merges"][0][2] > 0


def test_training_survives(text, read_text):
    tok = train_bpe([TEXT], 270, ["<|end|>"])
    again = read_text(text)
    assert again == tok
    assert again.model == tok.model
    assert again.truncate(260) == tok.truncate(260)


def test_a_tokenizer_without_anything_comes_back(tmp_path):
    tok = Tokenizer(Bpe({0: b"a"}, ()))
    yaml_file.write(tok, tmp_path / "saved.yml")
    assert load(tmp_path / "saved.yml") == tok


def test_every_file_cut_at_a_line_is_refused(text, read_text):
    lines = text.splitlines(keepends=True)
    for end in range(0, len(lines), 5):
        with pytest.raises(FormatError, match=r"file\.yaml"):
            read_text("".join(lines[:end]))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("format: subword", "format: other"),
        ("version: 2", "version: 3"),
        ("version: 2", "version: 1"),
        ("version: 2", "version: 2\nsurprise: 2"),
        ("version: 2", "version: 2\nversion: 2"),
        ("model: Bpe", "model: unigram"),
        ("model: Bpe", "model: Unigram"),
        ("model: Bpe", "model: {Bpe: {}, Words: {}}"),
        ("model: Bpe", "model: {Bpe: {whole_first: 0}}"),
        ("model: Bpe", "model: {Bpe: {vocab: []}}"),
        ("model: Bpe", "model: Bpe\nnormalizer: Nfc"),
        ("model: Bpe", "model: Bpe\nnormalizer: [Nfx]"),
        ("model: Bpe", "model: Bpe\nnormalizer: [Replace]"),
        ("model: Bpe", "model: Bpe\nnormalizer: [Replace: {pattern: a, content: 7}]"),
        ("model: Bpe", "model: Bpe\nnormalizer: [Charsmap: {data: '?'}]"),
        ("model: Bpe", "model: Bpe\npretokenizer: [Split: {pattern: a, behavior: kept}]"),
        ("model: Bpe", "model: Bpe\ndecoder: {Fuse: {}}"),
        ("model: Bpe", "model: Bpe\npadding: {token: a}"),
        ("model: Bpe", "model: Bpe\ntruncation: {max_length: 1, side: up}"),
        ("model: Bpe", "model: Bpe\ntemplate: {single: [{word: a}]}"),
        ("model: Bpe", "model: Bpe\ntemplate: {triple: []}"),
        ("model: Bpe", "model: Bpe\nchat_template: 7"),
        ("model: Bpe", "model: Bpe\nroles: {eos: [a]}"),
        ("pattern: gpt2", "pattern: unknown"),
        ("pattern: gpt2", "pattern: {}"),
        ("pattern: gpt2", "pattern: [7]"),
        ("ties: greatest", "ties: random"),
        ("min_frequency: 1", "min_frequency: one"),
        ("training: {ties: greatest, min_frequency: 1}\n", ""),
        ("merges: 13}", "merges: 12}"),
        ("  0: '\\x00'", "  0: '\\x0'"),
        ("  0: '\\x00'", "  0: '\\q'"),
        ("  0: '\\x00'", "  0: '\\u{d800}'"),
        ("  0: '\\x00'", "  0: '\\u{110000}'"),
        ("  0: '\\x00'", "  0: 7"),
        ("  0: '\\x00'", "  0: [a]"),
        ("  0: '\\x00'", "  zero: '\\x00'"),
        ("  0: '\\x00'", "  1: '\\x00'"),
        ("  0: '\\x00'", "  0: &a '\\x00'"),
        ("  0: '\\x00'", "  0: !!binary 'AA=='"),
        ("  0: '\\x00'", "  [0]: '\\x00'"),
        ("  - [256, '<|end|>']", "  - [256]"),
        ("  - [256, '<|end|>']", "  - [256, '\\xff']"),
        ("  - [256, '<|end|>']", "  - ['256', '<|end|>']"),
    ],
)
def test_changed_files_are_refused(old, new, text, read_text):
    assert old in text
    with pytest.raises(FormatError, match=r"file\.yaml"):
        read_text(text.replace(old, new, 1))


@pytest.mark.parametrize(
    "content",
    [
        "",
        "a: [b",
        "format: subword\n---\nformat: subword\n",
        "a: &x [1]\nb: *x\n",
        "- " * 50_000,
        "[" * 100_000,
        "{a: " * 100_000,
        b"\xff\xfe",
        "a: \x00",
        "\ta",
        "just text",
        "? [a]\n: b",
    ],
)
def test_other_yaml_is_refused(content, read_text):
    with pytest.raises(FormatError, match=r"file\.yaml"):
        read_text(content)


VERSION_1 = r"""format: subword
version: 1
model: bpe
whole_first: true
pattern: gpt2
sizes: {vocab: 3, special_tokens: 1, merges: 1}
special_tokens:
  - [7, '<|end|>', [added, lstrip]]
training: {ties: hf, min_frequency: 2}
vocab:
  0: 'a'
  1: '\xff'
  5: 'a\xff'
merges:
  - ['a', '\xff', 9]
"""


def test_version_1_is_read(read_text):
    model = Bpe({0: b"a", 1: b"\xff", 5: b"a\xff"}, ((0, 1),), True, Training("hf", (9,), 2))
    again = read_text(VERSION_1)
    flags = {"<|end|>": TokenFlags(special=False, lstrip=True)}
    assert again == Tokenizer(model, {"<|end|>": 7}, resolve_pattern("gpt2"), token_flags=flags)
    assert again.model == model


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("model: bpe", "model: Bpe"),
        ("whole_first: true", "whole_first: 1"),
        ("whole_first: true\n", ""),
        ("version: 1", "version: 1\nnormalizer: []"),
        ("merges: 1}", "merges: 2}"),
    ],
)
def test_version_1_is_read_as_strictly(old, new, read_text):
    assert old in VERSION_1
    with pytest.raises(FormatError, match=r"file\.yaml"):
        read_text(VERSION_1.replace(old, new, 1))


def test_a_merge_of_unknown_tokens_is_refused(text, read_text):
    first = next(line for line in text.splitlines() if line.startswith("  - ['"))
    with pytest.raises(SubwordError):
        read_text(text.replace(first, "  - ['zzz', 'a', 9]"))


def test_flags_of_special_tokens_are_kept(tmp_path):
    flags = {"<a>": TokenFlags(special=False, lstrip=True), "<b>": TokenFlags(control=True)}
    tok = train_bpe(["the cat in the hat " * 9], 260, ["<a>", "<b>", "<c>"])
    flagged = tok.replace(token_flags=flags)
    save(flagged, tmp_path / "t.yaml")
    again = load(tmp_path / "t.yaml")
    assert again == flagged
    assert dict(again.token_flags) == flags
    text = (tmp_path / "t.yaml").read_text(encoding="utf-8")
    assert "- [256, '<a>', [added, lstrip]]" in text
    for wrong in ("[added, added]", "[special]", "[7]", "lstrip"):
        (tmp_path / "t.yaml").write_text(text.replace("[added, lstrip]", wrong), encoding="utf-8")
        with pytest.raises(FormatError, match="special_tokens"):
            load(tmp_path / "t.yaml")

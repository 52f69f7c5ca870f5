"""YAML holds every model and every part: each comes back as it was, to the last field."""

from dataclasses import MISSING, fields
from types import NoneType
from typing import Any, Literal, get_args, get_origin, get_type_hints

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from subword import decoders, normalizers, pretokens
from subword.errors import FormatError
from subword.formats import load, save
from subword.formats.yaml_parts import flow, from_plain, part_of, to_plain
from subword.formats.yaml_text import parse_yaml
from subword.models import (
    AllCharacters,
    Bpe,
    CharacterBpe,
    Characters,
    Piece,
    Pieces,
    Training,
    Unigram,
    WordPiece,
    Words,
)
from subword.padding import Padding, Truncation
from subword.special_tokens import TokenFlags
from subword.templates import Template
from subword.tokenizer import Tokenizer

AWKWARD = "'\"\\ \n\r\t\x00\x7f\x85\u2028\ufeff\ue000\u200bé中🙂#:-{}[],|>&*!%@`~ null"
TEXTS = st.text(AWKWARD, max_size=12) | st.text(max_size=4).filter(str.isprintable)
UNIONS = {
    "normalizer": normalizers.NormalizerStep,
    "pretokenizer": pretokens.PretokenStep,
    "decoder": decoders.DecoderStep,
}
PARTS = [(name, kind) for name, union in UNIONS.items() for kind in get_args(union)]


def values_of(hint: Any, inner: st.SearchStrategy) -> st.SearchStrategy:
    """Give a strategy for what a field may hold."""
    origin = get_origin(hint)
    if hint in (bool, int, bytes):
        return {bool: st.booleans(), int: st.integers(0, 9), bytes: st.binary(max_size=9)}[hint]
    if hint is str:
        return TEXTS
    if origin is Literal:
        return st.sampled_from(get_args(hint))
    if origin is frozenset:
        return st.frozensets(TEXTS, max_size=3)
    if origin is tuple:
        element = get_args(hint)[0]
        return st.lists(TEXTS if element is str else inner, max_size=3).map(tuple)
    assert NoneType in get_args(hint), hint
    return st.none() | st.one_of(
        values_of(choice, inner) for choice in get_args(hint) if choice is not NoneType
    )


def parts_of(kind: type) -> st.SearchStrategy:
    """Give a strategy for parts of a class, of which single characters are some's fields."""
    inner = st.sampled_from([normalizers.Nfc(), normalizers.Replace("a\n", "'b")])
    hints = get_type_hints(kind)
    given_ = {own.name: values_of(hints[own.name], inner) for own in fields(kind)}
    for name in {"replacement", "char"} & given_.keys():
        given_[name] = st.sampled_from("▁'\n\u2028 {")
    return st.builds(kind, **given_)


@pytest.mark.parametrize(("room", "kind"), PARTS, ids=lambda part: getattr(part, "__name__", part))
@given(data=st.data())
def test_every_part_comes_back(room, kind, data):
    part = data.draw(parts_of(kind))
    text = f"part: {flow(to_plain(part))}\n"
    assert from_plain(UNIONS[room], parse_yaml(text, "t")["part"], "t") == part
    assert yaml.safe_load(text).keys() == {"part"}


@pytest.mark.parametrize(("room", "kind"), PARTS, ids=lambda part: getattr(part, "__name__", part))
def test_a_part_is_refused_without_a_field_it_needs(room, kind):
    needed = [own.name for own in fields(kind) if own.default is MISSING]
    if not needed:
        assert from_plain(UNIONS[room], kind.__name__, "t") == kind()
        return
    with pytest.raises(FormatError, match=rf"the field {needed[0]} is missing"):
        part_of(kind, {}, "t")


CHARACTERS = {0: b"[UNK]", 1: b"a", 2: "'中".encode(), 3: b" ", 7: b"a'"}
MODELS = {
    "bytes": Bpe({0: b"a", 1: b"\xff", 9: b"a\xff"}, ((0, 1),), whole_first=True),
    "characters": Characters(CHARACTERS, "[UNK]"),
    "all characters": Characters(AllCharacters()),
    "words": Words({0: b"a b", 5: b"\n"}, None),
    "wordpiece": WordPiece(
        {0: b"[UNK]", 1: b"a", 2: b"@@b"}, "[UNK]", "@@", 7, Training("hf", (5, 4), 2)
    ),
    "character bpe": CharacterBpe(
        {0: b"[UNK]", 1: b"a", 2: b"b</w>", 3: b"ab</w>"},
        ((1, 2),),
        "[UNK]",
        fuse_unk=True,
        end_of_word_suffix="</w>",
        training=Training("greatest", (3,)),
    ),
    "clip": CharacterBpe(
        {0: b"\xe4", 1: b"\xb8</w>", 2: b"\xe4\xb8</w>"},
        ((0, 1),),
        end_of_word_suffix="</w>",
        byte_level=True,
    ),
    "unigram": Unigram(
        (Piece(b"<unk>", 0.0, "unknown"), Piece(b"'a", -1e-05), Piece(b"b\n", -0.1 - 0.2)),
        fuse_unknown=False,
        single_precision=False,
    ),
    "pieces": Pieces(
        "bpe", (Piece(b"<s>", 0, "control"), Piece(b"<unk>", 0.0, "unknown"), Piece(b"a", -1.0)), 1
    ),
}


@pytest.mark.parametrize("name", MODELS)
def test_every_model_comes_back(name, tmp_path):
    tok = Tokenizer(MODELS[name])
    save(tok, tmp_path / "t.yaml")
    again = load(tmp_path / "t.yaml")
    assert again == tok
    assert again.model == tok.model
    assert yaml.safe_load((tmp_path / "t.yaml").read_text(encoding="utf-8"))["version"] == 2


def full() -> Tokenizer:
    special = {"[UNK]": 0, "[PAD]": 10, "[CLS]": 11, "A": 12}
    return Tokenizer(
        WordPiece({0: b"[UNK]", 1: b"a", 2: b"##b"}),
        special,
        normalizer=(normalizers.Bert(lowercase=False), normalizers.Charsmap(b"")),
        pretokenizer=(pretokens.Bert(), pretokens.Split(r"\d'", behavior="removed")),
        token_flags={"A": TokenFlags(special=False, lstrip=True)},
        template=Template.parse("[CLS] A", "[CLS] A B:1 [CLS]:1"),
        decoder=(decoders.WordPiece("##", cleanup=False), decoders.Normalize((normalizers.Nfc(),))),
        truncation=Truncation(512, strategy="only_first"),
        padding=Padding("[PAD]", 10, multiple_of=8, side="left"),
        roles={"pad": "[PAD]", "unk": "[UNK]"},
        chat_template="{% for m in messages %}\n  {{ m.content }}\n\n{% endfor %}\n",
    )


NAMES = [own.name for own in fields(Tokenizer) if own.init and own.name != "memo_bytes"]


def test_every_field_of_a_tokenizer_comes_back(tmp_path):
    tok = full()
    bare = Tokenizer(Bpe({0: b"a"}, ()))
    unset = [n for n in NAMES if n != "pattern" and getattr(tok, n) == getattr(bare, n)]
    assert unset == []
    save(tok, tmp_path / "t.yaml")
    again = load(tmp_path / "t.yaml")
    for name in NAMES:
        assert getattr(again, name) == getattr(tok, name), name
    text = (tmp_path / "t.yaml").read_text(encoding="utf-8")
    assert "chat_template: |2+\n  {% for m in messages %}\n    {{ m.content }}\n" in text
    assert "  - Bert: {lowercase: false}\n" in text


def test_an_empty_pretokenizer_is_not_the_pattern(tmp_path):
    tok = full().replace(pretokenizer=())
    save(tok, tmp_path / "t.yaml")
    assert load(tmp_path / "t.yaml").pretokenizer == ()


@given(template=TEXTS | st.lists(TEXTS, max_size=4).map("\n".join), other=TEXTS)
def test_every_chat_template_comes_back(template, other, tmp_path_factory):
    path = tmp_path_factory.getbasetemp() / "chat.yaml"
    for given_ in (template, {"default": template, other: "x\n"}, {}):
        save(Tokenizer(Bpe({0: b"a"}, ()), chat_template=given_), path)
        assert load(path).chat_template == given_


def test_every_file_cut_at_a_line_is_refused(tmp_path):
    path = tmp_path / "t.yaml"
    save(full(), path)
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    for end in range(len(lines)):
        path.write_text("".join(lines[:end]), encoding="utf-8")
        with pytest.raises(FormatError, match=r"t\.yaml"):
            load(path)

"""One rule for all writers: what a file would not give back is refused by name, never dropped."""

import gzip
from dataclasses import replace

import pytest

import subword
from subword import decoders
from subword.errors import FormatError
from subword.formats import FORMATS, load, save
from subword.formats.convert import _outside
from subword.formats.tokenizer_json import from_json, to_json
from subword.models import Bpe, CharacterBpe, Piece, Pieces, Unigram
from subword.normalizers import Lowercase, SentencePieceSpaces
from subword.padding import Padding, Truncation
from subword.pretokens import Split
from subword.special_tokens import TokenFlags
from subword.templates import Template
from subword.tokenizer import Tokenizer

END = "<end>"


def bytes_first() -> Tokenizer:
    return subword.train_bpe(["the cat in the hat " * 9], 262, [END])


def special_first() -> Tokenizer:
    model = Bpe({at + 1: bytes([at]) for at in range(256)}, (), whole_first=True)
    return Tokenizer(model, {END: 0}).replace(pattern="gpt2")


def word_pieces() -> Tokenizer:
    tokens = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "the", "##s", "cat"]
    made = subword.WordPieceTokenizer(tokens, normalizer="bert")
    return made.replace(
        special_tokens={token: at for at, token in enumerate(tokens[:4])},
        template=Template.parse("[CLS] A [SEP]", "[CLS] A [SEP] B:1 [SEP]:1"),
        decoder=(decoders.WordPiece("##", True),),
    )


def pieces() -> Tokenizer:
    listed = [("<unk>", 0.0, "unknown"), ("▁a", -1.0, "normal"), ("b", -2.0, "normal")]
    model = Unigram(tuple(Piece(text.encode(), score, kind) for text, score, kind in listed))
    return Tokenizer(
        model,
        {"<unk>": 0},
        normalizer=(SentencePieceSpaces(),),
        token_flags={"<unk>": TokenFlags(control=True)},
        decoder=(decoders.SentencePiece(strip_all=True),),
    )


def bpe_pieces() -> Tokenizer:
    tok = pieces()
    spaces = SentencePieceSpaces(remove_extra_whitespaces=False)
    model = Pieces("bpe", (*tok.model.pieces, Piece("▁".encode(), -3.0), Piece(b"a", -4.0)))
    return tok.replace(model=model, normalizer=(spaces,), decoder=(decoders.SentencePiece(),))


def codes(tmp_path) -> Tokenizer:
    (tmp_path / "codes").write_text("#version: 0.2\na b\nab c</w>\n", encoding="utf-8")
    return load(tmp_path / "codes", "subword_nmt")


def clip(tmp_path) -> Tokenizer:
    (tmp_path / "clip.gz").write_bytes(gzip.compress(b"heading\na b</w>\n"))
    return load(tmp_path / "clip.gz", "clip")


BASES = {
    "tokenizer_json": lambda _: bytes_first(),
    "vocab_merges": lambda _: bytes_first(),
    "yaml": lambda _: bytes_first(),
    "tiktoken": lambda _: bytes_first(),
    "bert_vocab": lambda _: word_pieces(),
    "sentencepiece": lambda _: pieces(),
    "sentencepiece_vocab": lambda _: pieces(),
    "tekken": lambda _: special_first(),
    "clip": clip,
    "subword_nmt": codes,
    "gguf": lambda _: bytes_first(),
}
# A format that writes several kinds in ways of their own is tried with each.
OTHERS = {"tokenizer_json of pieces": lambda _: bpe_pieces()}
CHANGES = {
    "roles": lambda tok: {"roles": {"mask": next(iter(tok.special_tokens))}},
    "chat_template": lambda _: {"chat_template": "{{ messages }}\n'x' \\n\n"},
    "chat_templates": lambda _: {"chat_template": {"default": "{{ 1 }}", "tools": "{{ 2 }}"}},
    "padding": lambda tok: {"padding": Padding(next(iter(tok.special_tokens)), 0, side="left")},
    "truncation": lambda _: {"truncation": Truncation(8, stride=2)},
    "template": lambda tok: {"template": Template.parse(f"{next(iter(tok.special_tokens))} A")},
    "pair": lambda _: {"template": Template.parse("A", "A B")},
    "decoder": lambda tok: {"decoder": (decoders.Strip(stop=1), *tok.decoder)},
    "normalizer": lambda tok: {"normalizer": (Lowercase(), *tok.normalizer)},
    "pretokenizer": lambda _: {"pretokenizer": (Split("a"), Split("b"))},
    "flags": lambda tok: {
        "token_flags": {next(iter(tok.special_tokens)): TokenFlags(special=False, lstrip=True)}
    },
    "control": lambda tok: {
        "token_flags": dict.fromkeys(tok.special_tokens, TokenFlags(control=True))
    },
}
NAMED = {
    "chat_template": ("chat template",),
    "chat_templates": ("chat template",),
    "pair": ("template",),
    "control": ("flags", "found in text"),
    "flags": ("flags", "found in text"),
}
"""What a refusal calls them."""
PARTS = [name for name in Tokenizer.__dataclass_fields__ if name not in ("memo_bytes", "_kernel")]


def equal(name: str, ours: object, theirs: object) -> bool:
    if name == "model":
        return True  # compared by its ids
    if name == "roles":
        return ours.items() <= theirs.items()
    if name == "token_flags":
        return {k: v for k, v in ours.items() if v != TokenFlags()} == dict(theirs)
    return ours == theirs


def test_every_format_has_a_tokenizer_here():
    assert BASES.keys() == FORMATS.keys()


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("kind", [*BASES, *OTHERS])
def test_what_is_written_is_read_back_or_refused_by_name(kind, change, tmp_path):
    format_ = kind.partition(" ")[0]
    if format_ == "gguf":
        pytest.importorskip("gguf")
    base = (BASES | OTHERS)[kind](tmp_path)
    path = tmp_path / ("made.txt" if format_ != "vocab_merges" else "made")
    save(base, path, format_)
    tok = base.replace(**CHANGES[change](base))
    target = path.with_name("other")
    try:
        save(tok, target, format_)
    except FormatError as error:
        said = str(error).lower().replace("-", "").replace("_", " ")
        named = NAMED.get(change, (change,))
        assert (target.exists(), any(word in said for word in named)) == (False, True), said
        return
    again = load(target, format_, **_outside(tok, format_))
    for name in PARTS:
        ours, theirs = getattr(tok, name), getattr(again, name)
        assert equal(name, ours, theirs), (name, ours, theirs)
    text = f"the cat{END} a b's in  THE hat"
    assert again.encode(b"abc") == tok.encode(b"abc")
    if format_ not in ("clip", "subword_nmt"):
        assert again.encode(text) == tok.encode(text)


def test_pieces_come_back_from_tokenizer_json_whole():
    tok = bpe_pieces()
    assert from_json(to_json(tok)) == tok


def test_unigram_with_sentencepieces_spaces_is_refused_by_tokenizer_json():
    with pytest.raises(FormatError, match="SentencePieceSpaces but beside SentencePiece's BPE"):
        to_json(pieces())


def test_the_way_on_is_to_leave_the_part_out(tmp_path):
    tok = bytes_first().replace(roles={"eos": END}, padding=Padding(END, 256))
    with pytest.raises(FormatError, match=r"tokenizer\.replace\(roles=\{\}\) leaves it out"):
        save(tok, tmp_path / "t.tiktoken")
    with pytest.raises(FormatError, match=r"tokenizer\.replace\(padding=None\) leaves it out"):
        save(tok.replace(roles={}), tmp_path / "t.tiktoken")
    save(tok.replace(roles={}, padding=None), tmp_path / "t.tiktoken")


def test_settings_of_a_model_that_codes_do_not_hold_are_refused(tmp_path):
    tok = codes(tmp_path)
    assert isinstance(tok.model, CharacterBpe)
    changed = tok.replace(model=replace(tok.model, fuse_unk=True))
    with pytest.raises(FormatError, match="settings"):
        save(changed, tmp_path / "t", "subword_nmt")


@pytest.mark.parametrize("special", [True, False])
@pytest.mark.parametrize("at", [0, 300])
def test_control_tokens_come_back_from_tokenizer_json(special, at):
    model = Bpe({byte + 1: bytes([byte]) for byte in range(256)}, (), whole_first=True)
    flags = {"[X]": TokenFlags(special=special, control=True)}
    tok = Tokenizer(model, {"[X]": at, "[Y]": at + 1 if at else 257}, token_flags=flags)
    again = from_json(to_json(tok))
    assert again == tok
    assert again.encode("[X][Y]") == tok.encode("[X][Y]")
    assert again.decode([at], skip_special=True) == ("" if special else "[X]")


def test_a_control_token_that_is_nowhere_is_refused():
    tok = special_first().replace(token_flags={END: TokenFlags(control=True)})
    text = to_json(tok)
    with pytest.raises(FormatError, match="control"):
        from_json(text.replace('"control": {"<end>"', '"control": {"<other>"'))

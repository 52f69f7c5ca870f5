"""Traces of encoding: worked examples, and the kernels."""

import base64
import json

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from subword import trace
from subword.bpe_models import bpe_from_ranks, bpe_from_tokens
from subword.errors import (
    SpecialTokenInTextError,
)
from subword.models import CharacterBpe
from subword.named import (
    BPETokenizer,
    CharacterTokenizer,
    UnigramTokenizer,
    WordPieceTokenizer,
    WordTokenizer,
)
from subword.patterns import resolve_pattern
from subword.pretokens import WhitespaceSplit
from subword.reference.pretokens import split
from subword.tokenizer import Tokenizer
from subword.training.bpe import train_bpe
from trace_samples import SMALL_MERGES, SMALL_VOCAB

CHARACTER_TOKENIZER = Tokenizer(
    CharacterBpe(
        dict(enumerate([b"<unk>", b"l", b"o", b"w</w>", b"lo", b"low</w>"])),
        ((1, 2), (4, 3)),
        "<unk>",
        end_of_word_suffix="</w>",
    ),
    {"<s>": 6},
    pretokenizer=(WhitespaceSplit(),),
)


EVERY_MODEL = [
    CHARACTER_TOKENIZER,
    Tokenizer(
        CharacterBpe(
            dict(enumerate([b"?", b"a", b"##b", b"a##b", b"ab", b"h", b"##a", b"##ab"])),
            ((1, 2), (6, 2)),
            "?",
            fuse_unk=True,
            continuing_subword_prefix="##",
        ),
        {"<s>": 8},
    ),
    train_bpe({"ab": 3, "h": 1, " é": 1}, 263, alphabet="characters", byte_fallback=True),
    WordPieceTokenizer(["[UNK]", "a", "##b", "ab", "h", "<s>"], special_tokens=["<s>"]),
    UnigramTokenizer(
        [("<unk>", 0.0), ("a", -1.0), ("b", -2.0), ("ab", -2.5), ("<s>", 0.0)],
        special_tokens=["<s>"],
        pattern="gpt2",
        normalizer="nfd",
    ),
    WordTokenizer(["[UNK]", "a", " ", "ab"], special_tokens=["<s>"]),
    CharacterTokenizer("ab ", unk_token="?", special_tokens=["<s>"]),
    CharacterTokenizer(special_tokens=["<s>"]),
]


def ranks_tokenizer(shared, name, pattern):
    path = shared / "vocab" / name / f"{name}.tiktoken.zst"
    if not path.exists():
        pytest.skip(f"no {path.name} among the shared data")
    lines = zstandard.ZstdDecompressor().decompressobj().decompress(path.read_bytes()).splitlines()
    pairs = (line.split() for line in lines if line)
    ranks = {base64.b64decode(token): int(rank) for token, rank in pairs}
    return Tokenizer(bpe_from_ranks(ranks), {}, resolve_pattern(pattern))


def test_the_cat_ate():
    tok = BPETokenizer(SMALL_VOCAB, SMALL_MERGES)
    encoded = trace.encode(tok, "the cat ate")
    assert encoded.ids == (9, 7, 1, 5, 10, 3)
    assert [(part.text, part.byte_span) for part in encoded.parts] == [
        (b"the", (0, 3)),
        (b" cat", (3, 7)),
        (b" ate", (7, 11)),
    ]
    assert [[merge.rank for merge in part.merges] for part in encoded.parts] == [
        [0, 3],
        [1],
        [2, 4],
    ]
    assert encoded.parts[2].merges[1].parts == (b" at", b"e")


def test_words():
    words = split("I'll say supercalifragilisticexpialidocious!", (r"(?s)\w+|.",))
    assert [word.decode() for word in words] == [
        *("I", "'", "ll", " ", "say", " ", "supercalifragilisticexpialidocious", "!")
    ]


def test_hello_world_by_gpt2_characters_bytes_and_words(shared):
    text = "Hello, 🌍! 你好!"
    encoded = trace.encode(ranks_tokenizer(shared, "r50k_base", "gpt2"), text)
    assert len(encoded.ids) == 12
    assert round(encoded.bytes_per_token, 2) == 1.67
    n_bytes = len(text.encode())
    assert n_bytes == 20
    assert n_bytes / len(text) == pytest.approx(20 / 13)
    assert n_bytes / len(split(text, (r"(?s)\w+|.",))) == 2.5


def test_hello_by_o200k(shared):
    tok = ranks_tokenizer(shared, "o200k_base", "o200k")
    assert trace.encode(tok, "hello").ids == (24912,)
    assert trace.encode(tok, " hello").ids == (40617,)
    (part,) = trace.encode(tok, " hello").parts
    assert part.merges == ()
    assert part.start == (b" hello",)


@given(st.text("abc d<s>", max_size=40), st.sampled_from(["recognize", "as_text", {"<s>"}, set()]))
def test_encoding_equals_the_kernel(text, special):
    trained = train_bpe({"abc": 3, " d": 4, "aab": 5, "ca": 2}, 263, ["<s>", "<s>>"])
    assert list(trace.encode(trained, text, special=special).ids) == trained.encode(
        text, special=special
    )


HUG_TOKENS = ["[UNK]", "[CLS]", "[SEP]", "hug", "h", "##u", "##g", "##s", "##gs", "pu"]


def test_wordpiece_takes_the_longest_match():
    tok = WordPieceTokenizer(HUG_TOKENS, normalizer="bert")
    encoded = trace.encode(tok, "Hugs hugz")
    assert list(encoded.ids) == tok.encode("Hugs hugz") == [3, 7, 0]
    known, unknown = encoded.parts
    assert (known.text, known.byte_span) == (b"hugs", (0, 4))
    assert [(m.position, m.tried, m.token) for m in known.matches] == [
        (0, (b"hugs", b"hug"), b"hug"),
        (3, (b"##s",), b"##s"),
    ]
    assert (unknown.matches[-1].tried, unknown.matches[-1].token) == ((b"##z",), None)
    assert unknown.tokens == (b"[UNK]",)
    assert "from 0: hug, 1 tried before" in str(encoded)
    assert "from 3: nothing fits, 1 tried before" in str(encoded)
    (long,) = trace.encode(tok, "h" * 101).parts
    assert (long.tokens, long.matches) == ((b"[UNK]",), ())


def test_unigram_shows_the_best_way_to_each_place():
    pieces = [("<unk>", 0.0), ("h", -4.0), ("u", -1.5), ("g", -3.0), ("s", -3.0), ("hug", -2.0)]
    tok = UnigramTokenizer(pieces)
    encoded = trace.encode(tok, "hugsé")
    assert list(encoded.ids) == tok.encode("hugsé") == [5, 4, 0]
    (part,) = encoded.parts
    assert [(way.end, way.is_on_path) for way in part.ways] == [
        *((1, False), (2, False), (3, True), (4, True), (6, True))
    ]
    at_three = part.ways[2].candidates
    assert [(c.piece, c.start, c.total) for c in at_three] == [(b"hug", 0, -2.0), (b"g", 2, -8.5)]
    assert part.ways[-1].candidates[0].piece == "é".encode()
    assert "* to 3: hug from 0 (-2.000), g from 2 (-8.500)" in str(encoded)


def test_character_bpe_merges_characters():
    tok = CHARACTER_TOKENIZER
    encoded = trace.encode(tok, "low zow")
    assert list(encoded.ids) == tok.encode("low zow")
    known, unknown = encoded.parts
    assert known.start == (b"l", b"o", b"w</w>")
    assert [merge.parts for merge in known.merges] == [(b"lo", b"w</w>"), (b"low</w>",)]
    assert unknown.start == (b"z", b"o", b"w</w>")
    assert unknown.tokens == (b"<unk>", b"o", b"w</w>")


def test_words_and_characters_have_no_steps():
    for tok in (
        WordTokenizer(["[UNK]", "a", " "]),
        CharacterTokenizer(),
        CharacterTokenizer("ab", unk_token="?"),
    ):
        encoded = trace.encode(tok, "a ab")
        assert list(encoded.ids) == tok.encode("a ab")
        assert all(part.steps == () for part in encoded.parts)


@pytest.mark.parametrize("special", ["recognize", "as_text"])
@given(text=st.text("abé h<s>[UNK]", max_size=25))
def test_encoding_equals_the_kernel_for_every_model(special, text):
    for tok in EVERY_MODEL:
        encoded = trace.encode(tok, text, special=special)
        assert list(encoded.ids) == tok.encode(text, special=special)
        assert [tok.token_id(token) for token in encoded.tokens] == list(encoded.ids)
        json.dumps(trace.as_dict(encoded))


def test_special_tokens_are_recognized():
    tok = Tokenizer(bpe_from_tokens(SMALL_VOCAB, SMALL_MERGES), {"<e>": 11, "<e><e>": 12})
    encoded = trace.encode(tok, "the<e><e><e> cat")
    assert [part.kind for part in encoded.parts] == ["pretoken", "special", "special", "pretoken"]
    assert encoded.ids == (9, 12, 11, 7, 1, 5)
    with pytest.raises(SpecialTokenInTextError):
        trace.encode(tok, "the<e>", special="forbid")

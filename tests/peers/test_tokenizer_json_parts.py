"""Every part that HF ``tokenizers`` can write into a tokenizer.json: same ids, places and text.

The file is longer than 400 lines because the parts are one table.
"""

import json
from itertools import product
from typing import Any

import pytest

from subword.formats import tokenizer_json
from subword.tokenizer import Tokenizer

tokenizers = pytest.importorskip("tokenizers", reason="the peer is not installed")
AddedToken, Regex = tokenizers.AddedToken, tokenizers.Regex
D, M, N = tokenizers.decoders, tokenizers.models, tokenizers.normalizers
P, R = tokenizers.pre_tokenizers, tokenizers.processors

TEXTS = [
    "",
    " ",
    "  ",
    "\n",
    "a",
    " a ",
    "Hello, World! It's 2024-01-02; we'll see.",
    "  leading and trailing  ",
    "tabs\tand\r\nlines\n\n\nmore",
    "e\u0301a\u0308 \u00e9\u00e4 \u1e9b\u0323 \ufb01 \u00bd \u2460 \uff21",
    "caf\u00e9 na\u00efve \u0130stanbul \u03a3\u03a3 stra\u00dfe",
    "\u4f60\u597d\uff0c\u4e16\u754c\u3002\u6771\u4eac abc\u4e2dabc",
    "\u3053\u3093\u306b\u3061\u306f\u30ab\u30bf\u30ab\u30ca \uff76\uff9e",
    "\ud55c\uad6d\uc5b4 \u1112\u1161\u11ab",
    "\u0939\u093f\u0928\u094d\u0926\u0940 \u0627\u0644\u0639\u0631\u0628\u064a\u0629 \u05e9\u05c1",
    "\U0001f468\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466 \U0001f1e9\U0001f1ea \u2764\ufe0f",
    "\u200b\u200d\ufeff\u00ad",
    "nel\u0085x nbsp\u00a0x \u3000ideographic\u2028sep\u2029",
    "control \x01\x02\x1f\x7f\x9f end",
    "\ufffd\ufffe",
    "x" * 130,
    "word " * 20,
    "a" * 60 + " " + "b" * 101,
    "<s> hi </s>",
    "<s><s>  <s>x<s> [MASK] [MASK]. x[MASK]x",
    "foo foobar barfoo foo, FOO Foo  foo  foo",
    "  foo  ",
    "new_word newword NEW_WORD",
    "\u00e9foo foo\u00e9 _foo foo_",
    "1234567890 12 345 \u0661\u0662\u0663 \u00b2\u00b3",
    "a.b,c;d:e!f?g-h_i(j)k[l]m{n}o/p\\q|r\"s't`u~v@w#x$y%z^&*+=<>",
    "\u00ab\u00bb\u201c\u201d\u2018\u2019\u2014\u2013\u2026\u00bf\u00a1\u3001",
    "don't DON'T I'm we've they'RE 's's",
    "hello\u2581world \u2581 \u2581\u2581x",
    "<0x41> <0x0A>",
    "a</w>b ##a @@",
    "the the the cat sat on the mat",
    "\u0e44\u0e17\u0e22\u0e20\u0e32\u0e29\u0e32",
    "\u0410\u0411\u0412 \u0433\u0434\u0435 \u0451",
    "\U00010400\U00020000\U0010ffff",
    "a\u0301\u0302\u0303\u0323b",
    "x=1;y=2//comment\n\tif(x){return}",
    "https://example.org/a?b=c&d=e",
    "\u0345\u03b9 \u1fb3",
    "A  B   C    D",
    "-- ---- `` '' ``quoted''",
]
SAMPLE = [*TEXTS, "hello world foo bar new word low lower lowest 0123456789 " * 3]


def alphabet() -> list[str]:
    """Some of the characters: others are unknown."""
    return sorted({c for text in TEXTS[4:20] for c in text} | set("abcdefghijklmnopqrstuvwxyz▁ "))


def wordpiece() -> Any:
    characters = [c for c in alphabet() if c != " "]
    words = ["hello", "world", "the", "foo", "##bar", "##ing", "lo", "##w", "##er", "2024", "caf"]
    tokens = [
        "[UNK]",
        "[CLS]",
        "[SEP]",
        "[MASK]",
        *characters,
        *("##" + c for c in characters),
        *words,
    ]
    vocab = {token: at for at, token in enumerate(dict.fromkeys(tokens))}
    return M.WordPiece(vocab, unk_token="[UNK]", max_input_chars_per_word=100)


def words() -> Any:
    tokens = ["[UNK]", "a", "the", "hello", "foo", "Hello", ",", "!", "x", "1", "\u4f60", "<s>"]
    return M.WordLevel({token: at for at, token in enumerate(tokens)}, unk_token="[UNK]")


def unigram(**options: Any) -> Any:
    pieces = [("<unk>", 0.0), *((c, -9.0 - at / 64) for at, c in enumerate(alphabet()))]
    pieces += [("\u2581the", -3.5), ("\u2581", -2.0), ("lo", -5.0), ("he", -5.25), ("llo", -6.0)]
    if options:
        pieces += [(f"<0x{byte:02X}>", 0.0) for byte in range(256)]
    return M.Unigram(list(dict.fromkeys(dict(pieces).items())), unk_id=0, **options)


def bpe(byte_tokens: bool = False, prefix: str = "", suffix: str = "", **options: Any) -> Any:
    symbols = (
        alphabet() if not byte_tokens else [*alphabet(), *(f"<0x{b:02X}>" for b in range(256))]
    )
    pairs = ["t h", "th e", "l o", "lo w", "h e", "l l", "\u2581 the"]
    tokens, merges = ["<unk>", *symbols], []
    if prefix:
        tokens += [prefix + c for c in symbols]
    if suffix:
        tokens += [c + suffix for c in symbols]
    for pair in pairs:
        left, right = pair.split()
        second = prefix + right if prefix else right
        if left in tokens and second in tokens:
            merges.append((left, second))
            tokens.append(left + right)
    if suffix:
        merges.append(("e", "r" + suffix))
        tokens.append("er" + suffix)
    return M.BPE(
        {token: at for at, token in enumerate(dict.fromkeys(tokens))},
        merges,
        unk_token="<unk>",
        **({"continuing_subword_prefix": prefix} if prefix else {}),
        **({"end_of_word_suffix": suffix} if suffix else {}),
        **options,
    )


def byte_level(**options: Any) -> Any:
    tokens = sorted(P.ByteLevel.alphabet())
    pairs = ["\u0120 t", "h e", "\u0120t he", "l l", "o w", "\u00c3 \u00a9", "\u0120 \u0120", "0 1"]
    merges = [tuple(pair.split()) for pair in pairs]
    tokens += ["".join(pair) for pair in merges]
    return M.BPE({token: at for at, token in enumerate(tokens)}, merges, **options)


def made(model: Any, **parts: Any) -> Any:
    """An HF tokenizer of a model and parts."""
    added = parts.pop("added", [])
    tokenizer = tokenizers.Tokenizer(model)
    special = [token for token in added if isinstance(token, str) or token.special]
    tokenizer.add_special_tokens(special)
    tokenizer.add_tokens([token for token in added if token not in special])
    for name, part in parts.items():
        setattr(tokenizer, name, part)
    return tokenizer


WORDS = {"pre_tokenizer": P.Whitespace(), "decoder": D.WordPiece(cleanup=False)}
LLAMA = D.Sequence([D.Replace("\u2581", " "), D.ByteFallback(), D.Fuse(), D.Strip(" ", 1, 0)])
LEVEL = {"pre_tokenizer": P.ByteLevel(add_prefix_space=False), "decoder": D.ByteLevel()}
FLAGS = [
    dict(zip(("lstrip", "rstrip", "single_word"), on, strict=True))
    for on in product((False, True), repeat=3)
]
BERT_TEMPLATE = R.TemplateProcessing(
    single="[CLS] $A [SEP]",
    pair="[CLS] $A [SEP] $B:1 [SEP]:1",
    special_tokens=[("[CLS]", 1), ("[SEP]", 2)],
)
NORMALIZERS = {
    "bert": N.BertNormalizer(),
    "bert_cased": N.BertNormalizer(lowercase=False),
    "bert_accents": N.BertNormalizer(lowercase=False, strip_accents=True),
    "bert_no_chinese": N.BertNormalizer(handle_chinese_chars=False, clean_text=False),
    "nfc": N.NFC(),
    "nfd": N.NFD(),
    "nfkc": N.NFKC(),
    "nfkd": N.NFKD(),
    "lowercase": N.Lowercase(),
    "accents": N.Sequence([N.NFD(), N.StripAccents()]),
    "strip": N.Strip(),
    "lstrip": N.Strip(left=True, right=False),
    "nmt": N.Nmt(),
    "replace": N.Replace("o", "0"),
    "replace_regex": N.Replace(Regex(r"\s+"), " "),
    "replace_spaces": N.Replace(Regex(" {2,}"), "\u2581"),
    "prepend": N.Prepend("\u2581"),
    "nested": N.Sequence([N.Sequence([N.NFKC(), N.Lowercase()]), N.Replace("``", '"')]),
}
PRETOKENIZERS = {
    "none": None,
    "bert": P.BertPreTokenizer(),
    "whitespace": P.Whitespace(),
    "whitespace_split": P.WhitespaceSplit(),
    "punctuation": P.Punctuation(),
    "punctuation_contiguous": P.Punctuation("contiguous"),
    "digits": P.Digits(),
    "single_digits": P.Digits(individual_digits=True),
    "metaspace": P.Metaspace(),
    "metaspace_first": P.Metaspace(prepend_scheme="first"),
    "metaspace_never": P.Metaspace(prepend_scheme="never", split=False),
    "scripts": P.UnicodeScripts(),
    "delimiter": P.CharDelimiterSplit("-"),
    "fixed": P.FixedLength(length=3),
    "split_removed": P.Split(" ", "removed"),
    "split_previous": P.Split(" ", "merged_with_previous"),
    "split_next": P.Split(Regex("[.,]"), "merged_with_next"),
    "split_contiguous": P.Split(Regex(r"\s"), "contiguous"),
    "split_inverted": P.Split(Regex(r"\p{L}+|\p{N}"), "removed", invert=True),
    "split_look": P.Split(Regex(r"\s+(?!\S)|\s+|\S+"), "isolated"),
    "sequence": P.Sequence([P.WhitespaceSplit(), P.Digits(True), P.Punctuation()]),
}
BYTE_LEVELS = {
    "prefix": P.ByteLevel(add_prefix_space=True),
    "whole": P.ByteLevel(add_prefix_space=False, use_regex=False),
    "digits": P.Sequence([P.Digits(individual_digits=True), P.ByteLevel(add_prefix_space=False)]),
    "falcon": P.Sequence(
        [
            P.Punctuation("contiguous"),
            P.ByteLevel(add_prefix_space=False),
            P.Digits(),
            P.Split(Regex("[0-9][0-9][0-9]"), "isolated"),
        ]
    ),
    "clip": P.Sequence(
        [
            P.Split(
                Regex(r"'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+"),
                "removed",
                invert=True,
            ),
            P.ByteLevel(add_prefix_space=False),
        ]
    ),
}

CASES: dict[str, Any] = {
    **{
        f"normalizer_{name}": made(wordpiece(), normalizer=part, **WORDS)
        for name, part in NORMALIZERS.items()
    },
    **{
        f"pretokenizer_{name}": made(unigram(), pre_tokenizer=part, decoder=D.Fuse())
        for name, part in PRETOKENIZERS.items()
    },
    **{
        f"byte_level_{name}": made(byte_level(), pre_tokenizer=part, decoder=D.ByteLevel())
        for name, part in BYTE_LEVELS.items()
    },
    "byte_level_normalizer": made(
        byte_level(), normalizer=N.Sequence([N.NFC(), N.ByteLevel()]), decoder=D.ByteLevel()
    ),
    "byte_level_whole_first": made(byte_level(ignore_merges=True), **LEVEL),
    "byte_level_unigram": made(unigram(), pre_tokenizer=P.ByteLevel(), decoder=D.ByteLevel()),
    "byte_level_suffix": made(
        bpe(suffix="</w>"), pre_tokenizer=P.ByteLevel(add_prefix_space=False), decoder=D.ByteLevel()
    ),
    "words": made(words(), pre_tokenizer=P.Whitespace()),
    "bpe": made(bpe(), pre_tokenizer=P.Whitespace(), decoder=D.Fuse()),
    "bpe_fused": made(bpe(fuse_unk=True), pre_tokenizer=P.Whitespace(), decoder=D.Fuse()),
    "bpe_bytes": made(
        bpe(True, byte_fallback=True, fuse_unk=True),
        normalizer=N.Sequence([N.Prepend("\u2581"), N.Replace(" ", "\u2581")]),
        decoder=LLAMA,
    ),
    "bpe_suffix": made(
        bpe(suffix="</w>"), pre_tokenizer=P.WhitespaceSplit(), decoder=D.BPEDecoder()
    ),
    "bpe_prefix": made(bpe(prefix="@@"), pre_tokenizer=P.WhitespaceSplit(), decoder=D.Fuse()),
    "bpe_whole_first": made(
        bpe(ignore_merges=True), pre_tokenizer=P.WhitespaceSplit(), decoder=D.Fuse()
    ),
    "unigram_bytes": made(unigram(byte_fallback=True), pre_tokenizer=P.Metaspace(), decoder=LLAMA),
    "decoder_metaspace": made(unigram(), pre_tokenizer=P.Metaspace(), decoder=D.Metaspace()),
    "decoder_cleanup": made(wordpiece(), pre_tokenizer=P.BertPreTokenizer(), decoder=D.WordPiece()),
    "decoder_ctc": made(words(), pre_tokenizer=P.WhitespaceSplit(), decoder=D.CTC("[UNK]", "a")),
    "decoder_strip": made(words(), pre_tokenizer=P.WhitespaceSplit(), decoder=D.Strip("h", 1, 0)),
    "bert": made(
        wordpiece(),
        normalizer=N.BertNormalizer(),
        pre_tokenizer=P.BertPreTokenizer(),
        post_processor=BERT_TEMPLATE,
        decoder=D.WordPiece(),
        added=["[CLS]", "[SEP]", AddedToken("[MASK]", lstrip=True, special=True)],
    ),
    "bert_processing": made(
        wordpiece(),
        pre_tokenizer=P.BertPreTokenizer(),
        post_processor=R.BertProcessing(("[SEP]", 2), ("[CLS]", 1)),
        decoder=D.WordPiece(),
    ),
    "roberta": made(
        byte_level(),
        **LEVEL,
        added=["<s>", "</s>", AddedToken("<mask>", lstrip=True, special=True)],
        post_processor=R.RobertaProcessing(("</s>", 265), ("<s>", 264), trim_offsets=False),
    ),
    "template_in_sequence": made(
        byte_level(),
        **LEVEL,
        added=["<s>"],
        post_processor=R.Sequence(
            [
                R.ByteLevel(trim_offsets=False),
                R.TemplateProcessing(
                    single="<s> $A", pair="<s> $A <s> $B:1", special_tokens=[("<s>", 264)]
                ),
            ]
        ),
    ),
    **{
        f"added_{at}": made(
            byte_level(),
            **LEVEL,
            added=["<s>", AddedToken("foo", special=bool(at & 1), normalized=False, **on)],
        )
        for at, on in enumerate(FLAGS)
    },
    **{
        f"added_normalized_{at}": made(
            byte_level(),
            normalizer=N.Sequence([N.NFC(), N.Lowercase()]),
            **LEVEL,
            added=[
                "<s>",
                AddedToken("Foo", normalized=True, **on),
                AddedToken("NEW_word", normalized=True),
            ],
        )
        for at, on in enumerate(FLAGS)
    },
    "added_many": made(
        bpe(),
        pre_tokenizer=P.Metaspace(),
        decoder=D.Metaspace(),
        added=[
            "<s>",
            "</s>",
            "<s><s>",
            AddedToken("foo bar", normalized=True),
            AddedToken(" foo", normalized=True),
        ],
    ),
}


@pytest.fixture(scope="module", params=CASES)
def pair(request: pytest.FixtureRequest) -> tuple[str, Tokenizer, Any]:
    hf = CASES[request.param]
    return request.param, tokenizer_json.from_json(hf.to_str()), hf


def theirs(hf: Any, text: str, **options: Any) -> Any:
    return hf.encode(text, add_special_tokens=False, **options)


def test_ids(pair: tuple[str, Tokenizer, Any]) -> None:
    name, tok, hf = pair
    for text in TEXTS:
        assert tok.encode(text) == theirs(hf, text).ids, (name, text)


def test_places(pair: tuple[str, Tokenizer, Any]) -> None:
    name, tok, hf = pair
    for text in TEXTS:
        spans = tok.encode_spans(text).char_spans
        if name == "unigram_bytes":
            # HF gives every byte the place of the whole run of unknown characters.
            runs = theirs(hf, text).offsets
            assert all(a <= b and c <= d for (b, c), (a, d) in zip(spans, runs, strict=True))
        else:
            assert spans == theirs(hf, text).offsets, (name, text)


def test_ids_where_special_tokens_are_text(pair: tuple[str, Tokenizer, Any]) -> None:
    name, tok, hf = pair
    hf.encode_special_tokens = True
    expected = [theirs(hf, text).ids for text in TEXTS]
    hf.encode_special_tokens = False
    for text, ids in zip(TEXTS, expected, strict=True):
        assert tok.encode(text, special="as_text") == ids, (name, text)


def test_text(pair: tuple[str, Tokenizer, Any]) -> None:
    name, tok, hf = pair
    for text, skip in product(TEXTS, (False, True)):
        ids = theirs(hf, text).ids
        decoded = hf.decode(ids, skip_special_tokens=skip)
        assert tok.decode(ids, skip_special=skip) == decoded, (name, text)


def test_templates(pair: tuple[str, Tokenizer, Any]) -> None:
    name, tok, hf = pair
    for text in TEXTS:
        assert tok.encode(text, template=True) == hf.encode(text).ids, (name, text)
        if tok.template.pair:
            assert tok.encode(text, "foo", template=True) == hf.encode(text, "foo").ids


def test_what_is_written_is_read_equal_and_loads_there(pair: tuple[str, Tokenizer, Any]) -> None:
    name, tok, hf = pair
    written = tokenizer_json.to_json(tok)
    assert tokenizer_json.from_json(written) == tok
    again = tokenizers.Tokenizer.from_str(written)
    for text in TEXTS:
        assert theirs(again, text).ids == theirs(hf, text).ids, (name, text)
        assert again.encode(text).ids == hf.encode(text).ids
        ids = theirs(hf, text).ids
        assert again.decode(ids) == hf.decode(ids)
    assert json.loads(written)["model"]["subword"]["version"] == 1

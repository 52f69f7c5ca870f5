"""HF tokenizers 0.23.3 and sentencepiece 0.2.3 as oracles of normalizers and pre-tokenizer steps.

Known differences, left out here or named below: characters younger than their Unicode tables
(tokenizers: 9 to 13, by table; sentencepiece's charsmaps: 10); and the origins that tokenizers'
``Precompiled`` shifts when a character that vanishes comes first or after an expansion.
"""

import json
import random

import pytest

from subword import _core
from subword import normalizers as n
from subword import pretokens as p

tokenizers = pytest.importorskip("tokenizers", reason="the peers group is not installed")
zstandard = pytest.importorskip("zstandard")

hn = tokenizers.normalizers
hp = tokenizers.pre_tokenizers
regex = tokenizers.Regex

NORMALIZERS = {
    "nfc": ([n.Nfc()], hn.NFC()),
    "nfd": ([n.Nfd()], hn.NFD()),
    "nfkc": ([n.Nfkc()], hn.NFKC()),
    "nfkd": ([n.Nfkd()], hn.NFKD()),
    "lowercase": ([n.Lowercase()], hn.Lowercase()),
    "accents": ([n.Nfd(), n.StripAccents()], hn.Sequence([hn.NFD(), hn.StripAccents()])),
    "strip": ([n.Strip()], hn.Strip()),
    "strip left": ([n.Strip(left=True, right=False)], hn.Strip(True, False)),
    "strip right": ([n.Strip(left=False, right=True)], hn.Strip(False, True)),
    "bert": ([n.Bert()], hn.BertNormalizer()),
    "bert cased": ([n.Bert(lowercase=False)], hn.BertNormalizer(lowercase=False)),
    "prepend": ([n.Prepend("▁x")], hn.Prepend("▁x")),
    "replace": ([n.Replace("a ", "xyz")], hn.Replace("a ", "xyz")),
    "replace é": ([n.Replace("é", "xy")], hn.Replace("é", "xy")),
    "replace regex": (
        [n.Replace(" {2,}", " ", regex=True)],
        hn.Replace(regex(" {2,}"), " "),
    ),
    "sequence": (
        [n.Nfkc(), n.Replace("..", "_"), n.Lowercase(), n.Nfd()],
        hn.Sequence([hn.NFKC(), hn.Replace("..", "_"), hn.Lowercase(), hn.NFD()]),
    ),
}
CHARACTERS = [
    *"ab A.É é…？①ﬁ e한カﾞİΣ中\x10\t\n",
    *"\u0301\u0327\u0323\u0344\u1112\u1161\u11ab\u3099\u00a0\u200b\u0f73\u0f71\u0f80\u212b\ufdfa",
    "\U0001f469\u200d\U0001f469",
]


def random_texts(characters, n_texts=1500, seed=1):
    chooser = random.Random(seed)
    made = ["".join(chooser.choices(characters, k=chooser.randint(1, 9))) for _ in range(n_texts)]
    return ["", "？……", "T\x10his is", "a  b", *made]


def their_characters(normalizer):
    """A tokenizer that makes every normalized character a token, for its offsets."""
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordLevel({"x": 0}, "x"))
    tokenizer.normalizer = normalizer
    tokenizer.pre_tokenizer = hp.Split(regex("(?m:.)"), "isolated")
    return tokenizer


def our_characters(kernel, text):
    data = text.encode()
    normalized = kernel.normalize(data)[0].decode()
    ranges, start = [], 0
    for character in normalized:
        ranges.append((start, start + len(character.encode())))
        start = ranges[-1][1]
    spans = kernel.spans(data, ranges)[1]
    return normalized, [tuple(len(data[:at].decode()) for at in span) for span in spans]


@pytest.mark.parametrize("name", NORMALIZERS)
def test_text_and_offsets_are_theirs(name):
    steps, theirs = NORMALIZERS[name]
    kernel, oracle = _core.Normalizer(steps), their_characters(theirs)
    for text in random_texts(CHARACTERS):
        normalized, spans = our_characters(kernel, text)
        assert normalized == theirs.normalize_str(text), repr(text)
        assert spans == oracle.encode(text).offsets, repr(text)


def read_model(shared, name):
    path = shared / "vocab" / name
    with path.open("rb") as file:
        return zstandard.ZstdDecompressor().stream_reader(file).read()


def test_precompiled_charsmap_is_theirs(shared):
    pb = pytest.importorskip("sentencepiece.sentencepiece_model_pb2")
    model = pb.ModelProto.FromString(read_model(shared, "albert_sp/spiece.model.zst"))
    charsmap = model.normalizer_spec.precompiled_charsmap
    kernel = _core.Normalizer([n.Charsmap(charsmap, per_grapheme=True)])
    theirs = hn.Precompiled(charsmap)
    oracle = their_characters(theirs)
    for text in random_texts(CHARACTERS):
        normalized, spans = our_characters(kernel, text)
        assert normalized == theirs.normalize_str(text), repr(text)
        if "\x10" not in text:
            assert spans == oracle.encode(text).offsets, repr(text)


def test_nmt_nfkc_is_the_table_for_every_character_it_knows(shared):
    pb = pytest.importorskip("sentencepiece.sentencepiece_model_pb2")
    model = pb.ModelProto.FromString(read_model(shared, "albert_sp/spiece.model.zst"))
    table = _core.Normalizer([n.Charsmap(model.normalizer_spec.precompiled_charsmap)])
    rules = _core.Normalizer(n.NAMED_NORMALIZERS["nmt_nfkc"])
    young = 0
    for code in range(1, 0x110000):
        if 0xD800 <= code < 0xE000:
            continue
        text = chr(code).encode()
        ours, theirs = rules.normalize(text)[0], table.normalize(text)[0]
        # The table leaves alone what its Unicode version had not assigned.
        young += ours != theirs and theirs == text
        assert ours == theirs or theirs == text, hex(code)
    assert young == 171


SENTENCEPIECE = {
    "albert_sp": "spiece.model.zst",
    "xlnet_sp": "spiece.model.zst",
    "mistral_v1": "tokenizer.model.zst",
    "spm_test_ja": None,
    "spm_test_en": None,
    "seqio_test_sp": None,
}


@pytest.mark.parametrize("name", SENTENCEPIECE)
def test_sentencepiece_text_and_offsets_are_theirs(shared, name):
    sentencepiece = pytest.importorskip("sentencepiece")
    pb = pytest.importorskip("sentencepiece.sentencepiece_model_pb2")
    file = SENTENCEPIECE[name] or next((shared / "vocab" / name).glob("*.zst")).name
    raw = read_model(shared, f"{name}/{file}")
    model = pb.ModelProto.FromString(raw)
    spec = model.normalizer_spec
    kernel = _core.Normalizer(
        [
            n.Charsmap(
                spec.precompiled_charsmap,
                keep=tuple(piece.piece for piece in model.pieces if piece.type == 4),
            ),
            n.SentencePieceSpaces(
                spec.add_dummy_prefix,
                spec.remove_extra_whitespaces,
                spec.escape_whitespaces,
                model.trainer_spec.treat_whitespace_as_suffix,
            ),
        ]
    )
    oracle = sentencepiece.SentencePieceProcessor(model_proto=raw)
    golden = json.loads((shared / "golden" / f"{name}.json").read_text("utf-8"))
    texts = [case["t"] for case in golden["cases"]] + random_texts(CHARACTERS, 400)
    for text in texts:
        data = text.encode()
        normalized = kernel.normalize(data)[0]
        assert normalized.decode() == oracle.normalize(text), repr(text)
        ranges, expected, start = [], [], 0
        for piece in oracle.encode(text, return_type="proto").pieces:
            ranges.append((start, start + len(piece.piece.encode())))
            start = ranges[-1][1]
            expected.append((piece.begin, piece.end))
        # Pieces of byte fallback are named by their byte, so they do not add up to the text.
        if start == len(normalized):
            assert kernel.spans(data, ranges)[1] == expected, repr(text)


BEHAVIORS = ["isolated", "removed", "merged_with_previous", "merged_with_next", "contiguous"]
STEPS = {
    **{
        f"{kind} {behavior} {invert}": (
            [p.Split(pattern, kind == "regex", behavior, invert)],
            hp.Split(regex(pattern) if kind == "regex" else pattern, behavior, invert),
        )
        for kind, pattern in [("regex", r"\d|-"), ("string", "a ")]
        for behavior in BEHAVIORS
        for invert in (False, True)
    },
    **{f"punctuation {b}": ([p.Punctuation(b)], hp.Punctuation(b)) for b in BEHAVIORS},
    **{f"digits {i}": ([p.Digits(i)], hp.Digits(i)) for i in (False, True)},
    "whitespace": ([p.Whitespace()], hp.Whitespace()),
    "whitespace split": ([p.WhitespaceSplit()], hp.WhitespaceSplit()),
    "bert": ([p.Bert()], hp.BertPreTokenizer()),
    "scripts": ([p.UnicodeScripts()], hp.UnicodeScripts()),
    "delimiter": ([p.CharDelimiter("-")], hp.CharDelimiterSplit("-")),
    **{
        f"metaspace {scheme} {cut}": (
            [p.Metaspace("▁", scheme, cut)],
            hp.Metaspace("▁", scheme, cut),
        )
        for scheme in ("always", "first", "never")
        for cut in (False, True)
    },
    **{
        f"byte level {space} {cut}": (
            [p.ByteLevel(space, cut)],
            hp.ByteLevel(add_prefix_space=space, use_regex=cut),
        )
        for space in (False, True)
        for cut in (False, True)
    },
    "words, then metaspace": (
        [p.WhitespaceSplit(), p.Metaspace("▁", "first")],
        hp.Sequence([hp.WhitespaceSplit(), hp.Metaspace("▁", "first")]),
    ),
    "digits, then byte level": (
        [p.Digits(True), p.ByteLevel(True, True)],
        hp.Sequence([hp.Digits(True), hp.ByteLevel(True, True)]),
    ),
}
STEP_CHARACTERS = [
    *"ab A.-12 '_  \n\t▁é中あカーж\u0301½²٣\u3000、\u00a0🙂\u200d€",
    "'s",
    "ll",
]


def byte_of_printable():
    """GPT-2's printable stand-ins, read backwards. Source: openai/gpt-2, src/encoder.py."""
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(256) if byte not in printable]
    table = {chr(byte): byte for byte in printable}
    return table | {chr(256 + place): byte for place, byte in enumerate(others)}


@pytest.mark.parametrize("name", STEPS)
def test_pieces_and_offsets_are_theirs(name):
    steps, theirs = STEPS[name]
    table = byte_of_printable()
    for text in random_texts(STEP_CHARACTERS, 800, seed=2):
        expected = [
            (bytes(table[c] for c in piece) if "byte level" in name else piece.encode(), *span)
            for piece, span in theirs.pre_tokenize_str(text)
        ]
        data = text.encode()
        pieces = [
            (piece, len(data[:start].decode()), len(data[:end].decode()))
            for piece, start, end in p.split(text, steps)
        ]
        assert pieces == expected, repr(text)

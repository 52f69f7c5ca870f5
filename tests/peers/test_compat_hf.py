"""The stand-in for HF ``tokenizers`` gives what it gives: a user changes one import."""

import itertools
import json

import pytest

import subword
from subword.compat.hf import Tokenizer, from_hf, to_hf
from subword.errors import ArgumentError, SubwordError

hf = pytest.importorskip("tokenizers")

CORPUS = [
    "the cat sat on the mat, the cat in the hat; it's what they're saying, don't you know",
    "Größe und naïve café, über 你好世界 привет мир 12345 unbelievable embeddings tokenization",
] * 8
TEXTS = [
    "",
    " ",
    "the cat",
    " the cat ",
    "The cat's hat, isn't it?",
    "unbelievable tokenization embeddings",
    "  two  spaces   three",
    "tab\tand\nlines\r\n\r\nend",
    "naïve café Größe über",
    "cafe\u0301 nai\u0308ve",
    "你好世界 and 你好",
    "привет мир",
    "12345 678,9.10",
    "emoji \U0001f642 and \U0001f468\u200d\U0001f469\u200d\U0001f467",
    "[SEP] in the text [CLS]",
    "<mask> and <mask>",
    "the[SEP]cat",
    "a" * 40,
    "qqqq zzzz \u0e2a\u0e27\u0e31",
    "nul \x00 and \x7f bell \x07",
    "wide\u3000space nbsp\xa0here next\x85line",
    "don't DON'T they'Re",
    "\u202eright to left \u05e9\u05dc\u05d5\u05dd",
    "the cat sat on the mat and the cat sat on the hat and they're saying it",
    "(parentheses) [brackets] {braces} <angles>",
    "a.b,c;d:e!f?g",
    "\u2581metaspace \u2581\u2581 in text",
    "\u0120bytes \u010a",
    "ﬁne ligature ½ ²",
    "x",
]
PAIRS = list(zip(TEXTS, reversed(TEXTS), strict=True))


def byte_level(*, prefix=False, trim=True):
    tok = hf.Tokenizer(hf.models.BPE())
    tok.pre_tokenizer = hf.pre_tokenizers.ByteLevel(add_prefix_space=prefix)
    tok.decoder = hf.decoders.ByteLevel()
    tok.post_processor = hf.processors.ByteLevel(add_prefix_space=prefix, trim_offsets=trim)
    trainer = hf.trainers.BpeTrainer(
        vocab_size=330,
        special_tokens=["[SEP]", "[CLS]", "[PAD]", "<mask>"],
        initial_alphabet=hf.pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tok.train_from_iterator(CORPUS, trainer)
    return tok


def word_piece():
    tok = hf.Tokenizer(hf.models.WordPiece(unk_token="[UNK]"))
    tok.normalizer = hf.normalizers.BertNormalizer(lowercase=True)
    tok.pre_tokenizer = hf.pre_tokenizers.BertPreTokenizer()
    tok.decoder = hf.decoders.WordPiece()
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "<mask>"]
    trainer = hf.trainers.WordPieceTrainer(
        vocab_size=140, special_tokens=special, show_progress=False
    )
    tok.train_from_iterator(CORPUS, trainer)
    tok.post_processor = hf.processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[(name, tok.token_to_id(name)) for name in ("[CLS]", "[SEP]")],
    )
    return tok


def unigram():
    tok = hf.Tokenizer(hf.models.Unigram())
    tok.normalizer = hf.normalizers.Sequence(
        [hf.normalizers.NFKC(), hf.normalizers.Replace(hf.Regex(" {2,}"), " ")]
    )
    tok.pre_tokenizer = hf.pre_tokenizers.Metaspace()
    tok.decoder = hf.decoders.Metaspace()
    trainer = hf.trainers.UnigramTrainer(
        vocab_size=120,
        special_tokens=["<unk>", "[CLS]", "[SEP]", "[PAD]", "<mask>"],
        unk_token="<unk>",
        show_progress=False,
    )
    tok.train_from_iterator(CORPUS, trainer)
    tok.post_processor = hf.processors.TemplateProcessing(
        single="$A [SEP] [CLS]:2",
        pair="$A [SEP] $B:1 [SEP]:1 [CLS]:2",
        special_tokens=[(name, tok.token_to_id(name)) for name in ("[CLS]", "[SEP]")],
    )
    return tok


def roberta():
    tok = byte_level()
    tok.post_processor = hf.processors.RobertaProcessing(
        ("[SEP]", tok.token_to_id("[SEP]")), ("[CLS]", tok.token_to_id("[CLS]"))
    )
    return tok


def bare():
    tok = byte_level()
    tok.post_processor = None
    return tok


MADE = {
    "byte level": byte_level,
    "byte level, prefix": lambda: byte_level(prefix=True),
    "byte level, untrimmed": lambda: byte_level(trim=False),
    "roberta": roberta,
    "bert": word_piece,
    "unigram": unigram,
}


@pytest.fixture(scope="module", params=MADE)
def json_text(request):
    return MADE[request.param]().to_str()


@pytest.fixture
def both(json_text):
    """HF's tokenizer and ours, from the same text."""
    return hf.Tokenizer.from_str(json_text), Tokenizer.from_str(json_text)


def shown(encoding):
    """Everything that an encoding tells."""
    return {
        "tokens": encoding.tokens,
        "ids": encoding.ids,
        "offsets": encoding.offsets,
        "type_ids": encoding.type_ids,
        "attention_mask": encoding.attention_mask,
        "special_tokens_mask": encoding.special_tokens_mask,
        "word_ids": encoding.word_ids,
        "sequence_ids": encoding.sequence_ids,
        "n_sequences": encoding.n_sequences,
        "overflowing": [shown(part) for part in encoding.overflowing],
    }


def test_without_a_post_processor():
    """Of pairs that are cut, HF then numbers the texts in some rows and not in others: not ours."""
    text = bare().to_str()
    theirs, ours = hf.Tokenizer.from_str(text), Tokenizer.from_str(text)
    for pair in PAIRS:
        assert shown(ours.encode(*pair)) == shown(theirs.encode(*pair)), pair
    for tok in (theirs, ours):
        tok.enable_padding(pad_to_multiple_of=8)
        tok.enable_truncation(9, stride=2)
    for one, wanted in zip(ours.encode_batch(TEXTS), theirs.encode_batch(TEXTS), strict=True):
        assert shown(one) == shown(wanted)


@pytest.mark.parametrize("adds", [True, False])
def test_texts(both, adds):
    theirs, ours = both
    for text in TEXTS:
        expected = shown(theirs.encode(text, add_special_tokens=adds))
        assert shown(ours.encode(text, add_special_tokens=adds)) == expected, text


@pytest.mark.parametrize("adds", [True, False])
def test_pairs(both, adds):
    theirs, ours = both
    for pair in PAIRS:
        expected = shown(theirs.encode(*pair, add_special_tokens=adds))
        assert shown(ours.encode(*pair, add_special_tokens=adds)) == expected, pair


def test_words(both):
    theirs, ours = both
    words = [text.split(" ") for text in TEXTS]
    for first, second in itertools.pairwise(words):
        expected = shown(theirs.encode(first, second, is_pretokenized=True))
        assert shown(ours.encode(first, second, is_pretokenized=True)) == expected, first
    expected = [shown(row) for row in theirs.encode_batch(words, is_pretokenized=True)]
    assert [shown(row) for row in ours.encode_batch(words, is_pretokenized=True)] == expected


@pytest.mark.parametrize(
    "padding",
    [
        {},
        {"direction": "left", "pad_id": 2, "pad_type_id": 3, "pad_token": "[PAD]"},
        {"length": 12},
        {"pad_to_multiple_of": 8, "length": 9},
    ],
)
@pytest.mark.parametrize(
    "truncation",
    [
        None,
        {"max_length": 10},
        {"max_length": 9, "stride": 2},
        {"max_length": 9, "stride": 1, "direction": "left"},
    ],
)
def test_batches_cut_and_filled_up(both, padding, truncation):
    for tok in both:
        tok.enable_padding(**padding)
        if truncation is not None:
            tok.enable_truncation(**truncation)
    theirs, ours = both
    assert ours.padding == theirs.padding
    assert ours.truncation == theirs.truncation
    for batch in (
        TEXTS,
        [(a, b) for a, b in PAIRS] if truncation in (None, {"max_length": 10}) else [],
    ):
        expected = [shown(row) for row in theirs.encode_batch(batch)]
        for text, row, wanted in zip(batch, ours.encode_batch(batch), expected, strict=True):
            assert shown(row) == wanted, text
    for text in TEXTS[-8:]:
        assert shown(ours.encode(text)) == shown(theirs.encode(text)), text
    for tok in both:
        tok.no_padding()
        tok.no_truncation()
    assert ours.padding is ours.truncation is None
    assert shown(ours.encode(TEXTS[-7])) == shown(theirs.encode(TEXTS[-7]))


@pytest.mark.parametrize("strategy", ["longest_first", "only_first", "only_second"])
@pytest.mark.parametrize("stride", [0, 2])
@pytest.mark.parametrize("max_length", [12, 15, 24])
def test_pairs_are_cut_alike_or_refused_by_both(both, strategy, stride, max_length):
    for tok in both:
        tok.enable_truncation(max_length, stride=stride, strategy=strategy)
    theirs, ours = both
    n_equal = 0
    for pair in PAIRS:
        refusal = None
        try:
            expected = shown(theirs.encode(*pair))
        except BaseException as error:  # noqa: BLE001 - its panics are no Exception
            refusal = str(error)
        if refusal is not None:
            assert "stride" in refusal or "too short" in refusal
            with pytest.raises(ArgumentError):
                ours.encode(*pair)
            continue
        assert shown(ours.encode(*pair)) == expected, pair
        n_equal += 1
    assert n_equal > 5


def test_decoding(both):
    theirs, ours = both
    batch = [theirs.encode(text).ids for text in TEXTS]
    for skip in (True, False):
        assert ours.decode_batch(batch, skip) == theirs.decode_batch(batch, skip)
    assert ours.decode([5, 6, 99_999]) == theirs.decode([5, 6, 99_999])


def test_the_vocabulary(both):
    theirs, ours = both
    assert ours.get_vocab() == theirs.get_vocab()
    assert ours.get_vocab_size() == theirs.get_vocab_size()
    for token, token_id in theirs.get_vocab().items():
        assert ours.token_to_id(token) == token_id
        assert ours.id_to_token(token_id) == theirs.id_to_token(token_id)
    assert ours.token_to_id("no such token") is ours.id_to_token(99_999) is None
    for is_pair in (True, False):
        n_added = theirs.num_special_tokens_to_add(is_pair)
        assert ours.num_special_tokens_to_add(is_pair) == n_added


def test_places_in_an_encoding(both):
    theirs, ours = both
    pair = TEXTS[4], TEXTS[8]
    expected, got = theirs.encode(*pair), ours.encode(*pair)
    for at in range(len(got)):
        for name in ("token_to_sequence", "token_to_word"):
            assert getattr(got, name)(at) == getattr(expected, name)(at), name
    for sequence, at in itertools.product((0, 1), range(30)):
        for name in ("char_to_token", "char_to_word", "word_to_tokens", "word_to_chars"):
            assert getattr(got, name)(at, sequence) == getattr(expected, name)(at, sequence), name


def test_what_is_saved_gives_the_same_in_hf(both, tmp_path):
    theirs, ours = both
    for tok in both:
        tok.enable_truncation(20, stride=3)
        tok.enable_padding(length=20)
    ours.save(tmp_path / "tokenizer.json")
    for again in (
        hf.Tokenizer.from_file(str(tmp_path / "tokenizer.json")),
        Tokenizer.from_file(tmp_path / "tokenizer.json"),
        Tokenizer.from_str(ours.to_str()),
        Tokenizer.from_buffer(ours.to_str(pretty=True).encode()),
    ):
        for text in TEXTS:
            assert shown(again.encode(text)) == shown(theirs.encode(text)), text


def test_live_objects_move_across(both):
    theirs, _ = both
    tok = subword.from_hf(theirs)
    again = subword.to_hf(tok)
    assert isinstance(again, hf.Tokenizer)
    assert from_hf(to_hf(tok)) == tok
    for text in TEXTS:
        ids = theirs.encode(text, add_special_tokens=False).ids
        assert tok.encode(text) == ids
        assert again.encode(text, add_special_tokens=False).ids == ids
        assert again.encode(text).ids == theirs.encode(text).ids


@pytest.mark.parametrize(
    "call",
    [
        lambda tok: tok.encode(None),
        lambda tok: tok.encode(5),
        lambda tok: tok.encode(["a"]),
        lambda tok: tok.encode("a", is_pretokenized=True),
        lambda tok: tok.encode_batch("ab"),
        lambda tok: tok.encode_batch([3]),
        lambda tok: tok.decode("x"),
    ],
)
def test_both_refuse_what_is_no_text(both, call):
    for tok in both:
        with pytest.raises(TypeError):
            call(tok)


def test_settings_that_hf_panics_over_are_refused(both):
    _, ours = both
    with pytest.raises(ArgumentError, match="stride"):
        ours.enable_truncation(5, stride=5)
    with pytest.raises(ArgumentError, match="strategy"):
        ours.enable_truncation(5, strategy="shortest")
    with pytest.raises(ArgumentError, match="direction"):
        ours.enable_padding(direction="up")


def test_a_row_shorter_than_its_template_is_refused():
    ours = Tokenizer.from_str(word_piece().to_str())
    ours.enable_truncation(1)
    with pytest.raises(ArgumentError, match="template"):
        ours.encode("the cat")


def test_what_is_no_tokenizer_is_refused():
    with pytest.raises(ArgumentError, match="backend_tokenizer"):
        subword.from_hf("gpt2")
    with pytest.raises(SubwordError):
        Tokenizer.from_str(json.dumps({"model": {"type": "Magic"}}))

"""Every algorithm step by step: the worked examples, and traces held to the twins."""

import base64
import json
from dataclasses import FrozenInstanceError, fields
from fractions import Fraction
from itertools import pairwise

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from subword import trace
from subword.bpe_models import bpe_from_ranks, bpe_from_tokens
from subword.counts import PretokenCounts, count
from subword.errors import (
    ArgumentError,
    CountsError,
    EmptyCorpusError,
    SpecialTokenError,
    SpecialTokenInTextError,
    TextError,
    VocabSizeError,
)
from subword.models import Bpe, CharacterBpe
from subword.named import (
    BPETokenizer,
    CharacterTokenizer,
    UnigramTokenizer,
    WordPieceTokenizer,
    WordTokenizer,
)
from subword.patterns import resolve_pattern
from subword.pretokens import WhitespaceSplit
from subword.reference import bpe as bpe_twin
from subword.reference import unigram as unigram_twin
from subword.reference import wordpiece as wordpiece_twin
from subword.reference.pretokens import split
from subword.tokenizer import Tokenizer
from subword.trace.sources import MAX_SOURCE_BYTES
from subword.training.bpe import train_bpe

TIES = ["greatest", "first", "hf", "smallest_id"]
HUGS = {"hug": 10, "pug": 5, "pun": 12, "bun": 4, "hugs": 5}
LOWS = {"low": 5, "lower": 2, "widest": 3, "newest": 6}
MIXED = [
    *("我", "喜欢", "吃", "苹果", "他", "不", "喜欢", "吃", "苹果派"),
    "I like to eat apples",
    "She has a cute cat",
    "you are very cute",
    "give you a hug",
]
SMALL_VOCAB = dict(
    enumerate([b" ", b"a", b"c", b"e", b"h", b"t", b"th", b" c", b" a", b"the", b" at"])
)
SMALL_MERGES = [(b"t", b"h"), (b" ", b"c"), (b" ", b"a"), (b"th", b"e"), (b" a", b"t")]


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


def shown(words):
    return ["|".join(map(trace.readable, word.symbols)) for word in words]


def spelled(merges):
    return [" ".join(map(trace.readable, pair)) for pair in merges]


def ranks_tokenizer(shared, name, pattern):
    path = shared / "vocab" / name / f"{name}.tiktoken.zst"
    if not path.exists():
        pytest.skip(f"no {path.name} among the shared data")
    lines = zstandard.ZstdDecompressor().decompressobj().decompress(path.read_bytes()).splitlines()
    pairs = (line.split() for line in lines if line)
    ranks = {base64.b64decode(token): int(rank) for token, rank in pairs}
    return Tokenizer(bpe_from_ranks(ranks), {}, resolve_pattern(pattern))


# Worked examples: training.


def test_cat_in_the_hat():
    learnt = trace.bpe("the cat in the hat", n_merges=3, pattern="none", ties="first")
    assert [(step.merged, step.merged_id) for step in learnt.steps] == [
        (b"th", 256),
        (b"the", 257),
        (b"the ", 258),
    ]
    assert shown(learnt.words) == ["t|h|e|␠|c|a|t|␠|i|n|␠|t|h|e|␠|h|a|t"]
    assert [shown(step.words) for step in learnt.steps] == [
        ["th|e|␠|c|a|t|␠|i|n|␠|th|e|␠|h|a|t"],
        ["the|␠|c|a|t|␠|i|n|␠|the|␠|h|a|t"],
        ["the␠|c|a|t|␠|i|n|␠|the␠|h|a|t"],
    ]
    assert learnt.steps[0].tied == ((b"t", b"h"), (b"h", b"e"), (b"e", b" "), (b"a", b"t"))
    assert "one of 4" in learnt.steps[0].reason
    assert "ties='first'" in learnt.steps[0].reason


def test_cat_in_the_hat_encodes_the_quick_brown_fox():
    learnt = trace.bpe("the cat in the hat", n_merges=3, pattern="none", ties="first")
    tok = BPETokenizer(learnt.vocab, learnt.merges, pattern="none")
    encoded = trace.encode(tok, "the quick brown fox")
    assert list(encoded.ids) == tok.encode("the quick brown fox")
    assert encoded.ids == (258, *b"quick brown fox")
    assert tok.decode(encoded.ids) == "the quick brown fox"
    (part,) = encoded.parts
    assert [(merge.rank, merge.position) for merge in part.merges] == [(0, 0), (1, 0), (2, 0)]
    assert part.merges[0].parts == (b"th", *(bytes([byte]) for byte in b"e quick brown fox"))


def test_low_lower_widest_newest():
    wanted = "s t, e st, o w, l ow, w est, n e, ne west, w i, wi d, wid est, low e, lowe r"
    learnt = trace.bpe(LOWS, n_merges=12, ties="greatest")
    assert spelled(learnt.merges) == wanted.split(", ")
    assert learnt.steps[0].tied == ((b"s", b"t"), (b"e", b"s"))
    text = " ".join(word for word, n in LOWS.items() for _ in range(n))
    of_text = trace.bpe(text, n_merges=12, pattern="whitespace", ties="greatest")
    assert of_text.merges == learnt.merges


def test_hugs_wordpiece():
    first = trace.wordpiece(HUGS, 3).steps[0]
    assert first.chosen.pair == ("##g", "##s")
    assert first.chosen.score == Fraction(1, 20)
    assert (first.n_tied, first.merged) == (1, "##gs")
    scores = {candidate.pair: candidate.score for candidate in first.candidates}
    assert scores["##u", "##g"] == Fraction(1, 36)
    assert shown(first.words)[4] == "h|##u|##gs"
    by_frequency = trace.wordpiece(HUGS, 1, score="frequency").steps[0]
    assert (by_frequency.chosen.pair, by_frequency.chosen.count) == (("##u", "##g"), 20)


def test_hugs_wordpiece_without_prefix():
    learnt = trace.wordpiece(HUGS, 1, prefix="")
    assert shown(learnt.words)[4] == "h|u|g|s"
    assert learnt.steps[0].merged == "gs"


def test_mixed_corpus_by_likelihood():
    (first,) = trace.wordpiece(MIXED, 1, pattern="whitespace", ties="first").steps
    assert (first.chosen.pair, first.chosen.score) == (("S", "##h"), 1)


def test_mixed_corpus_by_characters():
    learnt = trace.bpe(MIXED, n_merges=1, pattern="whitespace", ties="first", alphabet="characters")
    (first,) = learnt.steps
    assert (first.chosen.pair, first.chosen.count) == (("喜", "欢"), 2)
    assert first.n_tied > 1


def test_mixed_corpus_by_bytes_has_no_unknown():
    learnt = trace.bpe(MIXED, n_merges=20, pattern="whitespace", ties="first")
    tok = Tokenizer(bpe_from_tokens(learnt.vocab, learnt.merges), {}, (r"\S+",))
    encoded = trace.encode(tok, "苹果")
    assert b"".join(encoded.tokens) == "苹果".encode()
    assert tok.decode(encoded.ids) == "苹果"
    assert tok.decode(trace.encode(tok, "橙子").ids) == "橙子"


# Worked examples: encoding.


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


# Traces against the twins.

words_st = st.dictionaries(
    st.text("abcd ", min_size=1, max_size=7), st.integers(1, 4), min_size=1, max_size=6
)


def twin_counts(words):
    rows, position = {}, 0
    for word, n in words.items():
        rows[word.encode()] = (n, position)
        position += len(word)
    return rows


@given(words_st, st.sampled_from(TIES), st.integers(0, 12))
def test_bytes_equal_the_twin(words, ties, n_merges):
    twin = bpe_twin.learn_merges(twin_counts(words), n_merges, ties=ties)
    learnt = trace.bpe(words, n_merges=n_merges, ties=ties, special_tokens=["<s>"], top=1000)
    assert [step.chosen.count for step in learnt.steps] == [n for _, n in twin]
    moved = [tuple(symbol + (symbol > 255) for symbol in pair) for pair, _ in twin]
    ids = [tuple(pair) for pair in moved]
    assert [(learnt.tokens[left], learnt.tokens[right]) for left, right in ids] == learnt.merges
    check_steps(learnt)


@given(words_st, st.sampled_from(TIES), st.sampled_from(["likelihood", "frequency"]))
def test_wordpiece_equals_the_twin(words, ties, score):
    stripped = {word: n for word, n in words.items() if word.strip()}
    if not stripped:
        return
    twin = wordpiece_twin.learn_wordpiece(
        [(word.encode(), n) for word, n in stripped.items()],
        vocab_size=1000,
        max_merges=8,
        score=score,
        ties=ties,
    )
    learnt = trace.wordpiece(words, 8, score=score, ties=ties, top=1000)
    assert [token.encode() for token in learnt.tokens] == twin.tokens
    scores = [Fraction(m.pair_count, m.left_count * m.right_count) for m in twin.merges]
    assert [step.chosen.score for step in learnt.steps] == scores
    check_steps(learnt)


def check_steps(learnt):
    """The order of candidates is that of score and rule, so the twin's choice is first by both."""
    before = learnt.words
    for step in learnt.steps:
        scores = [candidate.score for candidate in step.candidates]
        assert scores == sorted(scores, reverse=True)
        assert len(scores) == step.n_pairs
        assert step.n_tied == scores.count(scores[0]) == len(step.tied)
        if learnt.ties == "greatest":
            assert step.chosen.pair == max(step.tied)
        if learnt.ties == "first":
            first = [pair for word in before for pair in pairwise(word.symbols)]
            assert step.chosen.pair == min(step.tied, key=first.index)
        for place, (old, new) in enumerate(zip(before, step.words, strict=True)):
            assert (old != new) == (place in step.changed)
        before = step.words


@given(words_st.filter(lambda words: any(map(str.strip, words))), st.integers(5, 20))
def test_unigram_equals_the_twin(words, vocab_size):
    stripped = {word.encode(): n for word, n in words.items() if word.strip()}
    twin = unigram_twin.learn_pieces(stripped, vocab_size)
    learnt = trace.unigram(words, vocab_size)
    assert [(piece.piece, piece.score) for piece in learnt.pieces] == twin
    for word, cut in zip(learnt.words, learnt.segmentations, strict=True):
        assert "".join(cut.symbols) == word.symbols[0]


def test_unigram_steps_lose_the_least():
    learnt = trace.unigram(HUGS, 8)
    assert [step.kind for step in learnt.steps] == [
        *("estimate", "estimate", "prune", "estimate", "estimate"),
        *("prune", "estimate", "estimate"),
    ]
    assert learnt.n_seed == 17
    first = learnt.steps[2]
    assert [loss.piece for loss in first.removed] == ["hugs", "bun", "pug"]
    assert [loss.alternative for loss in first.removed] == [
        ("hug", "s"),
        ("b", "u", "n"),
        ("p", "u", "g"),
    ]
    losses = [loss.loss for loss in first.removed]
    assert losses == sorted(losses)
    assert learnt.segmentations[2].symbols == ("hug", "s")


@given(st.text("abc d<s>", max_size=40), st.sampled_from(["recognize", "as_text", {"<s>"}, set()]))
def test_encoding_equals_the_kernel(text, special):
    trained = train_bpe({"abc": 3, " d": 4, "aab": 5, "ca": 2}, 263, ["<s>", "<s>>"])
    assert list(trace.encode(trained, text, special=special).ids) == trained.encode(
        text, special=special
    )


# Encoding with every other model.

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


def test_training_equals_the_kernel():
    texts = ["to be or not to be", "that is the question"]
    tok = train_bpe(texts, 270, ["<s>"], ties="first")
    learnt = trace.bpe(texts, 270, special_tokens=["<s>"], ties="first")
    assert learnt.merges == tok.merges
    assert learnt.vocab == tok.vocab
    assert [step.chosen.count for step in learnt.steps] == tok.merge_counts


# Details.


def test_merges_do_not_overlap():
    (step,) = trace.bpe("aaa", n_merges=1, pattern="none").steps
    assert (step.chosen.count, step.n_occurrences) == (2, 1)
    assert step.words[0].symbols == (b"aa", b"a")
    tok = Tokenizer(bpe_from_tokens({0: b"a", 1: b"aa"}, [(b"a", b"a")]))
    (part,) = trace.encode(tok, "aaaaa").parts
    assert [merge.position for merge in part.merges] == [0, 1]
    assert part.tokens == (b"aa", b"aa", b"a")


def test_special_tokens_are_recognized():
    tok = Tokenizer(bpe_from_tokens(SMALL_VOCAB, SMALL_MERGES), {"<e>": 11, "<e><e>": 12})
    encoded = trace.encode(tok, "the<e><e><e> cat")
    assert [part.kind for part in encoded.parts] == ["pretoken", "special", "special", "pretoken"]
    assert encoded.ids == (9, 12, 11, 7, 1, 5)
    with pytest.raises(SpecialTokenInTextError):
        trace.encode(tok, "the<e>", special="forbid")


def test_same_bytes_from_two_merges_stay_two_symbols():
    words = {"abc": 9, "ab": 9, "bc": 20, "abcx": 1}
    for ties in TIES:
        learnt = trace.bpe(words, n_merges=6, ties=ties)
        twin = bpe_twin.learn_merges(twin_counts(words), 6, ties=ties)
        assert [step.chosen.count for step in learnt.steps] == [n for _, n in twin]


def test_limits_of_length_and_frequency_hold_for_candidates():
    learnt = trace.bpe(LOWS, n_merges=9, max_token_length=2, min_frequency=3)
    assert max(len(step.merged) for step in learnt.steps) == 2
    assert len(learnt.steps) < 9
    for step in learnt.steps:
        assert all(sum(map(len, c.pair)) <= 2 and c.count >= 3 for c in step.candidates)
    assert "stopped: no pair is left" in str(learnt)


def test_pairs_that_spell_a_special_token_are_no_candidates():
    learnt = trace.wordpiece({"ab": 9, "cd": 1}, 3, score="frequency", special_tokens=["ab"])
    assert learnt.merges == [("c", "##d")]
    assert learnt.steps[0].n_pairs == 1


def test_end_of_word_suffix():
    learnt = trace.bpe(LOWS, n_merges=1, alphabet="characters", end_of_word_suffix="</w>")
    assert learnt.words[0].symbols == ("l", "o", "w</w>")
    assert learnt.merges == [("s", "t</w>")]


def test_sources_say_the_same():
    text = "to be or not to be"
    learnt = trace.bpe(text, n_merges=4, ties="first")
    counts = count([text])
    assert isinstance(counts, PretokenCounts)
    for source in (text.encode(), [text], iter([text]), counts):
        assert trace.bpe(source, n_merges=4, ties="first") == learnt
    assert trace.bpe(text, 260, ties="first") == learnt


def test_characters_to_a_vocab_size():
    learnt = trace.bpe(HUGS, 10, alphabet="characters", special_tokens=["<s>"])
    assert learnt.tokens[:8] == ("<s>", "b", "g", "h", "n", "p", "s", "u")
    assert len(learnt.tokens) == 10
    assert [step.merged_id for step in learnt.steps] == [8, 9]


@pytest.mark.parametrize(
    "record",
    [
        trace.bpe(LOWS, n_merges=2),
        trace.wordpiece(HUGS, 2),
        trace.unigram(HUGS, 8),
        trace.encode(Tokenizer(bpe_from_tokens(SMALL_VOCAB, SMALL_MERGES)), "the cat"),
    ],
)
def test_records_are_json_and_print(record):
    plain = trace.as_dict(record)
    assert json.loads(json.dumps(plain, allow_nan=False)) == plain
    assert plain.keys() == set(record.__dataclass_fields__)
    assert str(record).count("\n") > 2
    with pytest.raises(FrozenInstanceError):
        setattr(record, fields(record)[0].name, None)


def test_bytes_that_are_no_text():
    words = {b"\xff\xfea": 2, b"a\xff": 1}
    learnt = trace.bpe(words, n_merges=1)
    assert learnt.merges == [(b"\xff", b"\xfe")]
    assert "\\xff + \\xfe (2)" in str(learnt)
    tok = Tokenizer(bpe_from_tokens(learnt.vocab, learnt.merges))
    assert trace.encode(tok, b"\xff\xfe\xff").ids == (256, 255)
    assert trace.encode(tok, b"").ids == ()
    assert trace.wordpiece(words, 0).words[0].symbols == ("\ufffd", "##\ufffd", "##a")


def test_json_tells_bytes_apart():
    assert trace.as_dict((b"\xe5", rb"\xe5", "é".encode(), Fraction(1, 20))) == [
        *("\\xe5", "\\\\xe5", "é", "1/20")
    ]


# Bad input.


@pytest.mark.parametrize(
    ("call", "error", "said"),
    [
        (lambda: trace.bpe("ab"), ArgumentError, "either vocab_size or n_merges"),
        (lambda: trace.bpe("ab", 300, n_merges=3), ArgumentError, "either vocab_size or n_merges"),
        (lambda: trace.bpe("ab", n_merges=-1), ArgumentError, "negative"),
        (lambda: trace.bpe("ab", n_merges=1, top=0), ArgumentError, "top is 0"),
        (lambda: trace.bpe("ab", n_merges=1, ties="last"), ArgumentError, "'last'"),
        (lambda: trace.bpe("ab", n_merges=1, alphabet="words"), ArgumentError, "'words'"),
        (lambda: trace.bpe("ab", n_merges=1, end_of_word_suffix="_"), ArgumentError, "alphabet="),
        (
            lambda: trace.bpe("ab", n_merges=1, alphabet="characters", max_token_length=3),
            ArgumentError,
            "alphabet='bytes'",
        ),
        (lambda: trace.bpe("ab", 255), VocabSizeError, "255"),
        (lambda: trace.bpe("ab", 256, special_tokens=["<s>"]), VocabSizeError, "257"),
        (lambda: trace.bpe("ab", 1, alphabet="characters"), VocabSizeError, "vocab_size is 1"),
        (lambda: trace.bpe("ab", 300, special_tokens=["a"]), SpecialTokenError, "single byte"),
        (lambda: trace.bpe("ab", 300, special_tokens=["", "b"]), SpecialTokenError, "empty"),
        (lambda: trace.bpe("", n_merges=1), EmptyCorpusError, "no word"),
        (lambda: trace.bpe([], n_merges=1), EmptyCorpusError, "no word"),
        (lambda: trace.wordpiece(" \n", 1), EmptyCorpusError, "no word"),
        (lambda: trace.bpe({"a": -1}, n_merges=1), CountsError, "-1"),
        (lambda: trace.bpe({"a": 1.5}, n_merges=1), CountsError, "1.5"),
        (lambda: trace.bpe({"": 1}, n_merges=1), CountsError, "empty"),
        (lambda: trace.bpe({"a": 1, b"a": 2}, n_merges=1), CountsError, "twice"),
        (lambda: trace.bpe(7, n_merges=1), ArgumentError, "int"),
        (lambda: trace.bpe([7], n_merges=1), ArgumentError, "int"),
        (lambda: trace.bpe("a\ud800", n_merges=1), TextError, "character 1"),
        (lambda: trace.wordpiece("ab", 1, score="best"), ArgumentError, "'best'"[:5]),
        (lambda: trace.unigram(HUGS, 3), VocabSizeError, "7 required"),
        (lambda: trace.unigram(HUGS, 8, shrinking_factor=1.0), ArgumentError, "1.0"),
        (lambda: trace.unigram([b"\xff"], 8), TextError, "UTF-8"),
        (lambda: trace.unigram("a" * 2000, 8), ArgumentError, "2000000 substrings"),
    ],
)
def test_refused(call, error, said):
    with pytest.raises(error, match=said.replace("(", r"\(")):
        call()


@pytest.mark.parametrize("learn", [trace.bpe, trace.wordpiece])
def test_large_sources_are_refused(learn):
    text = "a " * (MAX_SOURCE_BYTES // 2 + 1)
    for source in (text, [text[:-2], "b", "c", "d"], {text: 1}):
        with pytest.raises(ArgumentError, match="excerpt"):
            learn(source, n_merges=1)


def test_traces_too_long_to_keep_are_refused():
    with pytest.raises(ArgumentError, match="at most 200 steps"):
        trace.bpe("ab" * 25_000, n_merges=1000, pattern="none")
    assert len(trace.bpe("ab" * 25, n_merges=10**12, pattern="none").steps) == 7
    tok = Tokenizer(bpe_from_tokens({0: b"a", 1: b"aa"}, [(b"a", b"a")]))
    with pytest.raises(ArgumentError, match="less text"):
        trace.encode(tok, "a" * 10_000)
    with pytest.raises(ArgumentError, match="excerpt"):
        trace.encode(tok, "a" * (MAX_SOURCE_BYTES + 1))


def test_tokenizers_that_do_more_are_refused():
    class Shouting(Tokenizer):
        def encode(self, text, pair=None, **options):
            return super().encode(bytes(text).upper(), pair, **options)

    vocab = {byte: bytes([byte]) for byte in range(256)}
    with pytest.raises(ArgumentError, match="more than a trace knows"):
        trace.encode(Shouting(Bpe(vocab, ())), "a")

"""Traces of trainings: worked examples, the twins, details."""

import json
from dataclasses import FrozenInstanceError, fields
from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from subword import trace
from subword.bpe_models import bpe_from_tokens
from subword.counts import PretokenCounts, count
from subword.named import (
    BPETokenizer,
)
from subword.reference import bpe as bpe_twin
from subword.reference import unigram as unigram_twin
from subword.reference import wordpiece as wordpiece_twin
from subword.tokenizer import Tokenizer
from subword.training.bpe import train_bpe
from trace_samples import HUGS, SMALL_MERGES, SMALL_VOCAB

TIES = ["greatest", "first", "hf", "smallest_id"]


LOWS = {"low": 5, "lower": 2, "widest": 3, "newest": 6}


MIXED = [
    *("我", "喜欢", "吃", "苹果", "他", "不", "喜欢", "吃", "苹果派"),
    "I like to eat apples",
    "She has a cute cat",
    "you are very cute",
    "give you a hug",
]


def shown(words):
    return ["|".join(map(trace.readable, word.symbols)) for word in words]


def spelled(merges):
    return [" ".join(map(trace.readable, pair)) for pair in merges]


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


def test_training_equals_the_kernel():
    texts = ["to be or not to be", "that is the question"]
    tok = train_bpe(texts, 270, ["<s>"], ties="first")
    learnt = trace.bpe(texts, 270, special_tokens=["<s>"], ties="first")
    assert learnt.merges == tok.merges
    assert learnt.vocab == tok.vocab
    assert [step.chosen.count for step in learnt.steps] == tok.merge_counts


def test_merges_do_not_overlap():
    (step,) = trace.bpe("aaa", n_merges=1, pattern="none").steps
    assert (step.chosen.count, step.n_occurrences) == (2, 1)
    assert step.words[0].symbols == (b"aa", b"a")
    tok = Tokenizer(bpe_from_tokens({0: b"a", 1: b"aa"}, [(b"a", b"a")]))
    (part,) = trace.encode(tok, "aaaaa").parts
    assert [merge.position for merge in part.merges] == [0, 1]
    assert part.tokens == (b"aa", b"aa", b"a")


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

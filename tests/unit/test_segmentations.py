"""The best segmentations of a text and sampled ones, through the public tokenizer."""

import math
from collections import Counter
from itertools import islice, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

import subword
from subword.errors import ArgumentError, SpecialTokenInTextError, UnencodableTextError
from subword.models import Bpe, CharacterBpe, Pieces
from subword.models import Piece as ModelPiece
from subword.reference import bpe as bpe_twin
from subword.reference import unigram as unigram_twin
from subword.reference.character_bpe import uniforms
from subword.reference.pretokens import split
from subword.tokenizer import Tokenizer

PIECES = [("<unk>", 0.0), ("a", -1.0), ("b", -2.0), (" ", -1.5), ("ab", -2.5), ("aa", -1.75)]
TWIN = unigram_twin.Model(
    [
        unigram_twin.Piece(text.encode(), score, "normal" if at else "unknown")
        for at, (text, score) in enumerate(PIECES)
    ]
)
UNIGRAM = subword.UnigramTokenizer(PIECES, pattern="whitespace", special_tokens=["<s>"])
MERGES = [(b"a", b"b"), (b"ab", b"c"), (b"b", b"c"), (b"a", b"a"), (b" ", b"a"), (b"aa", b"a")]
BPE = subword.BPETokenizer(
    {byte: bytes([byte]) for byte in range(256)}
    | {256 + at: left + right for at, (left, right) in enumerate(MERGES)},
    MERGES,
    ["<s>"],
)
CHARACTER_BPE = Tokenizer(
    CharacterBpe({0: b"a", 1: b"b", 2: b" ", 3: b"ab", 4: b"?"}, ((0, 1),), "?"), {"<s>": 5}
)
SENTENCEPIECE_BPE = Tokenizer(
    Pieces(
        "bpe",
        [ModelPiece(b"<unk>", 0.0, "unknown")]
        + [ModelPiece(t, s) for t, s in ((b"a", -3.0), (b"b", -4.0), (b"ab", -1.0))],
    )
)
TEXTS = ["", "ab", "abab ab", "a<s>ab", "aaab<s><s> ab"]
texts = st.lists(st.sampled_from(["a", "b", "c", "aa", " ", "<s>", "你"]), max_size=12).map("".join)
seeds = st.integers(0, 2**64 - 1)


def brute_force(text, n):
    """Every combination of the pre-tokens' segmentations, best first."""
    parts = []
    for segment in text.split("<s>"):
        parts.append([((6,), 0.0)])
        for piece in split(segment, ("\\S+",)):
            parts.append(unigram_twin.n_best(TWIN, piece, n))
    combined = [
        ([token_id for ids, _ in ways for token_id in ids], sum(score for _, score in ways))
        for ways in product(*parts[1:])
    ]
    return sorted(combined, key=lambda way: -way[1])[:n]


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("n", [1, 3, 100])
def test_nbest_is_that_of_all_combinations(text, n):
    found = UNIGRAM.nbest(text, n)
    expected = brute_force(text, n)
    assert [score for _, score in found] == pytest.approx([score for _, score in expected])
    assert len({tuple(ids) for ids, _ in found}) == len(found)
    whole = {tuple(ids): score for ids, score in brute_force(text, 10**6)}
    assert all(whole[tuple(ids)] == pytest.approx(score) for ids, score in found)
    assert found[0][0] == UNIGRAM.encode(text)


@given(texts, st.sampled_from([0.0, 0.1, 1.0, 4.0]), st.sampled_from([-1, 1, 3]), seeds)
def test_a_sample_of_unigram_is_one_of_its_segmentations(text, alpha, nbest_size, seed):
    text = text.replace("c", "").replace("你", "")
    ids = UNIGRAM.sample(text, alpha=alpha, nbest_size=nbest_size, seed=seed)
    assert ids == UNIGRAM.sample(text.encode(), alpha=alpha, nbest_size=nbest_size, seed=seed)
    assert UNIGRAM.decode(ids) == text
    if nbest_size > 0:
        assert ids in [way for way, _ in UNIGRAM.nbest(text, nbest_size)]


@pytest.mark.parametrize("alpha", [0.0, 0.3, 1.0, 2.0])
@pytest.mark.parametrize("nbest_size", [-1, 3, 99])
def test_samples_follow_the_exact_probabilities(alpha, nbest_size):
    # "aaab" alone has 5 segmentations, and the special token is in all of them.
    ways = UNIGRAM.nbest("aaab<s>", 99)
    assert len(ways) == 5
    kept = ways if nbest_size == -1 else ways[:nbest_size]
    weights = [math.exp(alpha * score) for _, score in kept]
    n = 4000
    found = Counter(
        tuple(UNIGRAM.sample("aaab<s>", alpha=alpha, nbest_size=nbest_size, seed=seed))
        for seed in range(n)
    )
    assert found.keys() <= {tuple(ids) for ids, _ in kept}
    expected = {tuple(ids): n * w / sum(weights) for (ids, _), w in zip(kept, weights, strict=True)}
    # Chi-squared, 4 degrees of freedom at most: past 23.5 once in 10,000 runs; the seeds are fixed.
    assert sum((found[ids] - e) ** 2 / e for ids, e in expected.items()) < 23.5


def test_dropout_follows_the_exact_probabilities():
    # One merge at two places of "abab": with p = 0.3, none is made with p², and both only if a
    # second turn succeeds after the first.
    tok = subword.BPETokenizer({0: b"a", 1: b"b", 2: b"ab"}, [(b"a", b"b")], pattern="none")
    p, n = 0.3, 4000
    found = Counter(tuple(tok.sample("abab", dropout=p, seed=seed)) for seed in range(n))
    left, right = 1 - p, p * (1 - p)
    shares = {
        (0, 1, 0, 1): p * p,
        (2, 2): (left + right) * (1 - p),
        (2, 0, 1): left * p,
        (0, 1, 2): right * p,
    }
    assert sum(shares.values()) == pytest.approx(1)
    assert found.keys() == shares.keys()
    assert sum((found[ids] - n * s) ** 2 / (n * s) for ids, s in shares.items()) < 21.1


@given(texts, st.sampled_from([0.0, 0.1, 0.5, 0.9, 1.0]), seeds)
def test_dropout_of_bytes_is_that_of_the_twin_and_loses_nothing(text, p, seed):
    ids = BPE.sample(text, dropout=p, seed=seed)
    assert BPE.decode(ids) == text
    uniform = uniforms(seed)
    ranks = {pair: rank for rank, pair in enumerate(MERGES)}
    expected = []
    for at, segment in enumerate(text.split("<s>")):
        expected += [b"<s>"] if at else []
        for pretoken in split(segment, BPE.pattern):
            expected += bpe_twin.encode(pretoken, ranks, dropout=p, uniform=uniform)
    assert [BPE.token_bytes(token_id) for token_id in ids] == expected


@pytest.mark.parametrize("tok", [BPE, CHARACTER_BPE], ids=["bytes", "characters"])
@pytest.mark.parametrize("text", [*TEXTS, "abcab你"])
def test_dropout_of_none_and_of_all(tok, text):
    assert tok.sample(text, dropout=0, seed=1) == tok.encode(text)
    every = tok.sample(text, dropout=1, seed=1)
    assert every == tok.replace(model=without_merges(tok.model)).encode(text)


def without_merges(model):
    if isinstance(model, Bpe):
        return Bpe(model.vocab, ())
    return CharacterBpe(model.vocab, (), model.unk_token)


def test_dropout_of_sentencepiece_pieces():
    samples = {tuple(SENTENCEPIECE_BPE.sample("abab", dropout=0.5, seed=s)) for s in range(50)}
    assert {(3, 3), (3, 1, 2), (1, 2, 3), (1, 2, 1, 2)} == samples


def test_whole_pretokens_are_cut_by_dropout_too():
    tok = Tokenizer(Bpe({0: b"a", 1: b"b", 2: b"ab"}, ((0, 1),), whole_first=True))
    assert tok.encode("ab") == [2]
    assert tok.sample("ab", dropout=1.0, seed=0) == [0, 1]


@given(st.text("ab", max_size=12), st.sampled_from([0.0, 0.1, 1.0]), seeds)
def test_samples_of_unigram_are_those_of_the_twin(text, alpha, seed):
    expected = unigram_twin.sample(TWIN, text.encode(), alpha, seed)
    assert UNIGRAM.sample(text, alpha=alpha, seed=seed) == expected


def test_defaults_are_a_tenth():
    assert UNIGRAM.sample("aaab", seed=5) == UNIGRAM.sample("aaab", alpha=0.1, seed=5)
    assert BPE.sample("aaab" * 9, seed=5) == BPE.sample("aaab" * 9, dropout=0.1, seed=5)


@pytest.mark.parametrize(
    ("tok", "options", "message"),
    [
        (UNIGRAM, {"alpha": -0.1}, "alpha is -0.1"),
        (UNIGRAM, {"alpha": math.nan}, "alpha is NaN"),
        (UNIGRAM, {"alpha": math.inf}, "alpha is inf"),
        (UNIGRAM, {"alpha": -1.0, "nbest_size": 2}, "alpha is -1"),
        (UNIGRAM, {"dropout": 0.1}, "dropout is for BPE"),
        (UNIGRAM, {"nbest_size": 0}, "nbest_size is 0"),
        (UNIGRAM, {"nbest_size": -2}, "nbest_size is -2"),
        (BPE, {"dropout": 1.5}, "dropout is 1.5"),
        (BPE, {"dropout": -0.5}, "dropout is -0.5"),
        (BPE, {"dropout": math.nan}, "dropout is NaN"),
        (BPE, {"alpha": 0.1}, "are for Unigram"),
        (BPE, {"nbest_size": 5}, "are for Unigram"),
        (BPE, {"seed": -1}, "seed is -1"),
        (BPE, {"seed": 2**64}, "seed is 1844"),
        (BPE, {"seed": None}, "seed is None"),
        (subword.WordTokenizer(["[UNK]"]), {}, "this model has none"),
        (subword.CharacterTokenizer(), {"dropout": 0.5}, "this model has none"),
    ],
)
def test_refused_sampling(tok, options, message):
    for text in ("ab", "abab" * 5000):
        with pytest.raises(ArgumentError, match=message):
            tok.sample(text, **{"seed": 1, **options})


def test_refused_nbest():
    for n in (0, -3, None):
        with pytest.raises(ArgumentError, match="n is"):
            UNIGRAM.nbest("ab", n)
    with pytest.raises(ArgumentError, match="only a Unigram model"):
        BPE.nbest("ab", 2)


def test_special_tokens_and_unknown_text_are_those_of_encode():
    with pytest.raises(SpecialTokenInTextError):
        UNIGRAM.nbest("a<s>", 2, special="forbid")
    with pytest.raises(SpecialTokenInTextError):
        BPE.sample("a<s>", seed=1, special="forbid")
    assert 6 not in UNIGRAM.sample("a<s>", seed=1, special="as_text")
    no_c = subword.BPETokenizer({0: b"a", 1: b"b"}, [], pattern="none")
    with pytest.raises(UnencodableTextError, match="at byte 2 of the text"):
        no_c.sample("abc", dropout=0.5, seed=1)


def test_the_normalizer_and_the_steps_come_first():
    tok = UNIGRAM.replace(normalizer=subword.normalizers.resolve_normalizer("bert"))
    assert tok.nbest("ÁB", 2) == UNIGRAM.nbest("ab", 2)
    steps = UNIGRAM.replace(pretokenizer=(subword.pretokens.WhitespaceSplit(),))
    assert steps.decode(steps.sample("ab ab", seed=1)) == "abab"


def test_a_megabyte_without_a_space_is_sampled():
    text = "a" * 1_000_000
    for ids, tok in (
        (BPE.sample(text, dropout=0.5, seed=1), BPE),
        (UNIGRAM.sample(text, seed=1), UNIGRAM),
    ):
        assert tok.decode(ids) == text
    ways = UNIGRAM.nbest("ab " * 20_000, 8)
    assert len(ways) == 8
    assert all(UNIGRAM.decode(ids) == "ab " * 20_000 for ids, _ in islice(ways, 2))

"""WordPiece and character-level BPE training: the kernel, its twin, and golden cases."""

import io
import json
import os
import subprocess
import sys
import tarfile
from collections import Counter
from fractions import Fraction
from pathlib import Path

import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from subword import _core
from subword.errors import (
    ArgumentError,
    CountOverflowError,
    CountsError,
    SpecialTokenError,
    SubwordError,
    VocabSizeError,
)
from subword.reference import wordpiece as reference

GOLDEN = Path(__file__).parents[1] / "golden" / "wordpiece_training.jsonl"
CASES = [json.loads(line) for line in GOLDEN.read_text(encoding="utf-8").splitlines()]

DEFAULTS = {
    "max_merges": None,
    "score": "likelihood",
    "ties": "greatest",
    "min_frequency": 1,
    "continuing_prefix": "##",
    "end_of_word_suffix": "",
    "special_tokens": [],
    "limit_alphabet": None,
    "character_coverage": 1.0,
    "extra_alphabet": [],
    "all_forms": False,
}


def learn_in_rust(pretoken_counts, **options):
    tokens, n_initial, merges, *rest = _core.learn_wordpiece(
        list(pretoken_counts), **(DEFAULTS | options)
    )
    return reference.Learned(tokens, n_initial, [reference.Merge(*m) for m in merges], *rest)


ENGINES = {"reference": reference.learn_wordpiece, "rust": learn_in_rust}
every_engine = pytest.mark.parametrize("learn", ENGINES.values(), ids=ENGINES)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
@every_engine
def test_vocabulary_is_the_recorded_one(learn, case):
    counts = [(pretoken.encode(), count) for pretoken, count in case["counts"].items()]
    learned = learn(counts, **case["options"])
    tokens = [token.decode() for token in learned.tokens]
    assert tokens == case["tokens"]
    merges = [
        [tokens[m.left], tokens[m.right], str(Fraction(m.pair_count, m.left_count * m.right_count))]
        for m in learned.merges
    ]
    assert merges == case["merges"]
    assert [list(row) for row in learned.dropped] == case.get("dropped", [])


words = st.text(alphabet="aab#é", min_size=1, max_size=9).map(str.encode) | st.binary(max_size=4)
rows = st.lists(st.tuples(words, st.integers(0, 4) | st.integers(0, 2**40)), max_size=14)
options = st.fixed_dictionaries(
    {
        "vocab_size": st.integers(0, 60),
        "max_merges": st.none() | st.integers(0, 20),
        "score": st.sampled_from(["likelihood", "frequency"]),
        "ties": st.sampled_from(["greatest", "first", "hf", "smallest_id"]),
        "min_frequency": st.integers(0, 3),
        "continuing_prefix": st.sampled_from(["##", "", "#", "a"]),
        "end_of_word_suffix": st.sampled_from(["", "</w>", "a"]),
        "special_tokens": st.lists(st.sampled_from(["[UNK]", "aa", "ab", "#", ""]), max_size=2),
        "limit_alphabet": st.none() | st.integers(0, 5),
        "character_coverage": st.sampled_from([1.0, 0.9, 0.5, 0.0]),
        "extra_alphabet": st.lists(st.sampled_from(["é", "z", "a"]), max_size=2),
        "all_forms": st.booleans(),
    }
)


def outcome(learn, *args, **kwargs):
    try:
        return learn(*args, **kwargs)
    except SubwordError as error:
        return type(error)


@settings(max_examples=400, deadline=None)
@given(rows=rows, options=options, places=st.none() | st.randoms())
def test_kernel_learns_what_the_reference_learns(rows, options, places):
    if places is not None:
        options |= {"first_seen": [places.randrange(5) for _ in rows]}
    assert outcome(learn_in_rust, rows, **options) == outcome(
        reference.learn_wordpiece, rows, **options
    )


@settings(max_examples=60, deadline=None)
@given(
    rows=st.lists(
        st.tuples(st.text("abcdefgh", max_size=12).map(str.encode), st.integers(1, 30)),
        min_size=20,
        max_size=60,
    ),
    score=st.sampled_from(["likelihood", "frequency"]),
    ties=st.sampled_from(["greatest", "first", "smallest_id"]),
)
def test_long_trainings_agree(rows, score, ties):
    options = {"vocab_size": 150, "score": score, "ties": ties}
    assert learn_in_rust(rows, **options) == reference.learn_wordpiece(rows, **options)


@settings(deadline=None)
@given(rows=rows, random=st.randoms(), score=st.sampled_from(["likelihood", "frequency"]))
def test_order_of_the_counts_does_not_matter(rows, random, score):
    shuffled = list(rows)
    random.shuffle(shuffled)
    options = {"vocab_size": 10_000, "score": score}
    assert learn_in_rust(shuffled, **options) == learn_in_rust(rows, **options)


@every_engine
def test_scores_beyond_128_bits_are_compared_exactly(learn):
    # n / (n_a * n_b) of the two pairs differ in the last place of products of 190 bits.
    many = 2**62
    counts = [(b"ab", many), (b"a", 3), (b"xy", many - 1), (b"x", 3)]
    first = learn(counts, vocab_size=5).merges[0]
    assert (first.pair_count, first.left_count, first.right_count) == (many - 1, many + 2, many - 1)


@every_engine
def test_counts_past_32_bits(learn):
    counts = [(b"ab", 2**31 + 10), (b"cd", 2**31 - 10)]
    merge = learn(counts, vocab_size=5, score="frequency").merges[0]
    assert merge.pair_count == 2**31 + 10


@every_engine
@pytest.mark.parametrize("score", ["likelihood", "frequency"])
def test_sums_past_64_bits_are_refused(learn, score):
    with pytest.raises(CountOverflowError, match="64 bits"):
        learn([(b"ab", 2**64 - 1), (b"abc", 1)], vocab_size=9, score=score)
    with pytest.raises(CountOverflowError, match="64 bits"):
        learn([(b"aaaa", 2**63)], vocab_size=9, score=score)
    learned = learn([(b"ab", 2**64 - 1)], vocab_size=9, score=score)
    assert learned.merges[0].pair_count == 2**64 - 1


@every_engine
def test_invalid_bytes_are_read_as_replacement_characters_and_counted(learn):
    learned = learn([(b"a\xff\xe2\x82", 3), ("a\ufffd".encode(), 1)], vocab_size=90)
    assert learned.n_invalid_bytes == 9
    assert learned.alphabet == "a\ufffd"
    assert learned.tokens[:2] == [b"a", "##\ufffd".encode()]


@every_engine
def test_coverage_drops_the_rarest_characters_and_says_so(learn):
    learned = learn([(b"aaab", 5), (b"c", 1)], vocab_size=90, character_coverage=0.9)
    assert (learned.alphabet, learned.dropped) == ("ab", [("c", 1)])


@every_engine
@pytest.mark.parametrize(
    ("error", "options", "message"),
    [
        (VocabSizeError, {"vocab_size": 1}, "vocab_size is 1, but 0 special tokens and 2"),
        (SpecialTokenError, {"special_tokens": ["x", "x"]}, "stands twice"),
        (SpecialTokenError, {"special_tokens": [""]}, "is empty"),
        (SpecialTokenError, {"special_tokens": ["##b"]}, "also a character"),
        (ArgumentError, {"score": "likely"}, "likelihood"),
        (ArgumentError, {"ties": "last"}, "greatest"),
        (ArgumentError, {"character_coverage": 1.5}, "0 to 1"),
        (ArgumentError, {"character_coverage": float("nan")}, "0 to 1"),
        (CountsError, {"first_seen": [1, 2]}, "one for each"),
    ],
)
def test_bad_arguments_are_refused(learn, error, options, message):
    with pytest.raises(error, match=message):
        learn([(b"ab", 1)], **({"vocab_size": 9} | options))


@pytest.mark.parametrize("score", ["likelihood", "frequency"])
@pytest.mark.parametrize("ties", ["greatest", "first", "smallest_id"])
def test_one_long_word_is_not_quadratic(score, ties):
    for word in (b"a" * 1_000_000, b"abcdefghij" * 100_000, bytes(range(97, 123)) * 40_000):
        learned = learn_in_rust([(word, 1)], vocab_size=60, score=score, ties=ties)
        assert len(learned.tokens) <= 60
        assert learned.merges


@pytest.mark.parametrize("score", ["likelihood", "frequency"])
def test_many_equal_counts_are_not_quadratic(score):
    # 15,000 pairs of characters of their own: every score is equal, and every one is merged.
    words = [chr(0x4E00 + i) + chr(0x4E00 + i) for i in range(15_000)]
    counts = [(word.encode(), 1000) for word in words]
    learned = learn_in_rust(counts, vocab_size=10**6, score=score)
    assert [learned.tokens[m.merged].decode() for m in learned.merges] == words[::-1]


def test_one_symbol_with_many_equal_pairs_is_not_quadratic():
    # Each of 15,000 characters stands before "s" alone: all scores are 1 / n(s).
    counts = [((chr(0x4E00 + i) + "s").encode(), 1000) for i in range(15_000)]
    counts += [(("s" + chr(0x4E00 + i)).encode(), 1000) for i in range(15_000, 20_000)]
    learned = learn_in_rust(counts, vocab_size=10**6)
    assert len(learned.merges) == 20_000


WEL_COME = "Wel come to the 🤗 Tok en izers libr ary."

ONE_RUN = f"""
import json
from subword import _core
counts = [(w.encode(), 60) for w in {WEL_COME!r}.replace(".", " .").split()]
options = {{**{DEFAULTS!r}, "vocab_size": 60, "special_tokens": ["[UNK]"]}}
out = [_core.learn_wordpiece(counts, **{{**options, "score": score}})[:3]
       for score in ("likelihood", "frequency")]
print(repr(out))
"""


def test_fresh_processes_give_one_result():
    # huggingface/tokenizers#1794: the same line, other vocabularies in other processes.
    results = set()
    for seed in range(20):
        env = os.environ | {"PYTHONHASHSEED": str(seed)}
        run = subprocess.run(
            [sys.executable, "-c", ONE_RUN], env=env, capture_output=True, check=True, text=True
        )
        results.add(run.stdout)
    assert len(results) == 1
    assert "Wel" in results.pop()


def test_progress_is_told_the_merges():
    told = []
    learned = _core.learn_wordpiece([(b"abcd", 1)], **DEFAULTS, vocab_size=20, progress=told.append)
    assert told[-1] == len(learned[2]) == 3


def test_merges_of_subword_nmt(shared):
    # subword-nmt's own test: 1000 operations, min-frequency 2, format 0.2, greatest pair.
    path = shared / "data" / "reference_fixtures" / "bpe_training.tar.zst"
    with (
        zstandard.ZstdDecompressor().stream_reader(path.read_bytes()) as stream,
        tarfile.open(fileobj=io.BytesIO(stream.read())) as archive,
    ):
        read = {
            name: archive.extractfile(f"bpe_training/subword_nmt/{name}").read().decode()
            for name in ("corpus.en", "bpe.ref")
        }
    counts = Counter(
        word for line in read["corpus.en"].split("\n") for word in line.strip("\r\n ").split(" ")
    )
    del counts[""]
    header, *expected = read["bpe.ref"].splitlines()
    assert header == "#version: 0.2"
    learned = learn_in_rust(
        [(word.encode(), count) for word, count in counts.items()],
        vocab_size=10**6,
        max_merges=len(expected),
        score="frequency",
        min_frequency=2,
        continuing_prefix="",
        end_of_word_suffix="</w>",
    )
    tokens = [token.decode() for token in learned.tokens]
    assert [f"{tokens[m.left]} {tokens[m.right]}" for m in learned.merges] == expected

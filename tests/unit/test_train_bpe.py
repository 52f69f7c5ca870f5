"""``train_bpe``: sources, ids, refusals, and failures that others had."""

import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from subword.counts import count
from subword.errors import (
    ArgumentError,
    CountOverflowError,
    CountsError,
    EmptyCorpusError,
    SpecialTokenError,
    StoppedEarlyWarning,
    TextError,
    VocabSizeError,
)
from subword.models import Ties
from subword.training.bpe import train_bpe
from training_samples import ENGINES, TIES, Merges, Seen, seen_counts, words


def test_ids_are_bytes_then_special_tokens_then_merges() -> None:
    tok = train_bpe({"abab": 3}, 260, ["<s>", "<e>"])
    assert [tok.token_bytes(byte) for byte in range(256)] == [bytes([b]) for b in range(256)]
    assert tok.special_tokens == {"<s>": 256, "<e>": 257}
    assert (tok.token_bytes(258), tok.token_bytes(259)) == (b"ab", b"abab")
    assert (tok.vocab_size, len(tok.vocab)) == (260, 260)
    assert tok.merges == [(b"a", b"b"), (b"ab", b"ab")]
    assert tok.merge_counts == [6, 3]
    assert tok.model.training is not None
    assert tok.model.training.ties == "greatest"
    assert tok.encode("<s>abab<e>") == [256, 259, 257]


def test_every_source_gives_the_same_tokenizer(tmp_path: Path) -> None:
    path = tmp_path / "corpus.txt"
    path.write_text("low lower<s>widest newest newest", encoding="utf-8")
    documents = ["low lower", "widest newest newest"]
    expected = train_bpe(documents, 265, ["<s>"])
    assert train_bpe(path, 265, ["<s>"]) == expected
    assert train_bpe(str(path), 265, ["<s>"]) == expected
    assert train_bpe(iter(documents), 265, ["<s>"]) == expected
    counts = count(documents, special_tokens=["<s>"])
    assert train_bpe(counts, 265) == expected
    assert train_bpe(counts, 265, pattern="gpt2") == expected
    assert train_bpe(dict(counts), 265, ["<s>"]) == expected


def test_special_tokens_are_not_learnt_from() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", StoppedEarlyWarning)
        tok = train_bpe(["ab<|end|>ab<|end|>"] * 9, 400, ["<|end|>"])
    assert tok.merges == [(b"a", b"b")]


def test_training_that_runs_out_of_pairs_says_so() -> None:
    with pytest.warns(StoppedEarlyWarning, match="2 merges of 44"):
        tok = train_bpe({"abc": 5}, 300)
    assert tok.vocab_size == 258
    with pytest.warns(StoppedEarlyWarning, match="1 merges of 4"):
        tok = train_bpe({"ab": 5, "cd": 4}, 260, min_frequency=5)
    assert tok.merges == [(b"a", b"b")]
    with pytest.warns(StoppedEarlyWarning, match="0 merges of 1"):
        assert train_bpe({"a": 5}, 257).merges == []
    with pytest.warns(StoppedEarlyWarning):
        assert train_bpe({"aaaa": 5}, 260, max_token_length=1).merges == []
    assert train_bpe({"abc": 5}, 258).vocab_size == 258


@pytest.mark.parametrize("vocab_size", [-1, 0, 10, 100, 255, 256, 257])
def test_b08_a_vocab_size_below_bytes_and_specials_is_refused(vocab_size: int) -> None:
    def failing() -> Any:
        raise AssertionError("work started")
        yield

    with pytest.raises(VocabSizeError, match="258"):
        train_bpe(failing(), vocab_size, ["<s>", "<e>"])
    with pytest.raises(ValueError, match="258"):
        train_bpe({"ab": 1}, vocab_size, ["<s>", "<e>"])


def test_a_vocab_of_bytes_and_specials_alone_is_made() -> None:
    assert train_bpe({"ab": 1}, 256).merges == []
    assert train_bpe({"ab": 1}, 258, ["<s>", "<e>"]).vocab_size == 258


@pytest.mark.parametrize(
    "options",
    [
        {"ties": "smallest"},
        {"min_frequency": 0},
        {"max_token_length": 0},
        {"n_threads": 0},
        {"n_threads": -2},
        {"n_threads": 1.5},
        {"min_frequency": 1.5},
        {"max_token_length": "9"},
        {"vocab_size": "300"},
        {"vocab_size": 300.0},
        {"vocab_size": None},
    ],
)
def test_arguments_out_of_range_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(ArgumentError):
        train_bpe({"ab": 1}, **{"vocab_size": 300, **options})


@pytest.mark.parametrize("specials", [[""], ["<s>", "<s>"], ["a"], ["\n"], "<s>"])
def test_special_tokens_that_cannot_be_told_apart_are_refused(specials: Any) -> None:
    with pytest.raises(SpecialTokenError):
        train_bpe({"ab": 1}, 300, specials)


def test_more_refusals() -> None:
    for source in ({}, [], [""], {"ab": 0}):
        with pytest.raises(EmptyCorpusError):
            train_bpe(source, 300)  # type: ignore[arg-type]
    with pytest.raises(TextError):
        train_bpe({"ab": 1}, 300, ["<\ud800>"])
    with pytest.raises(CountsError, match="pattern"):
        train_bpe(count(["ab"]), 300, pattern="cl100k")
    with pytest.raises(FileNotFoundError):
        train_bpe("no/such/file", 300)


def test_a_huge_vocab_size_stops_when_pairs_run_out() -> None:
    for vocab_size in (2**31, 2**32 + 300, 2**40):
        with pytest.warns(StoppedEarlyWarning):
            assert train_bpe({"ab": 1}, vocab_size).vocab_size == 257


@pytest.mark.parametrize("ties", TIES)
def test_b01_counts_past_31_bits(ties: Ties) -> None:
    tok = train_bpe({"ab": 2**31 + 10, "cd": 2**31 - 10}, 258, ties=ties)
    assert tok.merges == [(b"a", b"b"), (b"c", b"d")]
    assert tok.merge_counts == [2**31 + 10, 2**31 - 10]
    # A word in which the pair stands often, so that the product passes 32 bits.
    tok = train_bpe({"ab" * 500: 4_400_000, "cd" * 250: 4_400_000}, 257, ties=ties)
    assert (tok.merges, tok.merge_counts) == ([(b"a", b"b")], [2_200_000_000])


@pytest.mark.parametrize("ties", TIES)
def test_counts_up_to_64_bits_and_no_further(ties: Ties) -> None:
    tok = train_bpe({"ab": 2**64 - 1}, 257, ties=ties)
    assert tok.merge_counts == [2**64 - 1]
    for counts in ({"ab": 2**64 - 1, "xab": 1}, {"abab": 2**63}):
        with pytest.raises(CountOverflowError):
            train_bpe(counts, 257, ties=ties)


@pytest.mark.parametrize("ties", TIES)
@given(seen_counts(), st.data())
def test_counts_near_64_bits_are_learnt_or_refused_as_by_the_twin(
    ties: Ties, counts: Seen, data: st.DataObject
) -> None:
    most = st.sampled_from([2**60, 2**61, 2**62, 2**63, 2**64 - 1])
    counts = {pretoken: (data.draw(most), seen) for pretoken, (_, seen) in counts.items()}

    def outcome(engine: str) -> Merges | str:
        try:
            return ENGINES[engine](counts, 20, ties=ties)
        except CountOverflowError:
            return "past 64 bits"

    assert outcome("kernel") == outcome("twin")


def test_b06_equal_counts_follow_the_named_rule() -> None:
    expected: dict[Ties, list[tuple[bytes, bytes]]] = {
        "greatest": [(b"g", b"h"), (b"e", b"f"), (b"c", b"d")],
        "first": [(b"a", b"b"), (b"c", b"d"), (b"e", b"f")],
        "hf": [(b"a", b"b"), (b"c", b"d"), (b"e", b"f")],
        "smallest_id": [(b"a", b"b"), (b"c", b"d"), (b"e", b"f")],
    }
    for ties, merges in expected.items():
        tok = train_bpe(["ab cd ef gh"], 259, pattern="whitespace", ties=ties)
        assert tok.merges == merges


def test_greatest_compares_byte_strings_not_ids() -> None:
    # Stanford CS336: of ("A", "B"), ("A", "C"), ("B", "ZZ") and ("BA", "A") it is the last.
    counts = {"BA": 9, "ZZ": 9, "AB": 1, "AC": 1, "BZZ": 1, "BAA": 1}
    assert train_bpe(counts, 259).merges == [(b"Z", b"Z"), (b"B", b"A"), (b"BA", b"A")]
    # A prefix is smaller than what goes on: (ab, c) over (a, b...).
    assert train_bpe({"ab": 3, "abx": 2, "ax": 2}, 258).merges == [(b"a", b"b"), (b"ab", b"x")]


def test_b07_merges_go_left_to_right_without_overlap() -> None:
    tok = train_bpe({"aaa": 2}, 257, pattern="none")
    assert tok.merges == [(b"a", b"a")]
    assert tok.encode("aaa") == [256, 97]
    assert tok.encode("aaaaa") == [256, 256, 97]


@pytest.mark.parametrize("pattern", ["gpt2", "cl100k", "o200k"])
def test_b09_a_million_spaces_train(pattern: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", StoppedEarlyWarning)
        tok = train_bpe(["a" + " " * 1_000_000 + "b"], 300, pattern=pattern)
    assert tok.token_bytes(256) == b"  "
    text = "a" + " " * 1_000_000 + "b"
    assert tok.decode(tok.encode(text)) == text


def test_b12_a_corpus_that_is_no_utf8_trains_on_its_bytes(tmp_path: Path) -> None:
    path = tmp_path / "bytes.txt"
    path.write_bytes(b"hello \xff\xfe world\n" * 10)
    tok = train_bpe(path, 266)
    assert b"\xff\xfe" in {left + right for left, right in tok.merges}
    assert tok.decode_bytes(tok.encode(b"hello \xff\xfe world\n")) == b"hello \xff\xfe world\n"
    assert train_bpe([path.read_bytes()], 266) == tok


def test_b13_a_long_line_counts(tmp_path: Path) -> None:
    path = tmp_path / "long.txt"
    path.write_text("one two three four five\n" + "xyzw" * 4_000 + "\n", encoding="utf-8")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", StoppedEarlyWarning)
        tok = train_bpe(path, 300, documents="line")
    assert b"xyzw" in tok.vocab.values()


def test_b14_text_without_spaces_takes_memory_in_proportion() -> None:
    code = (
        "import random, resource\n"
        "from subword.training.bpe import train_bpe\n"
        "chooser = random.Random(1)\n"
        "characters = [chr(0x4e00 + chooser.randrange(3000)) for _ in range(300_000)]\n"
        "docs = [''.join(characters[at:at + 2000]) for at in range(0, 300_000, 2000)]\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "tok = train_bpe(docs, 1500)\n"
        "print(tok.vocab_size, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)\n"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    vocab_size, kilobytes = map(int, run.stdout.split())
    assert vocab_size == 1500
    # 0.9 MB of text; the peers took 60 to 100 bytes a byte.
    assert kilobytes < 64 * 1024


def test_b20_a_pattern_with_gaps_keeps_them() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", StoppedEarlyWarning)
        tok = train_bpe(["Hi there, 42!"], 300, pattern="[a-z]+")
    assert tok.decode(tok.encode("Hi there, 42!")) == "Hi there, 42!"
    assert b"there" in tok.vocab.values()
    # The gaps are pre-tokens too.
    assert b", 42!" in tok.vocab.values()


def test_progress_ends_with_the_merges_made_and_may_stop_the_training() -> None:
    seen: list[int] = []
    train_bpe({"abcd": 5}, 258, progress=seen.append)
    assert seen[-1] == 2

    def stop(_: int) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        train_bpe({"abcd": 5}, 258, progress=stop)


def test_the_smaller_training_is_the_beginning_of_the_larger() -> None:
    documents = [" ".join(words(80, seed)) for seed in range(10)]
    large = train_bpe(documents, 400, ["<s>"])
    for vocab_size in (257, 300, 399, 400):
        small = train_bpe(documents, vocab_size, ["<s>"])
        assert large.truncate(vocab_size) == small
        assert large.truncate(vocab_size).merge_counts == small.merge_counts

import gzip
import pickle
import random
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import subword.counting as room
from subword import _core
from subword.counts import PretokenCounts, count
from subword.errors import (
    ArgumentError,
    CountOverflowError,
    CountsError,
    EmptyCorpusError,
    PatternError,
    SourceNotFoundError,
    SpecialTokenError,
    TextError,
)
from subword.patterns import NAMED_PATTERNS, Pattern, resolve_pattern
from subword.reference import corpus as corpus_twin
from subword.reference import counts as twin

Seen = dict[bytes, tuple[int, int]]

NAMES = sorted(NAMED_PATTERNS)
SPECIALS = ["<|end|>", "<|end|>x", "<s>", "<s", "\n\n", "a b", "é中"]

words = st.sampled_from(
    ["the", " the", " cat", "s", "'s", "'ll", "12345", " 7", "\n", "  ", "\t ", "\r\n", "。", "中文", " é"]
    + ["ab", "AB中", "!!", " a b ", "<", "<s>>", "<|end|>x<|end|>", "averylongpretokenofmanybytes" * 2]
)  # fmt: skip
texts = st.lists(words | st.text(max_size=3), max_size=25).map("".join)
# What begins like a compressed file is read as one.
plain_files = (texts.map(str.encode) | st.binary(max_size=12)).filter(
    lambda content: content[:2] != b"\x1f\x8b" and content[:4] != b"\x28\xb5\x2f\xfd"
)
documents = st.lists(texts.map(str.encode) | st.binary(max_size=20), max_size=6)
special_sets = st.lists(st.sampled_from(SPECIALS), unique=True, max_size=4)
patterns = st.sampled_from(
    [resolve_pattern(name) for name in NAMES] + [(r"[a-z]+",), (r"a|", r"\s")]
)


def counted(counter: _core.PretokenCounter) -> Seen:
    table = counter.finish()
    rows = [table.row(place) for place in range(len(table))]
    assert [row[0] for row in rows if row] == sorted(row[0] for row in rows if row)
    return {row[0]: row[1:] for row in rows if row}


@given(
    documents, patterns, special_sets, st.sampled_from([1, 2, 8]), st.sampled_from([1, 64, 1 << 20])
)
def test_any_threads_and_pieces_count_as_the_twin(
    docs: list[bytes], pattern: Pattern, specials: list[str], n_threads: int, piece_bytes: int
) -> None:
    counter = _core.PretokenCounter(
        list(pattern), specials, n_threads=n_threads, piece_bytes=piece_bytes
    )
    # Two calls are one corpus.
    counter.add(docs[:2])
    counter.add(docs[2:])
    assert counter.n_bytes == sum(map(len, docs))
    assert counter.n_documents == len(docs)
    assert counted(counter) == twin.count(docs, pattern, specials)


@given(
    st.lists(plain_files, max_size=3),
    patterns,
    special_sets,
    st.sampled_from([1, 2, 8]),
    st.sampled_from([1, 4, 64, 1 << 20]),
    st.sampled_from([16, 64, 1 << 20]),
    st.sampled_from(["file", "line", b"<|end|>", b"aa", b"\n\n"]),
)
def test_any_blocks_of_files_count_as_the_twin(
    tmp_path_factory: pytest.TempPathFactory,
    contents: list[bytes],
    pattern: Pattern,
    specials: list[str],
    n_threads: int,
    block_bytes: int,
    piece_bytes: int,
    cut: str | bytes,
) -> None:
    folder = tmp_path_factory.mktemp("files")
    paths = []
    for number, content in enumerate(contents):
        paths.append(folder / str(number))
        paths[-1].write_bytes(gzip.compress(content) if number == 1 else content)
    counter = _core.PretokenCounter(
        list(pattern), specials, n_threads=n_threads, piece_bytes=piece_bytes
    )
    counter.add_files(paths, cut, block_bytes=block_bytes)
    docs = list(corpus_twin.read_documents(paths, cut))
    assert counter.n_documents == len(docs)
    assert counter.n_bytes == sum(map(len, docs))
    assert counted(counter) == twin.count(docs, pattern, specials)


def corpus_text(n_words: int = 30_000) -> str:
    """Words of a skewed distribution, with everything that a cut could break in between."""
    chooser = random.Random(7)
    vocabulary = [
        "".join(chooser.choices("etaoinshr", k=n)) for n in range(1, 9) for _ in range(40)
    ]
    between = [" "] * 20 + [
        "\n",
        "  ",
        "'s ",
        ". ",
        "<|end|>",
        " <|end|>x ",
        "中文",
        "\u3000",
        " 1234 ",
        "\t",
    ]
    return "".join(chooser.choice(vocabulary) + chooser.choice(between) for _ in range(n_words))


@pytest.mark.parametrize("name", NAMES)
def test_threads_and_pieces_do_not_change_a_large_count(name: str) -> None:
    text = corpus_text().encode()
    pattern = resolve_pattern(name)
    specials = ["<|end|>", "<|end|>x"]
    expected = twin.count([text], pattern, specials)
    for n_threads in (1, 2, 8):
        for piece_bytes in (64, 4096, 1 << 20):
            counter = _core.PretokenCounter(
                list(pattern), specials, n_threads=n_threads, piece_bytes=piece_bytes
            )
            counter.add([text])
            assert counted(counter) == expected


@pytest.mark.parametrize("name", ["gpt2", "o200k", "none"])
@pytest.mark.parametrize("cut", ["file", "line", b"<|end|>"])
def test_block_sizes_do_not_change_the_count_of_a_file(
    tmp_path: Path, name: str, cut: str | bytes
) -> None:
    path = tmp_path / "corpus.txt"
    path.write_text(corpus_text(5_000), encoding="utf-8", newline="")
    pattern = resolve_pattern(name)
    specials = ["<|end|>", "<|end|>x"]
    expected = twin.count(corpus_twin.read_documents([path], cut), pattern, specials)
    for n_threads in (1, 2):
        for block_bytes in (4, 64, 1 << 20):
            counter = _core.PretokenCounter(
                list(pattern), specials, n_threads=n_threads, piece_bytes=256
            )
            counter.add_files([path], cut, block_bytes=block_bytes)
            assert counted(counter) == expected


@given(st.lists(texts, min_size=1, max_size=8).filter(any), st.randoms(use_true_random=False))
def test_order_of_documents_does_not_change_counts(
    docs: list[str], shuffler: random.Random
) -> None:
    shuffled = list(docs)
    shuffler.shuffle(shuffled)
    assert dict(count(docs)) == dict(count(shuffled))


@given(
    st.lists(texts, min_size=1, max_size=4).filter(any),
    st.lists(texts, min_size=1, max_size=4).filter(any),
    special_sets,
)
def test_tables_add_up_to_that_of_both_corpora(
    first: list[str], second: list[str], specials: list[str]
) -> None:
    one, two = (count(docs, special_tokens=specials) for docs in (first, second))
    both = count(first + second, special_tokens=specials)
    assert one + two == both
    assert (one + two).n_bytes == both.n_bytes
    assert (one + two).n_documents == both.n_documents
    assert all((one + two).first_seen(pretoken) == both.first_seen(pretoken) for pretoken in both)


def test_the_longest_special_token_wins_and_none_is_counted() -> None:
    specials = ["<s>", "<s>>", "b<s", "<s"]
    counts = count(["ab<s>>c<s>d<se"], special_tokens=specials)
    # "b<s" begins further left than "<s>>".
    assert dict(counts) == {b"a": 1, b">>": 1, b"c": 1, b"d": 1, b"e": 1}
    assert counts.first_seen(b"e") == 13


def test_no_pretoken_looks_past_a_special_token() -> None:
    # Before a special token a run of spaces ends as it ends at the end of a text.
    assert dict(count(["a  <s>  b"], special_tokens=["<s>"])) == {
        b"a": 1, b"  ": 1, b" ": 1, b" b": 1,
    }  # fmt: skip


def test_counts_are_read_as_a_mapping() -> None:
    counts = count(["to be or not to be"])
    assert counts["to"] == counts[b"to"] == 1
    assert counts[" be"] == 2
    assert counts.first_seen(" be") == 2
    assert "to" in counts and "question" not in counts
    assert list(counts) == sorted(counts)
    assert len(counts) == 5
    assert counts.total == 6
    assert counts.counts().tolist() == [counts[pretoken] for pretoken in counts]
    with pytest.raises(KeyError):
        counts["question"]
    with pytest.raises(KeyError):
        counts.first_seen("question")


def test_counts_past_32_bits_are_exact() -> None:
    counts = PretokenCounts.from_mapping({"a": 3_000_000_000, "b": 2**63 + 1})
    assert (counts["a"], counts["b"]) == (3_000_000_000, 2**63 + 1)
    assert counts.total == 2**63 + 3_000_000_001


def test_a_sum_past_64_bits_is_refused() -> None:
    half = PretokenCounts.from_mapping({"a": 2**63})
    with pytest.raises(CountOverflowError):
        half + half
    most = PretokenCounts.from_mapping({"a": 2**63 - 1})
    assert (most + half)["a"] == 2**64 - 1
    with pytest.raises(CountOverflowError):
        PretokenCounts.from_mapping({"a": 2**64})
    with pytest.raises(CountOverflowError):
        PretokenCounts.from_mapping({"a": 2**63, b"a": 2**63})  # type: ignore[dict-item]


def test_tables_whose_bytes_pass_64_bits_add_up_or_are_refused() -> None:
    long = PretokenCounts.from_mapping({"abcd": 2**63})
    with pytest.raises(CountOverflowError):
        long + PretokenCounts.from_mapping({"b": 1})


@pytest.mark.parametrize(
    "bad", [{"": 1}, {"a": -1}, {"a": 1.5}, {"a": float("nan")}, {"a": "1"}, {"a": None}]
)
def test_from_mapping_refuses_what_is_no_count(bad: dict[str, int]) -> None:
    with pytest.raises(CountsError):
        PretokenCounts.from_mapping(bad)


def test_a_lone_surrogate_is_no_pretoken() -> None:
    with pytest.raises(TextError, match="character 1"):
        PretokenCounts.from_mapping({"a\ud800": 1})
    counts = PretokenCounts.from_mapping({"a": 1})
    assert "a\ud800" not in counts
    with pytest.raises(KeyError):
        counts.first_seen("\ud800")


def test_counts_may_be_integers_of_numpy() -> None:
    counts = PretokenCounts.from_mapping({"a": np.uint64(2**63 + 1), "b": np.int8(3)})
    assert dict(counts) == {b"a": 2**63 + 1, b"b": 3}


def test_from_mapping_lays_pretokens_end_to_end() -> None:
    counts = PretokenCounts.from_mapping({"bb": 2, "a": 0, "ccc": 1})
    assert dict(counts) == {b"bb": 2, b"ccc": 1}
    assert counts.first_seen("bb") == 0
    assert counts.first_seen("ccc") == 3
    assert counts.n_bytes == 7
    empty = PretokenCounts.from_mapping({})
    assert (len(empty), empty.total, list(empty)) == (0, 0, [])


def test_tables_of_different_splits_do_not_add_up() -> None:
    with pytest.raises(CountsError, match="pattern"):
        count(["a"]) + count(["a"], pattern="cl100k")
    with pytest.raises(CountsError, match="special_tokens"):
        count(["a"]) + count(["a"], special_tokens=["<s>"])
    with pytest.raises(TypeError):
        count(["a"]) + 1  # type: ignore[operator]


def test_a_table_pickles() -> None:
    counts = count(["to be<s>", "\xff"], special_tokens=["<s>"])
    again = pickle.loads(pickle.dumps(counts))  # noqa: S301
    assert again == counts
    assert hash(again) == hash(counts)
    assert again != count(["to be"])
    assert (again.n_bytes, again.n_documents, again.sources) == (10, 2, ())
    assert again + counts == counts + counts


@pytest.mark.parametrize("documents", [[], [""], ["", b""], iter([])])
def test_an_empty_corpus_is_refused(documents: list[str]) -> None:
    with pytest.raises(EmptyCorpusError):
        count(documents)


def test_bad_arguments_are_refused(tmp_path: Path) -> None:
    for n_threads in (0, -1):
        with pytest.raises(ArgumentError):
            count(["a"], n_threads=n_threads)
    with pytest.raises(ArgumentError):
        count(["a"], documents="line")
    with pytest.raises(ArgumentError):
        count(b"a")  # type: ignore[arg-type]
    with pytest.raises(SourceNotFoundError):
        count(tmp_path / "nothing")
    with pytest.raises(PatternError):
        count(["a"], pattern="(")
    for specials in (["", "a"], ["a", "a"], "ab"):
        with pytest.raises(SpecialTokenError):
            count(["a"], special_tokens=specials)


def test_a_lone_surrogate_is_refused_with_its_offset_or_replaced() -> None:
    with pytest.raises(TextError, match="character 2"):
        count(["fine", "ab\ud800"])
    assert dict(count(["a\ud800"], errors="replace")) == {b"a": 1, "\ufffd".encode(): 1}


def test_an_iterators_own_exception_passes_through() -> None:
    def failing() -> Iterator[str]:
        yield "fine"
        raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine"):
        count(failing())


def test_batches_of_a_stream_are_one_corpus(monkeypatch: pytest.MonkeyPatch) -> None:
    docs = [f"document {number} of many" for number in range(50)]
    whole = count(docs)
    monkeypatch.setattr(room, "_BATCH_CHARACTERS", 30)
    assert count(iter(docs)) == whole


def test_what_progress_raises_stops_the_count() -> None:
    seen: list[int] = []
    count(["a b c"], progress=seen.append)
    assert seen[-1] == 5

    def stop(_: int) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        count(["a b c"], progress=stop)

"""Tables that outgrow memory: spilled, pruned, merged, mixed."""

import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import subword
from counts_samples import END, PEAK, corpus
from subword import CountsError, PretokenCounts, _core, count_to_parquet, merge_tables, mix
from subword.counting import parse_memory
from subword.errors import ArgumentError, CountOverflowError
from subword.mixtures import factors

words = st.text("abcdé 你\n", min_size=1, max_size=40)


def spilled(texts: list[bytes], table_bytes: int, folder: Path, n_threads: int) -> Any:
    counter = _core.PretokenCounter(
        [r" ?\S+|\s+"], [], n_threads=n_threads, spill=(folder / "run", table_bytes), piece_bytes=64
    )
    for at in range(0, len(texts), 3):
        counter.add(texts[at : at + 3])
    return counter


@given(st.lists(words, min_size=1, max_size=30), st.sampled_from([1, 2]))
def test_runs_add_up_to_the_table(
    tmp_path_factory: pytest.TempPathFactory, texts: list[str], n_threads: int
) -> None:
    folder = tmp_path_factory.mktemp("runs")
    given_texts = [text.encode() for text in texts]
    whole = subword.count(given_texts, pattern=r" ?\S+|\s+")
    counter = spilled(given_texts, 0, folder, n_threads)
    assert _core.PretokenTable.from_runs([(run, 0) for run in counter.take_runs()]) == whole.table
    assert counter.take_runs() == []


def test_a_table_that_fills_up_is_written_and_begun_anew(tmp_path: Path) -> None:
    generator = random.Random(1)
    texts = [b" ".join(b"%x" % generator.getrandbits(100) for _ in range(500)) for _ in range(60)]
    whole = subword.count(texts, pattern=r" ?\S+|\s+")
    counter = spilled(texts, 400_000, tmp_path, 2)
    runs = [(run, 0) for run in counter.take_runs()]
    assert len(runs) > 6
    assert _core.PretokenTable.from_runs(runs) == whole.table
    into = tmp_path / "one.run"
    _core.merge_runs(runs, into)
    assert _core.PretokenTable.from_runs([(into, 0)]) == whole.table
    with pytest.raises(OSError, match="exists"):
        _core.merge_runs(runs, into)


def test_many_runs_are_merged_some_at_a_time(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr("subword.counts_runs._FAN_IN", 3)
    paths = corpus(tmp_path / "in")
    summary = count_to_parquet(paths, tmp_path / "a.parquet", checkpoint_bytes=1)
    assert PretokenCounts.load(tmp_path / "a.parquet") == subword.count(paths)
    assert summary.n_pretokens == len(subword.count(paths))


@pytest.mark.parametrize("n_threads", [1, 2])
def test_memory_and_threads_change_nothing(tmp_path: Path, n_threads: int) -> None:
    paths = corpus(tmp_path / "in")
    options: dict[str, Any] = {"special_tokens": [END]}
    whole = subword.count(paths, **options)
    bounded = subword.count(
        paths, max_memory="16MiB", n_threads=n_threads, tmp_dir=tmp_path, **options
    )
    assert bounded == whole
    assert (bounded.n_bytes, bounded.n_documents) == (whole.n_bytes, whole.n_documents)
    summaries = [
        count_to_parquet(paths, tmp_path / f"{name}.parquet", **how, **options)
        for name, how in {
            "plain": {},
            "bounded": {"max_memory": 1 << 24, "n_threads": n_threads},
            "often": {"checkpoint_bytes": 1, "n_commonest": 5},
        }.items()
    ]
    tables = [summary.path.read_bytes() for summary in summaries]
    assert tables[0] == tables[1] == tables[2]
    loaded = PretokenCounts.load(tmp_path / "often.parquet")
    assert loaded == whole
    assert [source.name for source in loaded.sources] == [str(path) for path in paths]
    assert sum(source.n_bytes or 0 for source in loaded.sources) == whole.n_bytes
    best = sorted(whole.items(), key=lambda row: (-row[1], row[0]))[:5]
    assert summaries[2].commonest == tuple(best)
    assert summaries[2].n_occurrences == whole.total
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "bounded.parquet",
        "in",
        "often.parquet",
        "plain.parquet",
    ]


def test_sources_have_their_digests(tmp_path: Path) -> None:
    import hashlib

    paths = corpus(tmp_path / "in", 2)
    count_to_parquet(paths, tmp_path / "a.parquet")
    for path, source in zip(
        paths, PretokenCounts.load(tmp_path / "a.parquet").sources, strict=True
    ):
        assert source.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="peak memory is read from /proc")
def test_peak_memory_is_bounded(tmp_path: Path) -> None:
    """Words that are all new: their table alone would pass the bound."""
    path = tmp_path / "new.txt"
    generator = random.Random(3)
    with path.open("w") as file:
        for _ in range(30):
            file.write(" ".join(f"{generator.getrandbits(56):x}" for _ in range(50_000)))
    results = []
    for memory in ("16MiB", "4GiB"):
        output = tmp_path / f"{memory}.parquet"
        command = [sys.executable, "-c", PEAK, str(path), str(output), memory]
        printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        results.append((int(printed), output.read_bytes()))
    (bounded, table), (unbounded, same) = results
    assert table == same
    assert bounded < unbounded - 20


@pytest.mark.parametrize("memory", ["1MiB", "much", "2XB", -1, True, 1.5])
def test_memory_that_is_none_is_refused(memory: Any) -> None:
    with pytest.raises(ArgumentError, match="max_memory"):
        subword.count(["text"], max_memory=memory)


def test_memory_is_read_with_its_unit() -> None:
    assert [parse_memory(text) for text in ("1", "1kb", "1 KiB", "1.5GB", "1tib")] == [
        1,
        1000,
        1024,
        1_500_000_000,
        1 << 40,
    ]


def test_pruning_says_what_it_dropped(tmp_path: Path) -> None:
    texts = ["a a a b b c"]
    whole = subword.count(texts, pattern=r"\w")
    pruned = whole.prune(2)
    assert dict(pruned) == {b" ": 5, b"a": 3, b"b": 2}
    assert pruned.n_bytes == whole.n_bytes
    summary = count_to_parquet(texts, tmp_path / "a.parquet", pattern=r"\w", min_count=2)
    assert (summary.n_dropped, summary.n_dropped_occurrences) == (1, 1)
    assert PretokenCounts.load(tmp_path / "a.parquet") == pruned
    whole.save(tmp_path / "whole.parquet")
    assert PretokenCounts.load(tmp_path / "whole.parquet", min_count=2) == pruned
    with pytest.raises(ArgumentError, match="min_count"):
        count_to_parquet(texts, tmp_path / "a.parquet", min_count=0)


tables = st.dictionaries(st.text("ab你", min_size=1, max_size=3), st.integers(1, 50), min_size=1)


@settings(max_examples=20)
@given(st.lists(tables, min_size=1, max_size=4), st.integers(1, 3))
def test_merging_on_disk_is_adding_in_memory(
    tmp_path_factory: pytest.TempPathFactory, given_tables: list[dict[str, int]], min_count: int
) -> None:
    folder = tmp_path_factory.mktemp("merge")
    counts = [PretokenCounts.from_mapping(table) for table in given_tables]
    paths = [folder / f"{n}.parquet" for n in range(len(counts))]
    for table, path in zip(counts, paths, strict=True):
        table.save(path)
    total = counts[0]
    for table in counts[1:]:
        total += table
    merge_tables(paths, folder / "sum.parquet", min_count=min_count)
    loaded = PretokenCounts.load(folder / "sum.parquet")
    assert loaded == total.prune(min_count)
    assert loaded.n_bytes == total.n_bytes
    shares = [1 / len(counts)] * len(counts)
    summary = merge_tables(paths, folder / "mix.parquet", shares=shares)
    mixed = mix({str(n): (table, shares[n]) for n, table in enumerate(counts)})
    assert PretokenCounts.load(folder / "mix.parquet") == mixed
    assert summary.n_bytes == mixed.n_bytes


def test_a_mixture_is_the_corpus_of_those_shares() -> None:
    """A corpus in which the second text stands as often as gives it half of the bytes."""
    en = ["the cat sat on the mat, the hat, the bat. " * 3, "a cat and a hat that sat"]
    zh = ["猫坐在垫子上。帽子，蝙蝠。"]
    n_en, n_zh = (sum(len(text.encode()) for text in texts) for texts in (en, zh))
    repeated = en * n_zh + zh * n_en
    mixed = mix({"en": (subword.count(en), 0.5), "zh": (subword.count(zh), 0.5)})
    # The exact factors are the sizes, less what divides both.
    whole = factors({"en": (n_en, 0.5), "zh": (n_zh, 0.5)})
    assert whole["en"] * n_en == whole["zh"] * n_zh
    expected = subword.train_bpe(subword.count(repeated), 300)
    assert subword.train_bpe(mixed, 300).merges == expected.merges
    assert mixed.n_bytes == whole["en"] * n_en + whole["zh"] * n_zh


@given(st.lists(st.tuples(st.integers(1, 10**12), st.integers(1, 1000)), min_size=1, max_size=5))
def test_shares_are_met_to_one_part_in_131072(rows: list[tuple[int, int]]) -> None:
    total = sum(share for _, share in rows)
    shares = {str(n): (size, share / total) for n, (size, share) in enumerate(rows)}
    whole = factors(shares)
    weights = {name: whole[name] * size for name, (size, _) in shares.items()}
    for name, (_, share) in shares.items():
        got = weights[name] / sum(weights.values())
        assert abs(got - share) <= share * 2.0**-16 + 1e-9


def test_mixtures_that_are_refused(tmp_path: Path) -> None:
    table = PretokenCounts.from_mapping({"a": 1})
    other = PretokenCounts.from_mapping({"a": 1}, special_tokens=["<s>"])
    for tables_, message in (
        ({}, "no table"),
        ({"a": (table, 0.5)}, "add up to 0.5"),
        ({"a": (table, 0.0), "b": (table, 1.0)}, "leave the table out"),
        ({"a": (table, float("nan"))}, "expected a number"),
        ({"a": table}, "expected \\(PretokenCounts, share\\)"),
    ):
        with pytest.raises(ArgumentError, match=message):
            mix(tables_)  # type: ignore[arg-type]
    with pytest.raises(CountsError, match="different special_tokens"):
        mix({"a": (table, 0.5), "b": (other, 0.5)})
    with pytest.raises(CountsError, match="no bytes"):
        mix({"a": (PretokenCounts.from_mapping({}), 1.0)})
    large, same = (PretokenCounts.from_mapping({name: 2**62}) for name in "ab")
    with pytest.raises(CountOverflowError, match="does not fit in 64 bits"):
        mix({"a": (large, 0.9), "b": (same, 0.1)})
    with pytest.raises(ArgumentError, match="no table"):
        merge_tables([], tmp_path / "a.parquet")

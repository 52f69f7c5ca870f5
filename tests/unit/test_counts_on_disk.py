"""Tables that outgrow memory, mixtures, and counting that is killed and goes on."""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import subword
from subword import CountsError, PretokenCounts, _core, count_to_parquet, merge_tables, mix
from subword.counts import parse_memory
from subword.errors import ArgumentError, CorpusError, CountOverflowError, ResumeError
from subword.mixtures import factors

pytest.importorskip("pyarrow")

END = "<|end|>"
words = st.text("abcdé 你\n", min_size=1, max_size=40)


def corpus(folder: Path, n_files: int = 6, n_words: int = 4000) -> list[Path]:
    """Write files of words that are mostly new, short and long."""
    generator = random.Random(7)
    folder.mkdir(exist_ok=True)
    paths = []
    for number in range(n_files):
        path = folder / f"{number}.txt"
        chosen = (generator.getrandbits(generator.choice([8, 20, 60, 200])) for _ in range(n_words))
        path.write_text(" ".join(f"{word:x}" for word in chosen) + END + "last", encoding="utf-8")
        paths.append(path)
    return paths


def spilled(texts: list[bytes], table_bytes: int, folder: Path, n_threads: int) -> Any:
    counter = _core.PretokenCounter(
        [r" ?\S+|\s+"], [], n_threads=n_threads, spill=(folder / "run", table_bytes), piece_bytes=64
    )
    for at in range(0, len(texts), 3):
        counter.add(texts[at : at + 3])
    return counter


# spilling


@given(st.lists(words, min_size=1, max_size=30), st.sampled_from([1, 2]))
def test_runs_add_up_to_the_table(
    tmp_path_factory: pytest.TempPathFactory, texts: list[str], n_threads: int
) -> None:
    folder = tmp_path_factory.mktemp("runs")
    given_texts = [text.encode() for text in texts]
    whole = subword.count(given_texts, pattern=r" ?\S+|\s+")
    counter = spilled(given_texts, 0, folder, n_threads)
    assert _core.PretokenTable.from_runs(counter.take_runs()) == whole.table
    assert counter.take_runs() == []


def test_a_table_that_fills_up_is_written_and_begun_anew(tmp_path: Path) -> None:
    generator = random.Random(1)
    texts = [b" ".join(b"%x" % generator.getrandbits(100) for _ in range(500)) for _ in range(60)]
    whole = subword.count(texts, pattern=r" ?\S+|\s+")
    counter = spilled(texts, 400_000, tmp_path, 2)
    runs = counter.take_runs()
    assert len(runs) > 6
    assert _core.PretokenTable.from_runs(runs) == whole.table
    into = tmp_path / "one.run"
    _core.merge_runs(runs, into)
    assert _core.PretokenTable.from_runs([into]) == whole.table
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


PEAK = """
import re, sys, subword
from pathlib import Path
_, source, output, memory = sys.argv
subword.count_to_parquet(
    source, output, special_tokens=["<|endoftext|>"], max_memory=memory, n_threads=2
)
# What getrusage says would be that of the process that started this one, if that is more.
print(int(re.search(r"VmHWM:\\s*(\\d+) kB", Path("/proc/self/status").read_text())[1]) // 1024)
"""


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


# pruning, merging, mixing


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


# going on


RUN = """
import sys, subword
subword.count_to_parquet(
    sys.argv[1], sys.argv[2], special_tokens=["<|end|>"], checkpoint_bytes=1, n_threads=2,
    max_memory="16MiB",
)
"""


def killed_and_resumed(folder: Path, output: Path, delays: list[float]) -> int:
    """Run the same command again and again, killed after each delay; then to its end."""
    command = [sys.executable, "-c", RUN, f"{folder}/*.txt", str(output)]
    n_killed = 0
    for delay in delays:
        process = subprocess.Popen(command, stderr=subprocess.PIPE)
        time.sleep(delay)
        n_killed += process.poll() is None
        process.send_signal(signal.SIGKILL)
        process.communicate()
    subprocess.run(command, check=True)
    return n_killed


def test_a_count_killed_at_any_moment_goes_on_to_the_same_bytes(tmp_path: Path) -> None:
    corpus(tmp_path / "in", n_files=16, n_words=20_000)
    started = time.monotonic()
    assert killed_and_resumed(tmp_path / "in", tmp_path / "whole.parquet", []) == 0
    took = time.monotonic() - started
    generator = random.Random(5)
    delays = [took * generator.uniform(0.2, 0.9) for _ in range(4)]
    assert killed_and_resumed(tmp_path / "in", tmp_path / "killed.parquet", delays) > 0
    assert (tmp_path / "whole.parquet").read_bytes() == (tmp_path / "killed.parquet").read_bytes()
    left = {path.name for path in tmp_path.iterdir()}
    assert {"in", "whole.parquet", "killed.parquet"} <= left
    assert not [name for name in left if name.endswith(".parts")]


class StoppedError(Exception):
    pass


def stopped_after(n_finished: int, paths: list[Path], output: Path, **options: Any) -> Path:
    """Count until so many inputs are finished, then stop with an exception; gives the parts."""
    parts = output.with_name(f"{output.name}.parts")

    def watch(_done: int) -> None:
        journal = parts / "journal.jsonl"
        if journal.exists() and len(journal.read_text().splitlines()) > n_finished:
            raise StoppedError

    with pytest.raises(StoppedError):
        count_to_parquet(paths, output, checkpoint_bytes=1, progress=watch, **options)
    return parts


def test_what_is_finished_is_not_counted_again(tmp_path: Path) -> None:
    paths = corpus(tmp_path / "in")
    parts = stopped_after(3, paths, tmp_path / "a.parquet")
    assert not (tmp_path / "a.parquet").exists()
    named = {
        run
        for line in (parts / "journal.jsonl").read_text().splitlines()[1:]
        for run in json.loads(line)["runs"]
    }
    assert {path.name for path in parts.glob("*.run")} == named
    (parts / "run-000009-000-000000.run").write_bytes(b"of a kill")
    summary = count_to_parquet(paths, tmp_path / "a.parquet", checkpoint_bytes=1)
    assert summary.n_resumed == 3
    count_to_parquet(paths, tmp_path / "b.parquet")
    assert (tmp_path / "a.parquet").read_bytes() == (tmp_path / "b.parquet").read_bytes()


def test_a_run_that_finished_nothing_leaves_nothing(tmp_path: Path) -> None:
    path = tmp_path / "a.gz"
    path.write_bytes(b"\x1f\x8b\x08\x00 no gzip")
    with pytest.raises(CorpusError):
        count_to_parquet(path, tmp_path / "a.parquet")
    assert list(tmp_path.iterdir()) == [path]


CHANGES: dict[str, Any] = {
    "pattern": {"pattern": "cl100k"},
    "special_tokens": {"special_tokens": ["x"], "documents": "file"},
    "documents": {"documents": "line"},
    "min_count": {"min_count": 2},
    "on_bad": {"on_bad": "skip"},
}


@pytest.mark.parametrize("option", CHANGES)
def test_another_run_is_refused(tmp_path: Path, option: str) -> None:
    paths = corpus(tmp_path / "in")
    stopped_after(2, paths, tmp_path / "a.parquet")
    with pytest.raises(ResumeError, match=option):
        count_to_parquet(paths, tmp_path / "a.parquet", **CHANGES[option])
    with pytest.raises(ResumeError, match="inputs"):
        count_to_parquet(paths[:-1], tmp_path / "a.parquet")


def test_an_input_that_changed_is_refused_and_a_copy_is_not(tmp_path: Path) -> None:
    paths = corpus(tmp_path / "in")
    parts = stopped_after(2, paths, tmp_path / "a.parquet")
    before, text = paths[0].stat(), paths[0].read_bytes()
    paths[0].write_bytes(b"x" + text[1:])
    os.utime(paths[0], ns=(before.st_atime_ns, before.st_mtime_ns))
    with pytest.raises(ResumeError, match="has changed since it was counted"):
        count_to_parquet(paths, tmp_path / "a.parquet")
    assert parts.is_dir()
    paths[0].write_bytes(text)
    assert count_to_parquet(paths, tmp_path / "a.parquet").n_resumed == 2
    assert PretokenCounts.load(tmp_path / "a.parquet") == subword.count(paths)


def test_a_damaged_run_is_found_out(tmp_path: Path) -> None:
    paths = corpus(tmp_path / "in")
    parts = stopped_after(2, paths, tmp_path / "a.parquet")
    run = next(parts.glob("*.run"))
    data = bytearray(run.read_bytes())
    data[len(data) // 2] ^= 1
    run.write_bytes(data)
    with pytest.raises(CountsError, match="damaged"):
        count_to_parquet(paths, tmp_path / "a.parquet")
    assert not (tmp_path / "a.parquet").exists()


FILL = """
import resource, sys, subword
limit = int(sys.argv[3])
resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
import signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
try:
    subword.count_to_parquet(sys.argv[1], sys.argv[2])
except OSError as error:
    print(type(error).__name__, error.errno, error.filename)
"""


def test_a_disk_that_takes_no_more_is_an_error_and_leaves_no_table(tmp_path: Path) -> None:
    paths = corpus(tmp_path / "in", 3)
    for limit in (2_000, 60_000):
        command = [
            sys.executable,
            "-c",
            FILL,
            str(tmp_path / "in" / "*.txt"),
            str(tmp_path / "a.parquet"),
            str(limit),
        ]
        result = subprocess.run(command, capture_output=True, text=True, check=True)
        assert result.stdout.startswith("OSError 27"), result.stdout + result.stderr
        assert not (tmp_path / "a.parquet").exists()
    count_to_parquet(paths, tmp_path / "a.parquet")
    assert PretokenCounts.load(tmp_path / "a.parquet") == subword.count(paths)


def test_a_small_disk_that_fills(tmp_path: Path) -> None:
    mount = shutil.which("mount")
    disk = tmp_path / "disk"
    disk.mkdir()
    paths = corpus(tmp_path / "in", 4, 20_000)
    command = [str(mount), "-t", "tmpfs", "-o", "size=300k", "none", str(disk)]
    if mount is None or subprocess.run(command, capture_output=True).returncode:
        pytest.skip("no file system can be mounted here")
    try:
        with pytest.raises(OSError, match="No space left"):
            count_to_parquet(paths, disk / "a.parquet")
        assert not (disk / "a.parquet").exists()
    finally:
        subprocess.run([str(shutil.which("umount")), str(disk)], check=True)


def test_documents_of_no_file_are_counted_to_disk(tmp_path: Path) -> None:
    summary = count_to_parquet(({"text": t} for t in ["a b", "b c"]), tmp_path / "a.parquet")
    assert PretokenCounts.load(summary.path) == subword.count(["a b", "b c"])
    assert [path.name for path in tmp_path.iterdir()] == ["a.parquet"]


def test_mixed_real_text_stays_within_its_memory(shared: Path, slow: bool, tmp_path: Path) -> None:
    """The figure that the documentation gives; the corpus is built once by the benchmarks."""
    if not slow:
        pytest.skip("SUBWORD_SLOW=1 asks for it")
    from benchmarks.corpora import build_corpus

    source = build_corpus("mixed").documents
    output = tmp_path / "a.parquet"
    command = [sys.executable, "-c", PEAK, str(source), str(output), "256MiB"]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    assert int(printed) < 400
    assert PretokenCounts.load(output) == subword.count(source, special_tokens=["<|endoftext|>"])

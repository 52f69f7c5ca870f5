import json
import os
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from subword import (
    CountsError,
    MissingExtraError,
    PretokenCounts,
    SourceIsDirectoryError,
    SourceNotFoundError,
    _core,
    count,
)
from subword.pretoken_counts import CountedSource

arrow = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")


@pytest.fixture
def counts() -> PretokenCounts:
    documents = ["a cat<|e|>a hat", b"bytes \xff\x00", "", "你好 🌍"]
    return count(documents, special_tokens=["<|e|>"], pattern=r"\w+|\s+")


def write(path: Path, columns: dict, metadata: dict | bytes | None = None) -> Path:
    """Write a Parquet file that is nearly a count table."""
    about = {
        "version": 1,
        "pattern": [],
        "special_tokens": [],
        "n_bytes": 1,
        "n_documents": 1,
        "sources": [],
    }
    if isinstance(metadata, dict):
        metadata = json.dumps(about | metadata).encode()
    elif metadata is None:
        metadata = json.dumps(about).encode()
    table = arrow.table(columns)
    if metadata:
        table = table.replace_schema_metadata({b"subword": metadata})
    parquet.write_table(table, path)
    return path


def columns(pretokens: list, counts: list, first_seen: list | None = None) -> dict:
    return {
        "pretoken": arrow.array(pretokens, arrow.binary()),
        "count": arrow.array(counts, arrow.uint64()),
        "first_seen": arrow.array(first_seen or range(len(counts)), arrow.uint64()),
    }


def test_a_loaded_table_is_the_saved_one(counts: PretokenCounts, tmp_path: Path) -> None:
    path = tmp_path / "counts.parquet"
    counts.save(path)
    again = PretokenCounts.load(path)
    assert again == counts
    for what in ("pattern", "special_tokens", "n_bytes", "n_documents", "sources"):
        assert getattr(again, what) == getattr(counts, what), what
    assert again.table.first_seen().tolist() == counts.table.first_seen().tolist()
    assert os.listdir(tmp_path) == ["counts.parquet"]  # noqa: PTH208


def test_sources_are_kept(tmp_path: Path) -> None:
    corpus = tmp_path / "corpus.txt"
    corpus.write_text("some text")
    counts = count(corpus)
    counts.save(tmp_path / "c.parquet")
    loaded = PretokenCounts.load(str(tmp_path / "c.parquet"))
    assert loaded.sources == counts.sources == (CountedSource(str(corpus)),)


@given(
    pairs=st.lists(
        st.dictionaries(st.binary(min_size=1, max_size=9), st.integers(1, 2**40), max_size=20),
        min_size=2,
        max_size=2,
    )
)
def test_any_table_survives_the_file(
    pairs: list[dict[bytes, int]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("t") / "c.parquet"
    left, right = (PretokenCounts.from_mapping(pair) for pair in pairs)
    left.save(path)
    loaded = PretokenCounts.load(path)
    assert loaded == left
    assert loaded + right == left + right


def test_counts_of_64_bits_survive(tmp_path: Path) -> None:
    counts = PretokenCounts.from_mapping({"a": 2**63, "b": 2**63 - 1})
    counts.save(tmp_path / "c.parquet")
    assert PretokenCounts.load(tmp_path / "c.parquet").counts().tolist() == [2**63, 2**63 - 1]


def test_an_empty_table_survives(tmp_path: Path) -> None:
    PretokenCounts.from_mapping({}).save(tmp_path / "c.parquet")
    assert len(PretokenCounts.load(tmp_path / "c.parquet")) == 0


def test_the_file_is_what_the_specification_says(counts: PretokenCounts, tmp_path: Path) -> None:
    counts.save(tmp_path / "c.parquet")
    table = parquet.read_table(tmp_path / "c.parquet")
    assert [(field.name, str(field.type)) for field in table.schema] == [
        ("pretoken", "binary"),
        ("count", "uint64"),
        ("first_seen", "uint64"),
    ]
    pretokens = table.column("pretoken").to_pylist()
    assert pretokens == sorted(pretokens) == list(counts)
    about = json.loads(table.schema.metadata[b"subword"])
    assert about == {
        "version": 1,
        "pattern": [r"\w+|\s+"],
        "special_tokens": ["<|e|>"],
        "n_bytes": counts.n_bytes,
        "n_documents": 4,
        "sources": [],
    }


def test_several_row_groups_slices_and_wide_offsets_are_read(tmp_path: Path) -> None:
    rows = {f"{i:05}": i + 1 for i in range(1000)}
    expected = PretokenCounts.from_mapping(rows)
    expected.save(tmp_path / "c.parquet")
    table = parquet.read_table(tmp_path / "c.parquet")
    wide = table.set_column(
        0, "pretoken", table.column("pretoken").cast(arrow.large_binary())
    ).replace_schema_metadata(table.schema.metadata)
    parquet.write_table(wide, tmp_path / "wide.parquet", row_group_size=7)
    assert PretokenCounts.load(tmp_path / "wide.parquet") == expected


def test_rows_out_of_order_are_sorted(tmp_path: Path) -> None:
    path = write(tmp_path / "c.parquet", columns([b"b", b"a"], [1, 2], [0, 5]))
    assert dict(PretokenCounts.load(path)) == {b"a": 2, b"b": 1}


@pytest.mark.parametrize(
    ("made", "metadata", "said"),
    [
        ({"text": ["a document"]}, None, "the columns are text string"),
        (columns([b"a"], [1]) | {"more": [1]}, None, "more int64"),
        (columns([b"a"], [1]) | {"count": [1]}, None, "count int64"),
        (columns([b"a"], [1]), b"", "no 'subword'"),
        (columns([b"a"], [1]), b"{", "no JSON"),
        (columns([b"a"], [1]), b"[]", "version is None"),
        (columns([b"a"], [1]), {"version": 2}, "version is 2; expected 1"),
        (columns([b"a"], [1]), {"pattern": "gpt2"}, "pattern is 'gpt2'"),
        (columns([b"a"], [1]), {"n_bytes": -1}, "n_bytes is -1"),
        (columns([b"a"], [1]), {"sources": [1]}, "sources is"),
        (columns([b"a"], [1]), {"colour": "red"}, "'colour'"),
        (columns([b"a", None], [1, 2]), None, "no value"),
        (columns([b"a", b""], [1, 2]), None, "empty"),
        (columns([b"a", b"a"], [1, 2]), None, "of its 2 pre-tokens only 1"),
    ],
)
def test_what_is_no_count_table_is_refused(
    made: dict, metadata: dict | bytes | None, said: str, tmp_path: Path
) -> None:
    path = write(tmp_path / "c.parquet", made, metadata)
    with pytest.raises(CountsError, match=said) as caught:
        PretokenCounts.load(path)
    assert str(path) in str(caught.value)
    assert "expected" in str(caught.value)


def test_every_kind_of_damage_is_refused_or_harmless(
    counts: PretokenCounts, tmp_path: Path
) -> None:
    counts.save(tmp_path / "c.parquet")
    whole = (tmp_path / "c.parquet").read_bytes()
    damaged = tmp_path / "damaged.parquet"
    refused = 0
    generator = np.random.default_rng(5)
    variants = [whole[:n] for n in range(0, len(whole), 97)]
    for place in generator.integers(0, len(whole), 300).tolist():
        flipped = bytearray(whole)
        flipped[place] ^= 1 << int(generator.integers(8))
        variants.append(bytes(flipped))
    for variant in variants:
        damaged.write_bytes(variant)
        try:
            loaded = PretokenCounts.load(damaged)
        except CountsError as error:
            refused += str(damaged) in str(error)
        else:
            # What no checksum covers, such as the page headers' statistics or a name in the
            # metadata, may go unseen; the rows may not differ.
            assert loaded.table == counts.table
    assert refused > len(variants) / 2


def test_text_is_no_count_table(tmp_path: Path) -> None:
    path = tmp_path / "c.parquet"
    path.write_text("not parquet at all")
    with pytest.raises(CountsError, match=r"c\.parquet.*expected a count table"):
        PretokenCounts.load(path)


def test_a_missing_file_and_a_directory_are_source_errors(tmp_path: Path) -> None:
    with pytest.raises(SourceNotFoundError):
        PretokenCounts.load(tmp_path / "missing.parquet")
    with pytest.raises(SourceIsDirectoryError):
        PretokenCounts.load(tmp_path)


def test_places_that_cannot_hold_a_file_are_os_errors(
    counts: PretokenCounts, tmp_path: Path
) -> None:
    with pytest.raises(IsADirectoryError):
        counts.save(tmp_path)
    with pytest.raises(FileNotFoundError, match="make it first"):
        counts.save(tmp_path / "nowhere" / "c.parquet")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full on this system")
def test_a_full_disk_is_an_os_error(counts: PretokenCounts) -> None:
    with pytest.raises(OSError, match="No space left"):
        counts.save("/dev/full")


def test_a_failed_save_leaves_the_old_file(
    counts: PretokenCounts, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "c.parquet"
    counts.save(path)
    before = path.read_bytes()

    def full(*_args: object, **_options: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(parquet.ParquetWriter, "write_batch", full)
    with pytest.raises(OSError, match="No space left"):
        (counts + counts).save(path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_without_pyarrow_the_extra_is_named(
    counts: PretokenCounts, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtraError, match=r"subword\[parquet\]"):
        counts.save(tmp_path / "c.parquet")
    with pytest.raises(MissingExtraError, match=r"subword\[parquet\]"):
        PretokenCounts.load(tmp_path / "c.parquet")


def test_a_symbolic_link_goes_on_pointing_to_the_new_file(
    counts: PretokenCounts, tmp_path: Path
) -> None:
    (tmp_path / "there").mkdir()
    link = tmp_path / "link.parquet"
    link.symlink_to(tmp_path / "there" / "real.parquet")
    counts.save(link)
    assert link.is_symlink()
    assert PretokenCounts.load(tmp_path / "there" / "real.parquet") == counts


def test_the_rows_are_the_tables_own(counts: PretokenCounts) -> None:
    # What the file's columns are made of: one buffer, and where each row ends in it.
    table = _core.PretokenTable(
        counts.table.data(), counts.table.ends(), counts.counts(), counts.table.first_seen()
    )
    assert table == counts.table

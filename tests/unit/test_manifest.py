import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from subword.errors import ResumeError, SourceError
from subword.manifest import (
    Journal,
    canonical_json,
    check_same_run,
    file_sha256,
    read_manifest,
    write_manifest,
)

RUN = {"kind": "test", "options": {"n": 1}}
STEPS = [{"step": n, "files": ["a"] * n} for n in range(3)]


def records_of(path: Path) -> list[dict[str, Any]]:
    with Journal(path, RUN) as journal:
        return journal.records


@pytest.fixture
def path(tmp_path: Path) -> Path:
    with Journal(tmp_path / "journal.jsonl", RUN) as journal:
        for step in STEPS:
            journal.append(step)
    return tmp_path / "journal.jsonl"


def test_steps_are_there_for_the_next_process(path: Path) -> None:
    assert records_of(path) == STEPS


def test_a_kill_at_any_byte_loses_no_whole_step(path: Path, tmp_path: Path) -> None:
    data = path.read_bytes()
    ends = [at + 1 for at, byte in enumerate(data) if byte == ord("\n")]
    for n_bytes in range(len(data) + 1):
        cut = tmp_path / "cut.jsonl"
        cut.write_bytes(data[:n_bytes])
        n_whole = sum(end <= n_bytes for end in ends)
        with Journal(cut, RUN) as journal:
            assert journal.records == STEPS[: max(n_whole - 1, 0)]
            journal.append({"after": n_bytes})
        assert records_of(cut) == [*STEPS[: max(n_whole - 1, 0)], {"after": n_bytes}]


def test_another_run_is_refused_by_name(path: Path) -> None:
    with pytest.raises(ResumeError, match=r"its options\.n was 1 and is now 2"):
        Journal(path, {"kind": "test", "options": {"n": 2}})


def test_damage_is_refused_with_its_line(path: Path) -> None:
    lines = path.read_bytes().splitlines(keepends=True)
    lines[2] = b"{\n"
    path.write_bytes(b"".join(lines))
    with pytest.raises(ResumeError, match=r"journal\.jsonl:3: the journal is damaged"):
        Journal(path, RUN)


def test_a_journal_is_for_one_process_at_a_time(path: Path) -> None:
    pytest.importorskip("fcntl")
    for seconds in (0, 0.1):
        with Journal(path, RUN), pytest.raises(ResumeError, match="in use by another process"):
            Journal(path, RUN, wait_seconds=seconds)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.text(max_size=2),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner, max_size=3)
    ),
)


@given(st.dictionaries(st.text(max_size=2), VALUES), st.dictionaries(st.text(max_size=2), VALUES))
def test_runs_are_the_same_where_their_json_is(one: dict[str, Any], other: dict[str, Any]) -> None:
    # A key that is not there says the same as one that is null.
    bare_one, bare_other = (canonical_json({"a": _without_null(v)}) for v in (one, other))
    if bare_one == bare_other:
        check_same_run("place", one, other)
    else:
        with pytest.raises(ResumeError):
            check_same_run("place", one, other)


def _without_null(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_null(inner) for key, inner in value.items() if inner is not None}
    return [_without_null(inner) for inner in value] if isinstance(value, list) else value


def test_a_manifest_is_read_as_it_was_written(tmp_path: Path) -> None:
    write_manifest(tmp_path / "manifest.json", RUN)
    assert read_manifest(tmp_path / "manifest.json") == RUN
    (tmp_path / "list.json").write_text(json.dumps([1]))
    (tmp_path / "cut.json").write_text("{")
    for name in ("list.json", "cut.json"):
        with pytest.raises(ResumeError, match="is no manifest"):
            read_manifest(tmp_path / name)
    with pytest.raises(SourceError):
        read_manifest(tmp_path / "none.json")


def test_the_sha256_of_a_file(tmp_path: Path) -> None:
    (tmp_path / "abc").write_bytes(b"abc")
    # FIPS 180-4, the example of one block.
    assert file_sha256(tmp_path / "abc").startswith("ba7816bf8f01cfea414140de5dae2223")
    with pytest.raises(SourceError):
        file_sha256(tmp_path / "none")

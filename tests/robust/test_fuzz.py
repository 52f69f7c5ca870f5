"""Some of ``make fuzz`` in every run: inputs that failed once, and as many new ones as are cheap."""

import random
from pathlib import Path

import pytest

from fuzz import __main__ as driver
from fuzz.kernels import KERNELS
from fuzz.mutate import mutated
from fuzz.readers import READERS, run
from subword.formats import FORMATS

FOUND = sorted(driver.FOUND.glob("*.bin"))
N_INPUTS = 150


def test_every_format_has_a_target():
    covered = {reader.format or name for name, reader in READERS.items()}
    assert FORMATS.keys() - covered == {"vocab_merges"}
    assert {"vocab_json", "merges_txt"} <= covered


@pytest.mark.parametrize("path", FOUND, ids=lambda path: path.stem)
def test_what_failed_once_is_read_or_refused(path, tmp_path):
    run(READERS[path.stem.rpartition("-")[0]], path.read_bytes(), tmp_path)


@pytest.mark.parametrize("name", READERS)
def test_mutated_files_are_read_or_refused(name, tmp_path):
    if name == "gguf":
        pytest.importorskip("gguf")
    reader, rng = READERS[name], random.Random(name)
    seeds = list(reader.seeds())
    refused = 0
    for _ in range(N_INPUTS):
        refused += bool(run(reader, mutated(rng.choice(seeds), seeds, rng), tmp_path))
    assert refused > 0


@pytest.mark.parametrize("name", KERNELS)
def test_kernels_equal_what_they_are_held_to(name):
    for seed in range(N_INPUTS // 3):
        KERNELS[name](random.Random(seed))


def test_what_fails_is_kept(tmp_path, monkeypatch):
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "t.gguf").write_bytes(b"what failed")
    monkeypatch.setattr(driver, "FOUND", tmp_path / "found")
    driver._keep("gguf", tmp_path)
    (kept,) = (tmp_path / "found").iterdir()
    assert kept.read_bytes() == b"what failed"
    assert kept.stem.rpartition("-")[0] == "gguf"


def test_a_fault_of_a_reader_is_no_refusal(tmp_path, monkeypatch):
    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("fuzz.readers.load", broken)
    with pytest.raises(ZeroDivisionError):
        run(READERS["tiktoken"], b"YQ== 0\n", Path(tmp_path))

"""``kill -9`` at random moments of counting and of tokenizing, here and on a cluster."""

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

import subword
from ray_cluster import QUIET, alone, cluster  # noqa: F401  # fixtures
from subword.formats import save

EOT = "<|endoftext|>"
N_FILES = 24

pytestmark = [
    *QUIET,
    pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no kill -9 here"),
]

COUNT = """
import sys, subword
_, engine, sources, out, tokenizer = sys.argv
subword.count_to_parquet(
    sources, out, special_tokens=['<|endoftext|>'], engine=engine, checkpoint_bytes=1,
    n_threads=2 if engine == 'local' else 1, max_memory='16MiB',
)
"""

TOKENIZE = """
import sys, subword
_, engine, sources, out, tokenizer = sys.argv
subword.tokenize(
    sources, subword.load(tokenizer), out, engine=engine, task_bytes=400_000, shard_tokens=30_000,
    validation=0.1, shuffle_seed=1, n_threads=2 if engine == 'local' else 1,
)
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Files with many words that are new, and a tokenizer."""
    folder = tmp_path_factory.mktemp("kill")
    rng = random.Random(5)
    for number in range(N_FILES):
        documents = (
            " ".join(
                f"{rng.getrandbits(rng.choice([8, 20, 60])):x}" for _ in range(rng.randrange(400))
            )
            for _ in range(150)
        )
        (folder / f"{number:02}.txt").write_text(EOT.join(documents))
    save(subword.train_bpe(folder / "00.txt", 400, [EOT]), folder / "tokenizer.json")
    return folder


def tree(place: Path) -> dict[str, bytes]:
    if place.is_file():
        return {"": place.read_bytes()}
    return {
        path.relative_to(place).as_posix(): path.read_bytes()
        for path in sorted(place.rglob("*"))
        if path.is_file()
    }


def size_of(place: Path) -> int:
    total = 0
    for folder, _, names in os.walk(place):
        for name in names:
            with suppress(OSError):
                total += (Path(folder) / name).stat().st_size
    return total


def share_counted(out: Path, _: int) -> float:
    """Give the share of inputs that the journal has as done."""
    with suppress(OSError):
        journal = out.with_name(f"{out.name}.parts") / "journal.jsonl"
        return journal.read_bytes().count(b"\n") / (N_FILES + 1)
    return 2.0 if out.exists() else 0.0


def share_written(out: Path, whole_bytes: int) -> float:
    return size_of(out) / whole_bytes


WORK: dict[str, tuple[str, Callable[[Path, int], float]]] = {
    "count": (COUNT, share_counted),
    "tokenize": (TOKENIZE, share_written),
}


@pytest.mark.parametrize("work", WORK)
@pytest.mark.parametrize("engine", ["local", "ray"])
def test_killed_at_random_moments_it_goes_on_to_the_same_bytes(
    engine: str,
    work: str,
    folder: Path,
    tmp_path: Path,
    slow: bool,
    request: pytest.FixtureRequest,
) -> None:
    if engine == "ray":
        request.getfixturevalue("cluster")
    code, share = WORK[work]
    whole, out = tmp_path / "whole.parquet", tmp_path / "killed.parquet"

    def command(engine: str, out: Path) -> list[str]:
        paths = (f"{folder}/*.txt", out, folder / "tokenizer.json")
        return [sys.executable, "-c", code, engine, *map(str, paths)]

    subprocess.run(command("local", whole), check=True)
    rng, n_killed = random.Random(7), 0
    # Each goes on with what the ones before it left.
    for moment in sorted(rng.uniform(0, 1) for _ in range(10 if slow else 3)):
        with subprocess.Popen(command(engine, out)) as process:
            while process.poll() is None and share(out, size_of(whole)) < moment:
                time.sleep(0.002)
            process.kill()
        n_killed += process.returncode == -signal.SIGKILL
        assert process.returncode in (0, -signal.SIGKILL)
    assert n_killed > 1
    subprocess.run(command(engine, out), check=True)
    assert tree(out) == tree(whole)
    assert not list(tmp_path.glob("*.parts"))

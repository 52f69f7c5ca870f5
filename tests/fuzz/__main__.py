"""Fuzz every reader and kernel, each for some seconds: ``make fuzz``.

    python -m fuzz [NAME …] [--seconds 60] [--seed N]

Each target runs in a process of its own, with a bound on memory and on the time of one input.
A reader's inputs start as files that it reads; one that is refused in a new way is mutated
further. What fails is kept in ``tests/fuzz/found``, where ``tests/robust/test_fuzz.py`` reads it
again from then on; a kernel's failure is printed, with the seed that gives it.
"""

import argparse
import faulthandler
import hashlib
import os
import random
import subprocess
import sys
import tempfile
import time
import traceback
from pathlib import Path

from fuzz.kernels import KERNELS
from fuzz.mutate import mutated
from fuzz.readers import READERS, run

FOUND = Path(__file__).parent / "found"
MAX_SECONDS = 20
"""Of one input, on a busy machine."""
MAX_MEMORY = 4 << 30
"""Address space, most of which the interpreter, NumPy and the threads' stacks only reserve."""
_KEPT = 2000


def main() -> int:
    """Run targets one after another; 1 where one failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join([*READERS, *KERNELS]))
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--here", action="store_true", help="in this process, which may die")
    given = parser.parse_args()
    if given.here:
        return _here(given.names[0], given.seconds, given.seed)
    failed = [name for name in given.names or [*READERS, *KERNELS] if not _apart(name, given)]
    print(f"failed: {', '.join(failed)}" if failed else "nothing failed")
    return 1 if failed else 0


def _apart(name: str, given: argparse.Namespace) -> bool:
    command = [sys.executable, "-m", "fuzz", name, "--here"]
    command += ["--seconds", str(given.seconds), "--seed", str(given.seed)]
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "TMPDIR": folder}
        done = subprocess.run(command, env=environment, check=False, capture_output=True, text=True)
        print(done.stdout, end="", flush=True)
        if done.returncode:
            print(done.stderr[-2000:], file=sys.stderr, flush=True)
            _keep(name, Path(folder))
    return not done.returncode


def _keep(name: str, folder: Path) -> None:
    """Keep the input that a target was at when it failed."""
    reader = READERS.get(name)
    for path in folder.rglob(reader.name) if reader is not None else ():
        data = path.read_bytes()
        FOUND.mkdir(exist_ok=True)
        kept = FOUND / f"{name}-{hashlib.sha256(data).hexdigest()[:12]}.bin"
        kept.write_bytes(data)
        print(f"kept {kept}", file=sys.stderr)


def _here(name: str, seconds: float, seed: int) -> int:
    _bound_memory()
    rng = random.Random(seed)
    end, n_runs, said = time.monotonic() + seconds, 0, ""
    try:
        if name in KERNELS:
            while time.monotonic() < end:
                faulthandler.dump_traceback_later(MAX_SECONDS, exit=True)
                KERNELS[name](random.Random(f"{seed} {n_runs}"))
                n_runs += 1
        else:
            n_runs, n_kinds = _fuzz_reader(name, rng, end)
            said = f", {n_kinds} kinds of refusals"
    except BaseException:  # noqa: BLE001 - a panic is no Exception
        traceback.print_exc()
        print(f"{name}: failed after {n_runs} inputs, seed {seed}")
        return 1
    print(f"{name}: {n_runs} inputs{said}")
    return 0


def _fuzz_reader(name: str, rng: random.Random, end: float) -> tuple[int, int]:
    reader = READERS[name]
    seeds = list(reader.seeds())
    known, n_runs = set(), 0
    # Not removed here: the input of a failure is taken from it, and the folder around it goes.
    folder = Path(tempfile.mkdtemp())
    for data in seeds:
        said = run(reader, data, folder)
        assert not said or name in ("chat_template", "told"), said
    while time.monotonic() < end:
        data = mutated(rng.choice(seeds), seeds, rng)
        faulthandler.dump_traceback_later(MAX_SECONDS, exit=True)
        said = run(reader, data, folder)
        n_runs += 1
        if said not in known and len(seeds) < _KEPT:
            known.add(said)
            seeds.append(data)
    return n_runs, len(known)


def _bound_memory() -> None:
    try:
        import resource
    except ImportError:  # Windows
        return
    resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY, MAX_MEMORY))


if __name__ == "__main__":
    sys.exit(main())

"""Set up the environment the peers run in, and say what machine this is.

The environment is a virtual one of its own, so that the pins cannot meet the project's own
dependencies. A peer that does not install is remembered with the reason and shown in the
tables; it does not stop the others.
"""

import hashlib
import json
import os
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

from benchmarks.corpora import CACHE, PROJECT, ROOT

__all__ = ["PYTHON", "clean_message", "machine", "prepare_environment", "worker_environment"]

VENV = CACHE / "venv"
PYTHON = VENV / "bin" / "python"
REQUIREMENTS = ROOT / "requirements.txt"
# What the wheel is made of: it is built again when one of these changes.
SOURCES = ("Cargo.toml", "Cargo.lock", "pyproject.toml", "rust", "python")
MESSAGE_LENGTH = 160
EXCEPTION = re.compile(r"[\w.]*(Error|Exception): ")  # what a library prints may follow it


def prepare_environment() -> dict[str, str]:
    """Install the pinned peers and this project's wheel, as far as they install.

    Returns:
        The reason by name of each distribution that is not there.
    """
    state_file = VENV / "benchmarks.json"
    state = json.loads(state_file.read_text()) if state_file.is_file() else {}
    pins = hashlib.sha256(REQUIREMENTS.read_bytes()).hexdigest()
    if state.get("pins") != pins or not PYTHON.exists():
        say("setting up the peers' environment")
        shutil.rmtree(VENV, ignore_errors=True)
        run([sys.executable, "-m", "venv", str(VENV)])
        state = {"pins": pins, "failures": install_peers()}
    sources = sources_digest()
    if state.get("subword") != sources:
        say("building the wheel of this project")
        state["failures"].pop("subword", None)
        state["failures"] |= install_subword()
        state["subword"] = sources
    state_file.write_text(json.dumps(state, indent=1))
    failures: dict[str, str] = state["failures"]
    return failures


def install_peers() -> dict[str, str]:
    """Install all pins at once, or one by one where that fails."""
    if run(pip("install", "-r", str(REQUIREMENTS))) is None:
        return {}
    failures = {}
    for line in REQUIREMENTS.read_text(encoding="utf-8").splitlines():
        pin = line.partition("#")[0].strip()
        message = run(pip("install", pin)) if pin else None
        if message is not None:
            failures[pin.partition("==")[0]] = f"not installed: {message}"
    return failures


def install_subword() -> dict[str, str]:
    """Build a release wheel and install it, its dependencies beside it."""
    wheels = CACHE / "wheels"
    shutil.rmtree(wheels, ignore_errors=True)
    command = pip("wheel", "--no-deps", "--wheel-dir", str(wheels), str(PROJECT))
    message = run(command)
    if message is None:
        paths = [str(path) for path in wheels.glob("*.whl")]
        message = run(pip("install", "--force-reinstall", "--no-deps", *paths))
        message = message or run(pip("install", *paths))
    return {} if message is None else {"subword": f"not built: {message}"}


def pip(*arguments: str) -> list[str]:
    """Give a pip command of the peers' environment."""
    return [str(PYTHON), "-m", "pip", "--quiet", "--disable-pip-version-check", *arguments]


def run(command: list[str]) -> str | None:
    """Run a command and give the last line of its complaint, or None when it went well."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return None if done.returncode == 0 else clean_message(done.stderr)


def clean_message(stderr: str) -> str:
    """Give the exception, else the last line that says something, cut short.

    This machine's folders are left out.
    """
    lines = [line.rstrip() for line in stderr.splitlines() if line.strip()]
    last = lines[-1].strip() if lines else "no message"
    last = next((line for line in reversed(lines) if EXCEPTION.match(line)), last)
    for folder in (CACHE, PROJECT, Path.home()):
        last = last.replace(str(folder), "…")
    return last if len(last) <= MESSAGE_LENGTH else f"{last[:MESSAGE_LENGTH]}…"


def sources_digest() -> str:
    """Give the SHA-256 of what the wheel is built from."""
    digest = hashlib.sha256()
    for path in sorted(source_files()):
        digest.update(str(path.relative_to(PROJECT)).encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()


def source_files() -> Iterable[Path]:
    """Give the files the wheel is built from, compiled ones left out."""
    for name in SOURCES:
        path = PROJECT / name
        files = [path] if path.is_file() else path.rglob("*")
        for file in files:
            if file.is_file() and file.suffix in {".py", ".pyi", ".rs", ".toml", ".lock"}:
                yield file


def machine() -> dict[str, str | int]:
    """Describe the machine without naming it."""
    return {
        "cpu": proc_field("/proc/cpuinfo", "model name") or platform.processor(),
        "n_cpus": os.cpu_count() or 0,
        "memory": proc_field("/proc/meminfo", "MemTotal") or "",
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "python": platform.python_version(),
    }


def proc_field(path: str, field: str) -> str | None:
    """Read the first ``field: value`` of a file under ``/proc``; None where there is none."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except OSError:
        return None
    for line in text.splitlines():
        name, _, value = line.partition(":")
        if name.strip() == field:
            return value.strip()
    return None


def worker_environment(n_threads: int) -> Mapping[str, str]:
    """Give the environment variables of a worker: as many threads as asked, no network."""
    threads = str(n_threads)
    return os.environ | {
        "RAYON_NUM_THREADS": threads,
        "OMP_NUM_THREADS": threads,
        "TOKENIZERS_PARALLELISM": "true" if n_threads > 1 else "false",
        "TIKTOKEN_CACHE_DIR": "",
        "HF_HUB_OFFLINE": "1",
    }


def say(message: str) -> None:
    """Tell on stderr what takes a while."""
    print(message, file=sys.stderr)

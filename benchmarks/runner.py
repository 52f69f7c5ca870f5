"""Run the cells of a group in turn, each in a fresh process, and take medians.

The peers of a group take turns round by round, each round starting with another one, so that
what else the machine does falls on all of them alike.
"""

import datetime
import json
import os
import signal
import statistics
import subprocess
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

from benchmarks.corpora import PROJECT, Corpus, build_corpus, held_out, single_spaced
from benchmarks.environment import PYTHON, clean_message, machine, worker_environment
from benchmarks.peers import PEERS
from benchmarks.published import vocabulary_files
from benchmarks.suites import Group

__all__ = ["Limits", "measure_group"]

Cell = dict[str, Any]
PHASES = ("cold", "warm", "first_call")
LONG_CALL = 60.0  # seconds of wall time from which fewer rounds are made


@dataclass(frozen=True, slots=True)
class Limits:
    """How often and how long.

    Attributes:
        rounds: Runs of a cell that the medians are of.
        long_rounds: Runs of a cell with a call of more than a minute.
        timeout: Seconds a run may take, loading included.
    """

    rounds: int = 5
    long_rounds: int = 3
    timeout: float = 900.0


def measure_group(
    group: Group, failures: dict[str, str], limits: Limits, tell: Callable[[str], None]
) -> dict[str, Any]:
    """Measure every peer of a group.

    Args:
        group: What to measure.
        failures: Reasons by distribution, of those that are not installed.
        limits: Rounds and seconds.
        tell: Called with a line before each run.

    Returns:
        The group as it is kept in ``results/``.

    Raises:
        FileNotFoundError: Its corpus or vocabulary is of the shared data, and there is none.
    """
    corpus = build_corpus(group.corpus) if group.corpus else None
    if corpus is not None and group.suite == "train-unigram":
        corpus = single_spaced(corpus)
    task: dict[str, Any] = {"suite": group.suite, "options": group.options}
    if group.vocabulary:
        task["vocabulary"] = asdict(vocabulary_files(group.vocabulary, PYTHON))
    if corpus is not None:
        task |= {"text": str(corpus.text), "documents": str(corpus.documents)}
    if group.suite == "train-unigram":
        task["held_out"] = str(held_out(group.corpus) or "")
    load_before = os.getloadavg()[0]
    cells = {peer: new_cell(peer, group, failures) for peer in group.peers}
    for turn in range(limits.rounds):
        first = turn % len(group.peers)
        for peer in (*group.peers[first:], *group.peers[:first]):
            if wants_run(cells[peer], limits):
                tell(f"{group.title}: {peer}, run {turn + 1}")
                run_cell(cells[peer], {**task, "peer": peer}, limits.timeout)
    compare_tokens(list(cells.values()))
    return {
        "suite": group.suite,
        "corpus": group.corpus,
        "vocabulary": group.vocabulary,
        "options": group.options,
        "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "machine": machine(),
        "load_average": [round(load_before, 2), round(os.getloadavg()[0], 2)],
        "input": described(corpus),
        "timeout_s": limits.timeout,
        "cells": [finished(cell) for cell in cells.values()],
    }


def described(corpus: Corpus | None) -> dict[str, Any]:
    """Give what is kept of a corpus beside the figures."""
    return {} if corpus is None else asdict(corpus)


def new_cell(peer: str, group: Group, failures: dict[str, str]) -> Cell:
    """Give a cell before its first run, with the reason where there can be none."""
    library = PEERS[peer]
    cell: Cell = {"peer": peer, "compare": library.compare, "status": "ok", "runs": []}
    file = str(group.options.get("file", ""))
    if not library.supports(group.suite, group.vocabulary, file):
        return cell | {"status": "unsupported"}
    if library.distribution in failures:
        return cell | {"status": "failed", "message": failures[library.distribution]}
    return cell


def wants_run(cell: Cell, limits: Limits) -> bool:
    """Say whether a cell is to be run again: not after a failure, less often when long."""
    runs = cell["runs"]
    longest = max(
        (run[phase]["wall_s"] for run in runs for phase in PHASES if phase in run), default=0.0
    )
    rounds = limits.rounds if longest <= LONG_CALL else min(limits.rounds, limits.long_rounds)
    return cell["status"] == "ok" and len(runs) < rounds


def run_cell(cell: Cell, task: dict[str, Any], timeout: float) -> None:
    """Run a worker and add what it measured, or how it ended, to the cell."""
    n_threads = int(task["options"].get("n_threads", 1))
    command = [str(PYTHON), "-m", "benchmarks.worker", json.dumps(task)]
    process = subprocess.Popen(
        command,
        cwd=PROJECT,
        env=worker_environment(n_threads),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        start_new_session=True,
    )
    try:
        stdout, stderr = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        cell |= {"status": "timeout", "message": f"more than {timeout:.0f} s"}
        return
    finally:
        if process.poll() is None:  # a timeout or Ctrl-C: the worker and what it started
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
    if process.returncode < 0:
        name = signal.Signals(-process.returncode).name
        cell |= {"status": "failed", "message": f"killed by {name}"}
    elif process.returncode > 0:
        cell |= {"status": "failed", "message": clean_message(stderr)}
    else:
        add_run(cell, stdout)


def add_run(cell: Cell, stdout: str) -> None:
    """Take the figures from the last line, since a library may have printed before it."""
    lines = stdout.splitlines()
    try:
        cell["runs"].append(json.loads(lines[-1] if lines else ""))
    except ValueError:
        cell |= {"status": "failed", "message": "ended without an error and without figures"}


def compare_tokens(cells: list[Cell]) -> None:
    """Put the share of the reference's tokens that a cell has in the place of its tokens.

    The reference is the first cell with tokens.
    """
    reference: set[str] = set()
    for cell in cells:
        own = [set(run.pop("tokens")) for run in cell["runs"] if "tokens" in run]
        if own:
            reference = reference or own[0]
            cell["shared_tokens"] = len(reference & own[0]) / len(reference)


def finished(cell: Cell) -> Cell:
    """Give a cell as it is kept: medians of each figure, and what must not vary, once."""
    runs = cell["runs"]
    if not runs:
        return cell
    medians = {
        phase: {
            figure: statistics.median(run[phase][figure] for run in runs)
            for figure in runs[0][phase]
        }
        for phase in PHASES
        if phase in runs[0]
    }
    fixed = {key: value for key, value in runs[0].items() if key not in PHASES}
    steady = all(run.get("sha256") == fixed.get("sha256") for run in runs)
    steady = steady and all(run.get("warm_equal", True) for run in runs)
    timings = [{phase: run[phase] for phase in PHASES if phase in run} for run in runs]
    fixed.pop("warm_equal", None)
    return cell | fixed | {"same_every_time": steady, "median": medians, "runs": timings}

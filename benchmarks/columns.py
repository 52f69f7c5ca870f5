"""The columns of each suite's table, and what they say of a cell.

A ratio is only ever taken inside one group, whose cells took turns on one machine.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

__all__ = ["Cell", "Column", "Group", "columns_of", "equal", "figure"]

NONE = "–"

Group = dict[str, Any]
Cell = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a suite's table: its head, and a cell's value in its group."""

    head: str
    value: Callable[[Cell, Group], str]


def suite_kind(group: Group) -> str:
    """Name the set of columns of a group: its suite's own, or those of its kind."""
    suite: str = group["suite"]
    return suite if suite in COLUMNS else suite.partition("-")[0]


def figure(cell: Cell, phase: str, name: str) -> float | None:
    """Give a median, or None where the cell or the phase has none."""
    value: float | None = cell.get("median", {}).get(phase, {}).get(name)
    return value


def base_cell(group: Group) -> Cell | None:
    """Give the cell that ratios are to: subword's, else the reference's."""
    measured = [cell for cell in group["cells"] if cell.get("median")]
    own = [cell for cell in measured if cell["peer"] == "subword"]
    return next(iter(own or measured), None)


def speed(phase: str) -> Callable[[Cell, Group], str]:
    """Make a column of MB (10^6 bytes) per CPU second."""

    def value(cell: Cell, group: Group) -> str:
        cpu = figure(cell, phase, "cpu_s")
        return f"{group['input']['n_bytes'] / 1e6 / cpu:.1f}" if cpu else NONE

    return value


def ratio(phase: str) -> Callable[[Cell, Group], str]:
    """Make a column of CPU time over the base's."""

    def value(cell: Cell, group: Group) -> str:
        base = base_cell(group)
        own, other = figure(cell, phase, "cpu_s"), base and figure(base, phase, "cpu_s")
        return f"{own / other:.2f}×" if own and other else NONE

    return value


def scaled(phase: str, name: str, factor: float, digits: int) -> Callable[[Cell, Group], str]:
    """Make a column of a median in another unit."""

    def value(cell: Cell, _: Group) -> str:
        number = figure(cell, phase, name)
        return NONE if number is None else f"{number * factor:.{digits}f}"

    return value


def per_call(phase: str) -> Callable[[Cell, Group], str]:
    """Make a column of microseconds of CPU per call."""

    def value(cell: Cell, _: Group) -> str:
        cpu = figure(cell, phase, "cpu_s")
        return NONE if cpu is None else f"{cpu / cell['n_calls'] * 1e6:.2f}"

    return value


def megabytes_in(_: Cell, group: Group) -> str:
    """Give the size of the input, in MB."""
    n_bytes = group["input"].get("n_bytes")
    return f"{n_bytes / 1e6:.0f}" if n_bytes else NONE


def equal(cell: Cell, group: Group) -> str:
    """Say whether ids or merges equal the reference's: the first cell comparable with it."""
    if not cell.get("same_every_time", True):
        return "**no: not the same every time**"
    if "sha256" not in cell or "shared_tokens" in cell:
        return NONE
    alike = [
        other
        for other in group["cells"]
        if other.get("sha256") and other["compare"] == cell["compare"]
    ]
    if group["suite"] != "train-bpe":
        alike = [other for other in group["cells"] if other.get("sha256")]
    if alike[0]["peer"] == cell["peer"]:
        return "reference" if len(alike) > 1 else NONE
    if alike[0]["sha256"] == cell["sha256"]:
        return "yes"
    return f"**no** ({cell['n_ids']:,} ids)" if "n_ids" in cell else "**no**"


def shared_tokens(cell: Cell, group: Group) -> str:
    """Give the share of the reference's tokens: the first cell that has any."""
    if not cell.get("same_every_time", True):
        return "**not the same every time**"
    if "shared_tokens" not in cell:
        return NONE
    first = next(other for other in group["cells"] if "shared_tokens" in other)
    return "reference" if first is cell else f"{cell['shared_tokens']:.1%}"


def runs(cell: Cell, _: Group) -> str:
    """Give the number of runs, and say when a one-thread call used more than one core."""
    wall, cpu = figure(cell, "cold", "wall_s"), figure(cell, "cold", "cpu_s")
    busy = f" ({cpu / wall:.1f} cores)" if wall and cpu and cpu > 1.2 * wall else ""
    return f"{len(cell['runs'])}{busy}"


MEMORY = Column("memory growth, MB", scaled("cold", "rss_growth", 1e-6, 0))
INPUT = Column("input, MB", megabytes_in)
VERSION = Column("version", lambda cell, _: str(cell["version"]))
RUNS = Column("runs", runs)
TRAINING = (
    INPUT,
    Column("MB per CPU s", speed("cold")),
    Column("time, ratio", ratio("cold")),
    Column("CPU, s", scaled("cold", "cpu_s", 1, 2)),
    Column("wall, s", scaled("cold", "wall_s", 1, 2)),
    MEMORY,
)
TOKENS = (
    Column("tokens", lambda cell, _: f"{cell['n_tokens']:,}"),
    Column("of the reference's tokens", shared_tokens),
)
ENCODING = (
    INPUT,
    Column("cold, MB per CPU s", speed("cold")),
    Column("warm, MB per CPU s", speed("warm")),
    Column("cold time, ratio", ratio("cold")),
    Column("warm time, ratio", ratio("warm")),
    Column("cold CPU, s", scaled("cold", "cpu_s", 1, 3)),
    Column("cold wall, s", scaled("cold", "wall_s", 1, 3)),
    MEMORY,
    Column("ids equal", equal),
    RUNS,
    VERSION,
)
COLUMNS: dict[str, tuple[Column, ...]] = {
    "encode": ENCODING,
    "drop-in": ENCODING,
    "files": (
        INPUT,
        Column("MB per CPU s", speed("cold")),
        Column("time, ratio", ratio("cold")),
        Column("CPU, s", scaled("cold", "cpu_s", 1, 3)),
        Column("wall, s", scaled("cold", "wall_s", 1, 3)),
        MEMORY,
        Column("ids equal", equal),
        RUNS,
        VERSION,
    ),
    "train-wordpiece": (*TRAINING, *TOKENS, RUNS, VERSION),
    "train-unigram": (
        *TRAINING,
        *TOKENS,
        Column(
            "log-likelihood per character",
            lambda cell, _: f"{cell['log_likelihood']:.4f}" if "log_likelihood" in cell else NONE,
        ),
        RUNS,
        VERSION,
    ),
    "train": (
        *TRAINING,
        Column("merges", lambda cell, _: f"{cell['n_merges']:,}" if "n_merges" in cell else NONE),
        Column("compared with", lambda cell, _: cell["compare"] or NONE),
        Column("merges equal", equal),
        RUNS,
        VERSION,
    ),
    "latency": (
        Column("first call, µs", scaled("first_call", "wall_s", 1e6, 0)),
        Column("new texts, µs CPU", per_call("cold")),
        Column("known texts, µs CPU", per_call("warm")),
        Column("new, ratio", ratio("cold")),
        Column("known, ratio", ratio("warm")),
        Column("ids equal", equal),
        RUNS,
        VERSION,
    ),
    "load": (
        Column("CPU, ms", scaled("cold", "cpu_s", 1e3, 1)),
        Column("wall, ms", scaled("cold", "wall_s", 1e3, 1)),
        Column("time, ratio", ratio("cold")),
        MEMORY,
        Column("ids equal", equal),
        RUNS,
        VERSION,
    ),
}


def columns_of(group: Group) -> tuple[Column, ...]:
    """Give the columns of a group's table."""
    return COLUMNS[suite_kind(group)]

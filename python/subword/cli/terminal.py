"""What people and pipes see: progress on standard error, JSON and tables on standard output."""

import json
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import (
    BarColumn,
    Progress,
    ProgressColumn,
    Task,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Table
from rich.text import Text

__all__ = [
    "memory_bytes",
    "print_json",
    "print_rich",
    "print_rows",
    "print_table",
    "progress",
    "shown",
    "token_json",
]

_QUIET_SECONDS = 1.0
_PIPE_WIDTH = 120


def print_json(value: object) -> None:
    """Print one JSON object on a line, as UTF-8 whatever the locale is."""
    line = json.dumps(value, ensure_ascii=False)
    # A lone surrogate (of a path that is no UTF-8) becomes its JSON escape.
    write_bytes(line.encode("utf-8", "backslashreplace") + b"\n")


def write_bytes(data: bytes) -> None:
    """Write to standard output, after what was printed as text."""
    sys.stdout.flush()
    sys.stdout.buffer.write(data)


def token_json(token: bytes) -> dict[str, str]:
    """Give a token for JSON: as text, and as hexadecimal, which loses nothing."""
    return {"text": token.decode("utf-8", "replace"), "bytes": token.hex()}


def shown(token: bytes, width: int = 60) -> str:
    r"""Quote a token, so that spaces and control characters are seen.

    Examples:
        >>> shown(b" caf\xc3\xa9\n"), shown(b"\xff"), shown(b"-" * 80, 10)
        ("' café\\n'", "b'\\xff'", "'--------…")
    """
    try:
        quoted = repr(token.decode())
    except UnicodeDecodeError:
        quoted = repr(token)
    return quoted if len(quoted) <= width else f"{quoted[: width - 1]}…"


def print_rows(rows: Iterable[tuple[str, object]]) -> None:
    """Print names and values, one a line."""
    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in rows:
        table.add_row(Text(name), Text(_cell(name, value)))
    print_rich(table)


def print_table(title: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print a table; numbers stand to the right."""
    rows = [list(row) for row in rows]
    table = Table(title=title, title_justify="left")
    for at, column in enumerate(columns):
        numeric = all(isinstance(row[at], int) for row in rows)
        table.add_column(column, justify="right" if numeric else "left", no_wrap=numeric)
    for row in rows:
        table.add_row(*(Text(_cell(*pair)) for pair in zip(columns, row, strict=True)))
    print_rich(table)


def _cell(name: str, value: object) -> str:
    """Write a value; numbers with their thousands set off, save ids, which are names."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:,}" if isinstance(value, int) and name != "id" else str(value)


def print_rich(renderable: Any) -> None:
    """Print something of rich's; without colours where there is no terminal, or under NO_COLOR."""
    console = Console(file=sys.stdout)
    if not console.is_terminal:
        console = Console(file=sys.stdout, width=_PIPE_WIDTH)
    # rich would end the process itself when the reader has closed the pipe.
    with console.capture() as captured:
        console.print(renderable, highlight=False)
    encoding = sys.stdout.encoding or "utf-8"
    write_bytes(captured.get().encode(encoding, "backslashreplace"))


class _Amount(ProgressColumn):
    """How much is done, in the task's unit."""

    def render(self, task: Task) -> Text:
        scale, unit = (1e6, "MB") if task.fields["unit"] == "bytes" else (1, task.fields["unit"])
        total = "" if task.total is None else f"/{task.total / scale:,.0f}"
        return Text(f"{task.completed / scale:,.0f}{total} {unit}")


class _Rate(ProgressColumn):
    """How much is done a second since the beginning, and what memory it takes."""

    def render(self, task: Task) -> Text:
        scale, unit = (1e6, "MB") if task.fields["unit"] == "bytes" else (1, task.fields["unit"])
        rate = task.completed / scale / max(task.elapsed or 0, 1e-9)
        return Text(f"{rate:,.0f} {unit}/s  {memory_bytes() / 2**20:,.0f} MiB")


def memory_bytes() -> int:
    """Give the memory of this process that is in use: at present where that is known, else at most.

    Source: proc(5), statm; getrusage(2).
    """
    try:
        pages = int(Path("/proc/self/statm").read_text("ascii").split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return _most_memory_bytes()


def _most_memory_bytes() -> int:
    try:
        import resource  # Windows has none
    except ImportError:
        return 0
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024


@contextmanager
def progress(
    label: str, unit: str, total: int | None = None, *, as_json: bool = False
) -> Iterator[Callable[[int], None] | None]:
    """Give what to call with the amount done; a bar appears after a second.

    Args:
        label: What is going on.
        unit: ``"bytes"``, shown as MB, or the name of what is counted.
        total: The whole amount, where it is known.
        as_json: Write a JSON object a second to standard error instead, be it a terminal or not:
            stage, unit, done, total, per_second, memory_bytes, seconds_left.

    Yields:
        None when standard error is not a terminal: nothing is to be reported.
    """
    if as_json:
        yield _json_reporter(label, unit, total)
        return
    if not sys.stderr.isatty():
        yield None
        return
    share = (TextColumn("{task.percentage:>3.0f}%"),) if total else ()
    left = (TimeRemainingColumn(),) if total else ()
    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        *share,
        _Amount(),
        _Rate(),
        TimeElapsedColumn(),
        *left,
        console=Console(stderr=True),
        transient=True,
    )
    task = bar.add_task(label, total=total, unit=unit)
    started, running = time.monotonic(), False

    def report(done: int) -> None:
        nonlocal running
        if not running and time.monotonic() - started > _QUIET_SECONDS:
            bar.start()
            running = True
        bar.update(task, completed=done, total=None if total is None else max(total, done))

    try:
        yield report
    finally:
        if running:
            bar.stop()


def _json_reporter(label: str, unit: str, total: int | None) -> Callable[[int], None]:
    started = last = time.monotonic()

    def report(done: int) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last < _QUIET_SECONDS:
            return
        last = now
        rate = done / (now - started)
        left = None if total is None or not rate else max(total - done, 0) / rate
        line = {
            "stage": label,
            "unit": unit,
            "done": done,
            "total": total,
            "per_second": round(rate),
            "memory_bytes": memory_bytes(),
            "seconds_left": None if left is None else round(left, 1),
        }
        with suppress(OSError):
            print(json.dumps(line), file=sys.stderr, flush=True)

    return report

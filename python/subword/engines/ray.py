"""Tasks on a Ray cluster whose machines share the files; an extra.

Work is placed by Ray core tasks, one a task of the run. A task that is lost with its worker is
begun again by Ray; one that writes shards goes on where its journal ends.

Source: Ray 2, ``ray.remote`` with ``max_retries``, which counts losses and not exceptions.
"""

import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from subword import _core
from subword.corpus import Files, document_cut, resolve_sources, text_files
from subword.errors import ArgumentError, EmptyCorpusError, EngineError
from subword.patterns import Pattern, resolve_pattern
from subword.pretoken_counts import CountedSource, PretokenCounts
from subword.special_tokens import check_special_tokens
from subword.types import Sources, require_extra

__all__ = ["connected", "count", "run"]

_RETRIES: Final = 8


def connected() -> Any:
    """Give the module ``ray``, connected.

    A connection that there is already is used; else one to the cluster that ``RAY_ADDRESS`` names,
    or that runs on this machine.

    Raises:
        MissingExtraError: ray is not installed.
        EngineError: There is no cluster.
    """
    ray = require_extra("ray", "ray")
    if not ray.is_initialized():
        try:
            ray.init(address="auto", log_to_driver=False, logging_level=logging.ERROR)
        except (ConnectionError, RuntimeError, ValueError) as error:
            raise EngineError(
                111,
                f"there is no Ray cluster to be reached ({_first_line(error)}); start one with "
                "`ray start --head`, set RAY_ADDRESS, or call ray.init() before",
            ) from error
    return ray


def run(
    work: Callable[..., object], shared: object, items: Iterable[object], *, n_threads: int = 1
) -> None:
    """Do ``work(shared, item)`` for each item, wherever there is room.

    Args:
        work: A function of a module that the workers can import.
        shared: What all items need; sent once to each machine.
        items: The items.
        n_threads: Processors that one item takes.

    Raises:
        EngineError: There is no cluster, or a worker was lost too often.
        MissingExtraError: ray is not installed.
        SubwordError: What ``work`` raised.
    """
    ray = connected()
    remote = ray.remote(num_cpus=n_threads, max_retries=_RETRIES)(work)
    held = ray.put(shared)
    waiting = [remote.remote(held, item) for item in items]
    with _told(ray):
        try:
            while waiting:
                # In the order in which they end, so that a failure is told at once.
                done, waiting = ray.wait(waiting)
                ray.get(done)
        finally:
            for future in waiting:
                ray.cancel(future)


def count(
    sources: Sources,
    *,
    pattern: str | Sequence[str] = "gpt2",
    special_tokens: Sequence[str] = (),
    documents: str | bytes | None = None,
    n_threads: int = 1,
    task_bytes: int = 1 << 28,
) -> PretokenCounts:
    """Count the pre-tokens of files on a cluster; the table is that of ``subword.count``.

    Each task counts consecutive files. The tables are then added two by two, neighbours first, so
    that first positions come out as they do in one process; they move between workers, and only
    the last comes here.

    Args:
        sources: A path or glob, or an iterable of ``Path``, which every machine can read.
        pattern: As in ``subword.count``.
        special_tokens: As in ``subword.count``.
        documents: As in ``subword.count``.
        n_threads: Processors and threads of a task.
        task_bytes: Stored bytes at which a task has enough files.

    Raises:
        ArgumentError: Documents in place of files.
        EmptyCorpusError: The files hold no text.
        EngineError: There is no cluster, or a worker was lost too often.
        SubwordError: As ``subword.count``.
    """
    if n_threads < 1 or task_bytes < 1:
        raise ArgumentError(f"n_threads is {n_threads}, task_bytes {task_bytes}; give at least 1")
    tokens = check_special_tokens(special_tokens)
    options = (resolve_pattern(pattern), tokens, document_cut(documents, tokens), n_threads)
    resolved = resolve_sources(sources)
    if not isinstance(resolved, Files):
        raise ArgumentError(
            "documents that are given themselves are counted where they are, by subword.count; "
            "write them to files to share the work"
        )
    ray = connected()
    counting = ray.remote(num_cpus=n_threads, max_retries=_RETRIES)(_count_files)
    adding = ray.remote(num_cpus=1, max_retries=_RETRIES)(_add)
    tables = [
        counting.remote(options, paths) for paths in _grouped(text_files(resolved), task_bytes)
    ]
    while len(tables) > 1:
        tables = [adding.remote(*tables[at : at + 2]) for at in range(0, len(tables), 2)]
    with _told(ray):
        total: PretokenCounts = ray.get(tables[0])
    if total.n_bytes == 0:
        raise EmptyCorpusError(
            f"the sources hold no text ({total.n_documents} documents, all empty); there is "
            "nothing to count"
        )
    return total


def _count_files(
    options: tuple[Pattern, tuple[str, ...], str | bytes, int], paths: list[Path]
) -> PretokenCounts:
    pattern, tokens, cut, n_threads = options
    counter = _core.PretokenCounter(list(pattern), list(tokens), n_threads=n_threads)
    counter.add_files(paths, cut)
    return PretokenCounts(
        counter.finish(),
        pattern=pattern,
        special_tokens=tokens,
        n_bytes=counter.n_bytes,
        n_documents=counter.n_documents,
        sources=tuple(CountedSource(str(path)) for path in paths),
    )


def _add(first: PretokenCounts, second: PretokenCounts | None = None) -> PretokenCounts:
    return first if second is None else first + second


def _grouped(paths: Sequence[Path], task_bytes: int) -> list[list[Path]]:
    """Give consecutive files, taken together until they have enough bytes."""
    groups: list[list[Path]] = [[]]
    n_bytes = 0
    for path in paths:
        if n_bytes >= task_bytes:
            groups.append([])
            n_bytes = 0
        groups[-1].append(path)
        n_bytes += path.stat().st_size
    return groups


@contextmanager
def _told(ray: Any) -> Iterator[None]:
    """Raise what a task raised as itself, and a task that was lost as an ``EngineError``."""
    try:
        yield
    except ray.exceptions.RayTaskError as error:
        cause = getattr(error, "cause", None)
        raise (cause if isinstance(cause, Exception) else error) from None
    except ray.exceptions.RayError as error:
        raise EngineError(
            111, f"the Ray cluster lost a task ({_first_line(error)}); run the same again to go on"
        ) from error


def _first_line(error: BaseException) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0][:200]

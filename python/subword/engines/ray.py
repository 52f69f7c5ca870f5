"""Tasks on a Ray cluster whose machines share the files; an extra.

Work is placed by Ray core tasks. A task that is lost with its worker is begun again by Ray; one
that writes shards goes on where its journal ends.

Source: Ray 2, ``ray.remote`` with ``max_retries``, which counts losses and not exceptions.
"""

import logging
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Final, TypeVar

from subword.errors import EngineError
from subword.types import require_extra

__all__ = ["connected", "run", "summed"]

S = TypeVar("S")
T = TypeVar("T")
R = TypeVar("R")

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
    work: Callable[[S, T], R], shared: S, items: Iterable[T], *, n_threads: int = 1
) -> Iterator[tuple[T, R]]:
    """Do ``work(shared, item)`` for each item wherever there is room; give each as it ends.

    Args:
        work: A function of a module that the workers can import.
        shared: What all items need; sent once to each machine.
        items: The items.
        n_threads: Processors that one item takes.

    Yields:
        Items with their results, in the order in which they end, so that a failure is told at
        once. Those that have not ended when the iteration does are cancelled.

    Raises:
        EngineError: There is no cluster, or a worker was lost too often.
        MissingExtraError: ray is not installed.
        SubwordError: What ``work`` raised.
    """
    ray = connected()
    remote = ray.remote(num_cpus=n_threads, max_retries=_RETRIES)(work)
    held = ray.put(shared)
    waiting = {remote.remote(held, item): item for item in items}
    with _told(ray):
        try:
            while waiting:
                done, _ = ray.wait(list(waiting))
                item = waiting.pop(done[0])
                yield item, ray.get(done[0])
        finally:
            for future in waiting:
                ray.cancel(future)


def summed(
    work: Callable[[S, T], R],
    add: Callable[..., R],
    shared: S,
    items: Iterable[T],
    *,
    n_threads: int = 1,
    done: Callable[[T], object] | None = None,
) -> R:
    """Do ``work(shared, item)`` for each item, and add the results up by a tree.

    Neighbours are added two by two, ``add(left, right)``, then their sums. They move between
    workers; only the last comes here.

    Args:
        work: As in ``run``.
        add: Likewise.
        shared: As in ``run``.
        items: The items, at least one.
        n_threads: Processors that one item takes.
        done: Called with each item whose result is there.

    Raises:
        SubwordError: As ``run``.
    """
    ray = connected()
    working = ray.remote(num_cpus=n_threads, max_retries=_RETRIES)(work)
    adding = ray.remote(num_cpus=1, max_retries=_RETRIES)(add)
    held = ray.put(shared)
    leaves = {working.remote(held, item): item for item in items}
    level = list(leaves)
    while len(level) > 1:
        pairs = [level[at : at + 2] for at in range(0, len(level), 2)]
        level = [adding.remote(*pair) if len(pair) == 2 else pair[0] for pair in pairs]
    with _told(ray):
        try:
            while leaves:
                ready, _ = ray.wait(list(leaves), fetch_local=False)
                item = leaves.pop(ready[0])
                if done is not None:
                    done(item)
            total: R = ray.get(level[0])
        except BaseException:
            for future in (*leaves, *level):
                ray.cancel(future)
            raise
    return total


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

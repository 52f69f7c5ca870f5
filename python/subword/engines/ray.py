"""Tasks on a Ray cluster whose machines share the files; an extra.

Work is placed by Ray core tasks, one a task of the run. A task that is lost with its worker is
begun again by Ray, and goes on where its journal ends.
"""

import logging
from collections.abc import Callable, Iterable
from typing import Any, Final

from subword.errors import EngineError
from subword.types import require_extra

__all__ = ["connected", "run"]

_RETRIES: Final = 8


def connected() -> Any:
    """Give the module ``ray``, connected: as it is, or to the cluster that ``RAY_ADDRESS`` or this
    machine has.

    Raises:
        MissingExtraError: ray is not installed.
        EngineError: There is no cluster.
    """  # noqa: D205
    ray = require_extra("ray", "ray")
    if not ray.is_initialized():
        try:
            ray.init(address="auto", log_to_driver=False, logging_level=logging.ERROR)
        except (ConnectionError, RuntimeError, ValueError) as error:
            raise EngineError(
                111,
                f"there is no Ray cluster to be reached ({str(error).splitlines()[0]:.100}); start "
                "one with `ray start --head`, set RAY_ADDRESS, or call ray.init() before",
            ) from error
    return ray


def run(
    work: Callable[..., object], shared: object, items: Iterable[object], *, n_threads: int = 1
) -> list[Any]:
    """Do ``work(shared, item)`` for each item, wherever there is room.

    Args:
        work: A function of a module that the workers can import.
        shared: What all items need; sent once to each machine.
        items: The items.
        n_threads: Processors that one item takes.

    Returns:
        The results in the order of the items.

    Raises:
        EngineError: There is no cluster, or a worker was lost too often.
        MissingExtraError: ray is not installed.
        SubwordError: What ``work`` raised.
    """
    ray = connected()
    remote = ray.remote(num_cpus=n_threads, max_retries=_RETRIES)(work)
    held = ray.put(shared)
    futures = [remote.remote(held, item) for item in items]
    try:
        waiting = futures
        while waiting:
            # In the order in which they end, so that a failure is told at once.
            done, waiting = ray.wait(waiting)
            ray.get(done)
        return list(ray.get(futures))
    except ray.exceptions.RayTaskError as error:
        cause = getattr(error, "cause", None)
        raise (cause if isinstance(cause, Exception) else error) from None
    except ray.exceptions.RayError as error:
        raise EngineError(
            111, f"the Ray cluster lost a task: {str(error).splitlines()[0]:.200}; run it again"
        ) from error
    finally:
        for future in futures:
            ray.cancel(future, force=False)

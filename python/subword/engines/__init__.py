"""Where counting and tokenizing run: on this machine, or on a Ray cluster.

local   one task after another in this process, each on threads of its own
ray     tasks on a cluster whose machines share the files
"""

from collections.abc import Iterable
from typing import Literal, get_args

from subword.errors import ArgumentError

__all__ = ["Engine", "check_engine", "check_shared", "grouped"]

Engine = Literal["local", "ray"]


def check_engine(engine: str) -> None:
    """Refuse what is no engine.

    Raises:
        ArgumentError: It is none.
    """
    if engine not in get_args(Engine):
        raise ArgumentError(f"engine is {engine!r:.40}; it is 'local' or 'ray'")


def check_shared(*, is_shared: bool) -> None:
    """Refuse to share the work on documents that only this process has.

    Raises:
        ArgumentError: The work is to be shared.
    """
    if is_shared:
        raise ArgumentError(
            "documents that are given themselves are worked on where they are: engine='local', "
            "num_shards=1; write them to files to share the work"
        )


def grouped(sizes: Iterable[int | None], task_bytes: int) -> tuple[tuple[int, int], ...]:
    """Give tasks: consecutive inputs, taken together until they have enough bytes.

    Args:
        sizes: Bytes of each input, as it is stored; None, where that is not known, is enough.
        task_bytes: Bytes at which a task has enough inputs.

    Returns:
        Of each task its first input, and the one behind its last.

    Examples:
        >>> grouped([10, 10, 10, None, 10], 20)
        ((0, 2), (2, 4), (4, 5))
    """
    tasks, first, n_bytes, at = [], 0, 0, 0
    for at, size in enumerate(sizes, start=1):
        n_bytes += task_bytes if size is None else size
        if n_bytes >= task_bytes:
            tasks.append((first, at))
            first, n_bytes = at, 0
    if first < at:
        tasks.append((first, at))
    return tuple(tasks)

"""Tasks one after another in this process; each uses threads of its own."""

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

__all__ = ["run"]

S = TypeVar("S")
T = TypeVar("T")
R = TypeVar("R")


def run(work: Callable[[S, T], R], shared: S, items: Iterable[T]) -> Iterator[tuple[T, R]]:
    """Do ``work(shared, item)`` for each item in order, and give it with its result.

    What ``work`` raises passes through.
    """
    for item in items:
        yield item, work(shared, item)

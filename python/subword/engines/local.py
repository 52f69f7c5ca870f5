"""Tasks one after another in this process; each uses threads of its own."""

from collections.abc import Callable, Iterable
from typing import TypeVar

__all__ = ["run"]

T = TypeVar("T")


def run(work: Callable[[T], object], items: Iterable[T]) -> None:
    """Do the items in order. What ``work`` raises passes through."""
    for item in items:
        work(item)

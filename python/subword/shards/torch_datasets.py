"""Shards as PyTorch data sets; torch is imported when one is asked for."""

from typing import TYPE_CHECKING, Any

import numpy as np

from subword.errors import ArgumentError
from subword.types import require_extra

if TYPE_CHECKING:
    from subword.shards.opened import Shards

__all__ = ["document_dataset", "window_dataset"]


def document_dataset(shards: "Shards") -> Any:
    """Give a ``Dataset`` of documents.

    Raises:
        MissingExtraError: torch is not installed.
    """
    torch = require_extra("torch", "torch")
    base: Any = torch.utils.data.Dataset

    class Documents(base):  # type: ignore[misc]
        """One document an item: int64 of shape (n_tokens,)."""

        def __len__(self) -> int:
            """Give the number of documents."""
            return len(shards)

        def __getitem__(self, index: int) -> Any:
            """Give a document."""
            return torch.from_numpy(shards[index].astype(np.int64))

    return Documents()


def window_dataset(shards: "Shards", length: int, *, iterable: bool = False) -> Any:
    """Give a ``Dataset``, or an ``IterableDataset``, of stretches of ``length`` ids.

    Raises:
        ArgumentError: ``length`` below 1.
        MissingExtraError: torch is not installed.
    """
    if length < 1:
        raise ArgumentError(f"length is {length}; a stretch has at least 1 id")
    torch = require_extra("torch", "torch")
    data = torch.utils.data
    map_style: Any = data.Dataset
    iterable_style: Any = data.IterableDataset
    n_items = shards.n_tokens // length

    def item(at: int) -> Any:
        ids = shards.read(at * length, (at + 1) * length)
        return torch.from_numpy(ids.astype(np.int64))

    class Windows(map_style):  # type: ignore[misc]
        """A stretch an item: int64 of shape (length,)."""

        def __len__(self) -> int:
            """Give the number of stretches."""
            return n_items

        def __getitem__(self, index: int) -> Any:
            """Give a stretch."""
            at = index + n_items if index < 0 else index
            if not 0 <= at < n_items:
                raise IndexError(f"item {index} of {n_items}")
            return item(at)

    class WindowStream(iterable_style):  # type: ignore[misc]
        """The stretches in order; each of several workers has its share."""

        def __iter__(self) -> Any:
            """Give this worker's stretches."""
            worker = data.get_worker_info()
            first, step = (0, 1) if worker is None else (worker.id, worker.num_workers)
            return map(item, range(first, n_items, step))

    return WindowStream() if iterable else Windows()

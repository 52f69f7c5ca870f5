"""Types that every room shares."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from itertools import pairwise
from operator import index
from os import PathLike
from typing import Any, Literal, overload

import numpy as np
import numpy.typing as npt

from subword.errors import ArgumentError, MissingExtraError

__all__ = [
    "Encoding",
    "Padded",
    "Pair",
    "Ragged",
    "Sources",
    "Span",
    "SpecialTokens",
    "TextLike",
    "TokenId",
    "is_utf8",
    "require_extra",
    "whole_number",
]

TokenId = int
"""A token's number; 32 bits, unsigned."""

Pair = tuple[TokenId, TokenId]
"""Two adjacent token ids."""

Span = tuple[int, int]
"""Half-open ``(start, end)``; the unit is in the name of what holds it."""

TextLike = str | bytes
"""A text: a ``str``, or bytes that are meant as UTF-8 but need not be valid."""

SpecialTokens = Sequence[str] | Mapping[str, TokenId]
"""Reserved strings, in the order of their ids or with their ids."""

Sources = (
    str
    | PathLike[str]
    | Iterable[PathLike[str]]
    | Iterable[str]
    | Iterable[bytes]
    | Iterable[Mapping[str, object]]
)
"""A path, glob or URL, files, or documents: see ``subword.corpus``."""


def whole_number(name: str, value: object, least: int = 1, most: int = 2**63 - 1) -> int:
    """Give an argument that counts something; one past ``most`` is as good as ``most``.

    Raises:
        ArgumentError: No whole number, or one below ``least``.

    Examples:
        >>> whole_number("n_threads", 2**80)
        9223372036854775807
    """
    try:
        number = index(value)  # type: ignore[arg-type]
    except TypeError as error:
        raise ArgumentError(f"{name} is {value!r:.40}; expected a whole number") from error
    if number < least:
        raise ArgumentError(f"{name} is {number}; give at least {least}")
    return min(number, most)


def is_utf8(token: bytes) -> bool:
    """Tell whether bytes are whole characters.

    Examples:
        >>> is_utf8("é".encode()), is_utf8("é".encode()[:1])
        (True, False)
    """
    try:
        token.decode()
    except UnicodeDecodeError:
        return False
    return True


def require_extra(module: str, extra: str) -> Any:
    """Import an optional dependency.

    Raises:
        MissingExtraError: It is not installed; the message has the command.
    """
    try:
        return import_module(module)
    except ImportError as error:
        raise MissingExtraError(
            f"this needs {module}, which is not installed: pip install 'subword[{extra}]'"
        ) from error


@dataclass(frozen=True, slots=True, eq=False)
class Ragged(Sequence[npt.NDArray[np.uint32]]):
    """Ids of many texts in one array.

    Attributes:
        ids: The ids of all texts, one after another; shape (n_ids,), uint32.
        bounds: Text ``i`` has ``ids[bounds[i]:bounds[i + 1]]``; shape (n_texts + 1,), int64.
        pad_id: The id that ``pad`` fills up with; 0 where the tokenizer has no padding token.

    Examples:
        >>> ragged = Ragged(np.array([5, 6, 7], np.uint32), np.array([0, 2, 2, 3]))
        >>> len(ragged), ragged[0].tolist(), ragged.tolist()
        (3, [5, 6], [[5, 6], [], [7]])
    """

    ids: npt.NDArray[np.uint32]
    bounds: npt.NDArray[np.int64]
    pad_id: TokenId = 0

    def __len__(self) -> int:
        """Give the number of texts."""
        return len(self.bounds) - 1

    @overload
    def __getitem__(self, index: int) -> npt.NDArray[np.uint32]: ...
    @overload
    def __getitem__(self, index: slice) -> list[npt.NDArray[np.uint32]]: ...

    def __getitem__(
        self, index: int | slice
    ) -> npt.NDArray[np.uint32] | list[npt.NDArray[np.uint32]]:
        """Give the ids of a text, as a view, or those of a slice of texts."""
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        n_texts = len(self)
        at = index + n_texts if index < 0 else index
        if not 0 <= at < n_texts:
            raise IndexError(f"text {index} of {n_texts}")
        return self.ids[self.bounds[at] : self.bounds[at + 1]]

    def __iter__(self) -> Iterator[npt.NDArray[np.uint32]]:
        """Give the ids of each text in turn, as views."""
        for start, end in pairwise(self.bounds.tolist()):
            yield self.ids[start:end]

    def tolist(self) -> list[list[int]]:
        """Give the ids as one list a text."""
        ids = self.ids.tolist()
        return [ids[start:end] for start, end in pairwise(self.bounds.tolist())]

    def to_arrow(self) -> Any:
        """Give a ``pyarrow.LargeListArray`` of uint32 that shares the memory.

        Raises:
            MissingExtraError: pyarrow is not installed.
        """
        arrow = require_extra("pyarrow", "parquet")
        return arrow.LargeListArray.from_arrays(arrow.array(self.bounds), arrow.array(self.ids))

    def pad(
        self,
        max_length: int | None = None,
        *,
        pad_id: int | None = None,
        side: Literal["right", "left"] = "right",
        truncate: bool = False,
        multiple_of: int = 1,
    ) -> "Padded":
        """Give a rectangle of ids and the mask of those that are not padding.

        Args:
            max_length: Ids of a row; the longest text's number by default.
            pad_id: Id that fills a row up; by default that of the tokenizer's padding token.
            side: Where padding goes.
            truncate: Cut longer texts to ``max_length``, at their end, instead of refusing them.
            multiple_of: Make rows as long as the next multiple of it, for hardware that likes it.

        Raises:
            ArgumentError: A text is longer than ``max_length`` and ``truncate`` is false, or
                ``side`` is unknown, ``max_length`` is negative, or ``multiple_of`` is below 1.

        Examples:
            >>> ragged = Ragged(np.array([5, 6, 7], np.uint32), np.array([0, 2, 2, 3]))
            >>> padded = ragged.pad(side="left")
            >>> padded.ids.tolist(), padded.mask.tolist()
            ([[5, 6], [0, 0], [0, 7]], [[True, True], [False, False], [False, True]])
        """
        if side not in ("right", "left"):
            raise ArgumentError(f"side is {side!r}; it is 'right' or 'left'")
        lengths = np.diff(self.bounds)
        longest = int(lengths.max(initial=0))
        width = longest if max_length is None else max_length
        if width < 0:
            raise ArgumentError(f"max_length is {max_length}; it cannot be negative")
        if longest > width and not truncate:
            raise ArgumentError(
                f"text {int(lengths.argmax())} has {longest} ids, more than max_length={width}; "
                "pass truncate=True to cut it"
            )
        if multiple_of < 1:
            raise ArgumentError(f"multiple_of is {multiple_of}; it is at least 1")
        kept = np.minimum(lengths, width)
        width += -width % multiple_of
        columns = np.arange(width)
        offsets = columns if side == "right" else columns - (width - kept)[:, None]
        mask = np.broadcast_to(
            (offsets >= 0) & (offsets < kept[:, None]), (len(self), width)
        ).copy()
        ids = np.full((len(self), width), self.pad_id if pad_id is None else pad_id, np.uint32)
        ids[mask] = self.ids[(self.bounds[:-1, None] + offsets)[mask]]
        return Padded(ids, mask)


@dataclass(frozen=True, slots=True, eq=False)
class Padded:
    """A rectangle of ids.

    Attributes:
        ids: Shape (n_texts, n_columns), uint32.
        mask: False where an id is padding; shape (n_texts, n_columns), bool.
    """

    ids: npt.NDArray[np.uint32]
    mask: npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Encoding:
    """Ids of a text, and where each stands in it.

    Attributes:
        ids: Token ids.
        byte_spans: Half-open ``(start, end)`` of each id, in bytes of the UTF-8 of the text.
        char_spans: The characters that each span touches. A token that is part of a character
            has the whole character; a byte that is no UTF-8 counts as one character.
    """

    ids: list[TokenId]
    byte_spans: list[Span]
    char_spans: list[Span]

    def __len__(self) -> int:
        """Give the number of ids."""
        return len(self.ids)

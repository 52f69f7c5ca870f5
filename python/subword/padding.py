"""Truncation and padding as data: what a tokenizer's file says about the rows of a batch."""

from dataclasses import dataclass
from typing import Literal

from subword.types import TokenId

__all__ = ["Padding", "Side", "Strategy", "Truncation"]

Side = Literal["right", "left"]
"""At which end."""

Strategy = Literal["longest_first", "only_first", "only_second"]
"""Which text of a pair is cut."""


@dataclass(frozen=True, slots=True)
class Truncation:
    """Where long texts are cut.

    Attributes:
        max_length: Most ids of a row, those of the template among them.
        stride: Ids that the rows of what was cut off have in common with the row before.
        strategy: Which text of a pair is cut.
        side: At which end.
    """

    max_length: int
    stride: int = 0
    strategy: Strategy = "longest_first"
    side: Side = "right"


@dataclass(frozen=True, slots=True)
class Padding:
    """How short texts are filled up.

    Attributes:
        token: The padding token.
        pad_id: Its id.
        type_id: Its segment number.
        length: Ids of a row; None for those of the longest.
        multiple_of: Rows are as long as the next multiple of it.
        side: At which end.
    """

    token: str
    pad_id: TokenId
    type_id: int = 0
    length: int | None = None
    multiple_of: int | None = None
    side: Side = "right"

"""``truncation`` and ``padding`` of a ``tokenizer.json``: kept as data, and applied on demand.

Source: huggingface/tokenizers 0.23.3, tokenizers/src/utils/{truncation,padding}.rs.
"""

from typing import Any, Final, TypeVar

from subword.errors import FormatError
from subword.formats.json_file import checked, refuse_others
from subword.padding import Padding, Side, Strategy, Truncation

__all__ = ["read_padding", "read_truncation", "write_padding", "write_truncation"]

T = TypeVar("T")
_SIDES: Final[dict[str, Side]] = {"Right": "right", "Left": "left"}
_STRATEGIES: Final[dict[str, Strategy]] = {
    "LongestFirst": "longest_first",
    "OnlyFirst": "only_first",
    "OnlySecond": "only_second",
}


def read_truncation(found: Any, place: str) -> Truncation | None:
    """Read where texts are cut.

    Raises:
        FormatError: A damaged or unknown field.
    """
    if found is None:
        return None
    fields = checked(found, dict, place)
    refuse_others(fields, {"max_length", "strategy", "stride", "direction"}, place)
    return Truncation(
        _natural(fields.get("max_length"), f"{place}.max_length"),
        stride=_natural(fields.get("stride", 0), f"{place}.stride"),
        strategy=_one_of(_STRATEGIES, fields.get("strategy", "LongestFirst"), f"{place}.strategy"),
        side=_one_of(_SIDES, fields.get("direction", "Right"), f"{place}.direction"),
    )


def read_padding(found: Any, place: str) -> Padding | None:
    """Read how texts are filled up.

    Raises:
        FormatError: A damaged or unknown field.
    """
    if found is None:
        return None
    fields = checked(found, dict, place)
    known = {"strategy", "direction", "pad_to_multiple_of", "pad_id", "pad_type_id", "pad_token"}
    refuse_others(fields, known, place)
    strategy, length = fields.get("strategy"), None
    if strategy != "BatchLongest":
        strategy = checked(strategy, dict, f"{place}.strategy")
        refuse_others(strategy, {"Fixed"}, f"{place}.strategy")
        length = _natural(strategy.get("Fixed"), f"{place}.strategy.Fixed")
    multiple = fields.get("pad_to_multiple_of")
    return Padding(
        checked(fields.get("pad_token"), str, f"{place}.pad_token"),
        _natural(fields.get("pad_id"), f"{place}.pad_id"),
        type_id=_natural(fields.get("pad_type_id"), f"{place}.pad_type_id"),
        length=length,
        multiple_of=None if multiple is None else _natural(multiple, f"{place}.pad_to_multiple_of"),
        side=_one_of(_SIDES, fields.get("direction", "Right"), f"{place}.direction"),
    )


def write_truncation(truncation: Truncation | None) -> dict[str, object] | None:
    """Give the field."""
    if truncation is None:
        return None
    return {
        "direction": _name(_SIDES, truncation.side),
        "max_length": truncation.max_length,
        "strategy": _name(_STRATEGIES, truncation.strategy),
        "stride": truncation.stride,
    }


def write_padding(padding: Padding | None) -> dict[str, object] | None:
    """Give the field."""
    if padding is None:
        return None
    return {
        "strategy": "BatchLongest" if padding.length is None else {"Fixed": padding.length},
        "direction": _name(_SIDES, padding.side),
        "pad_to_multiple_of": padding.multiple_of,
        "pad_id": padding.pad_id,
        "pad_type_id": padding.type_id,
        "pad_token": padding.token,
    }


def _natural(found: Any, place: str) -> int:
    if not 0 <= checked(found, int, place) < 1 << 32:
        raise FormatError(f"{place} is {found!r:.40}; expected 0 to 2^32-1")
    return int(found)


def _one_of(names: dict[str, T], found: Any, place: str) -> T:
    if type(found) is not str or found not in names:
        raise FormatError(f"{place} is {found!r:.40}; expected one of {', '.join(names)}")
    return names[found]


def _name(names: dict[str, T], value: T) -> str:
    return next(name for name, known in names.items() if known == value)

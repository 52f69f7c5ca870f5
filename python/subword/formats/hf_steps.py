"""The steps of a ``tokenizer.json`` around its model, as far as byte-level BPE goes.

Source: huggingface/tokenizers 0.23.3, tokenizers/src/pre_tokenizers/{split,byte_level}.rs.
"""

from collections.abc import Mapping
from typing import Any, Final

from subword.errors import FormatError
from subword.formats.json_file import checked, refuse_others
from subword.formats.oniguruma import from_oniguruma, to_oniguruma
from subword.patterns import NAMED_PATTERNS, Pattern

__all__ = [
    "BYTE_LEVEL",
    "check_decoder",
    "check_normalizer",
    "check_post_processor",
    "read_pattern",
    "write_pattern",
]

BYTE_LEVEL: Final[dict[str, object]] = {
    "type": "ByteLevel",
    "add_prefix_space": False,
    "trim_offsets": True,
    "use_regex": False,
}
"""Bytes to printable characters, and nothing else."""


def write_pattern(pattern: Pattern) -> dict[str, object]:
    """Give the pre-tokenizer of a pattern.

    Raises:
        FormatError: HF's regex engine would read a part otherwise.
    """
    steps = [
        {
            "type": "Split",
            "pattern": {"Regex": to_oniguruma(part)},
            "behavior": "Isolated",
            "invert": False,
        }
        for part in pattern
    ]
    return {"type": "Sequence", "pretokenizers": [*steps, BYTE_LEVEL]}


def read_pattern(found: Any, place: str) -> Pattern:
    """Read splits that end in ``ByteLevel``.

    Raises:
        FormatError: Another step, or a setting that subword does not do.
    """
    part = checked(found, dict, place)
    if part.get("type") == "Sequence":
        refuse_others(part, {"type", "pretokenizers"}, place)
        place += ".pretokenizers"
        parts = checked(part.get("pretokenizers"), list, place)
    else:
        parts = [part]
    pattern: list[str] = []
    for at, step in enumerate(parts):
        step_place = f"{place}[{at}]" if len(parts) > 1 else place
        kind = checked(step, dict, step_place).get("type")
        is_last = at == len(parts) - 1
        if kind == "Split" and not is_last:
            pattern.append(_read_split(step, step_place))
        elif kind == "ByteLevel" and is_last:
            pattern.extend(_read_byte_level(step, step_place))
        else:
            raise FormatError(
                f"{step_place} is {kind!r:.40}; expected Split steps, and ByteLevel as the last"
            )
    if not parts:
        raise FormatError(f"{place} is empty; expected ByteLevel in it")
    return tuple(pattern)


def check_normalizer(found: Any, place: str) -> None:
    """Refuse a normalizer, unless it is empty.

    Raises:
        FormatError: It names one.
    """
    if found is None:
        return
    parts = checked(found, dict, place)
    if parts.get("type") != "Sequence" or parts.get("normalizers") != []:
        raise FormatError(
            f"{place} is {parts.get('type')!r:.40}, which a byte-level BPE of subword does not do"
        )


def check_post_processor(found: Any, place: str) -> None:
    """Refuse processors that do more than to trim offsets.

    Raises:
        FormatError: One that adds tokens.
    """
    if found is None:
        return
    kind = checked(found, dict, place).get("type")
    if kind == "Sequence":
        for at, part in enumerate(checked(found.get("processors"), list, f"{place}.processors")):
            check_post_processor(part, f"{place}.processors[{at}]")
    elif kind != "ByteLevel":
        raise FormatError(
            f"{place} is {kind!r:.40}, which adds tokens; subword reads files without, or with "
            "ByteLevel"
        )


def check_decoder(found: Any, place: str) -> None:
    """Refuse a decoder other than ``ByteLevel``.

    Raises:
        FormatError: It is another.
    """
    kind = checked(found, dict, place).get("type")
    if kind != "ByteLevel":
        raise FormatError(f"{place} is {kind!r:.40}; the decoder of a byte-level BPE is ByteLevel")


def _read_split(step: Mapping[str, Any], place: str) -> str:
    refuse_others(step, {"type", "pattern", "behavior", "invert"}, place)
    if step.get("behavior") != "Isolated" or step.get("invert") is not False:
        raise FormatError(
            f"{place} has behavior {step.get('behavior')!r:.40} and invert "
            f"{step.get('invert')!r:.40}; subword does 'Isolated' and false"
        )
    pattern = checked(step.get("pattern"), dict, f"{place}.pattern")
    if list(pattern) != ["Regex"]:
        raise FormatError(f"{place}.pattern: expected a 'Regex', got {list(pattern)!r:.60}")
    regex = checked(pattern["Regex"], str, f"{place}.pattern.Regex")
    try:
        return from_oniguruma(regex)
    except FormatError as error:
        raise FormatError(f"{place}.pattern.Regex: {error}") from None


def _read_byte_level(step: Mapping[str, Any], place: str) -> Pattern:
    refuse_others(step, set(BYTE_LEVEL), place)
    if checked(step.get("add_prefix_space"), bool, f"{place}.add_prefix_space"):
        raise FormatError(f"{place}.add_prefix_space is true, which subword does not do")
    uses_regex = checked(step.get("use_regex", True), bool, f"{place}.use_regex")
    return NAMED_PATTERNS["gpt2"] if uses_regex else ()

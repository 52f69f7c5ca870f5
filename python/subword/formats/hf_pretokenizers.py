"""Pre-tokenizers of a ``tokenizer.json``.

Splits that keep every match become a pattern, which the fast splitters run; all else becomes
steps. ``ByteLevel`` at the end says that the model's tokens are bytes, and nothing is left of it.

Source: huggingface/tokenizers 0.23.3, tokenizers/src/pre_tokenizers.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, get_args

from subword import pretokens
from subword.errors import FormatError
from subword.formats.hf_metaspace import read_metaspace, write_metaspace
from subword.formats.hf_normalizers import read_replaced
from subword.formats.json_file import checked, flag, read_sequence, refuse_others
from subword.formats.oniguruma import to_oniguruma
from subword.patterns import NAMED_PATTERNS, Pattern
from subword.pretokens import Behavior, PretokenStep

__all__ = ["Cut", "read_pretokenizer", "write_pretokenizer"]

_BYTE_LEVEL_FIELDS: Final = {"type", "add_prefix_space", "trim_offsets", "use_regex"}
_BEHAVIORS: Final[dict[str, Behavior]] = {
    "".join(word.title() for word in name.split("_")): name for name in get_args(Behavior)
}
_PLAIN: Final[dict[str, PretokenStep]] = {
    "BertPreTokenizer": pretokens.Bert(),
    "UnicodeScripts": pretokens.UnicodeScripts(),
    "Whitespace": pretokens.Whitespace(),
    "WhitespaceSplit": pretokens.WhitespaceSplit(),
}
_NAMES: Final = {step: name for name, step in _PLAIN.items()}
# HF's FixedLength as a pattern.
_FIXED = re.compile(r"\(\?s:\.\)\{1,(\d+)\}")


@dataclass(frozen=True, slots=True)
class Cut:
    """How a text is cut.

    Attributes:
        pattern: The pattern, where steps are None.
        steps: The steps, where a pattern does not do.
        is_byte_level: Whether the pieces are bytes behind it.
    """

    pattern: Pattern
    steps: tuple[PretokenStep, ...] | None
    is_byte_level: bool


def read_pretokenizer(found: Any, place: str) -> Cut:
    """Read pre-tokenizers; sequences in sequences become one.

    Raises:
        FormatError: One that subword does not know, or a setting of it.
    """
    parts = list(read_sequence(found, "pretokenizers", place))
    steps = [_read(fields, step_place) for fields, step_place in parts]
    levels = [at for at, step in enumerate(steps) if isinstance(step, pretokens.ByteLevel)]
    is_byte_level = levels == [len(steps) - 1] and bool(levels)
    if is_byte_level and steps[-1] == pretokens.ByteLevel(False, False):
        steps.pop()
    pattern: list[str] = []
    for step in steps:
        if isinstance(step, pretokens.Split) and step == pretokens.Split(step.pattern):
            pattern.append(step.pattern)
        elif is_byte_level and step == pretokens.ByteLevel(False, True):
            pattern.extend(NAMED_PATTERNS["gpt2"])
        else:
            break
    else:
        return Cut(tuple(pattern), None, is_byte_level)
    if not is_byte_level:
        # Behind ByteLevel, HF goes on with the characters that stand for the bytes.
        steps = [_printable(step) for step in steps]
    return Cut((), tuple(steps), is_byte_level)


def write_pretokenizer(
    pattern: Pattern, steps: Sequence[PretokenStep] | None, *, is_byte_level: bool
) -> dict[str, object] | None:
    """Give the pre-tokenizer of a pattern or steps.

    Raises:
        FormatError: HF's regex engine would read a part otherwise, or it has no such step.
    """
    chosen: list[PretokenStep] = (
        [pretokens.Split(part) for part in pattern] if steps is None else list(steps)
    )
    if is_byte_level and not (chosen and isinstance(chosen[-1], pretokens.ByteLevel)):
        chosen.append(pretokens.ByteLevel(False, False))
    for at, step in enumerate(chosen):
        if isinstance(step, pretokens.ByteLevel):
            wanted = is_byte_level and at == len(chosen) - 1
            if step.printable == wanted:
                raise FormatError(
                    "tokenizer.json cannot hold ByteLevel as a step whose pieces stay bytes, but "
                    "as the last one of a byte-level BPE"
                )
    parts = [_write(step) for step in chosen]
    if not parts:
        return None
    return parts[0] if len(parts) == 1 else {"type": "Sequence", "pretokenizers": parts}


def _printable(step: PretokenStep) -> PretokenStep:
    if not isinstance(step, pretokens.ByteLevel):
        return step
    return pretokens.ByteLevel(step.add_prefix_space, step.use_regex, printable=True)


def _read(fields: Mapping[str, Any], place: str) -> PretokenStep:  # noqa: C901
    kind = fields.get("type")

    def only(*names: str) -> None:
        refuse_others(fields, {"type", *names}, place)

    def character(name: str) -> str:
        value = checked(fields.get(name), str, f"{place}.{name}")
        if len(value) != 1:
            raise FormatError(f"{place}.{name} is {value!r:.40}; expected one character")
        return value

    if type(kind) is str and kind in _PLAIN:
        only()
        return _PLAIN[kind]
    match kind:
        case "Split":
            only("pattern", "behavior", "invert")
            pattern, is_regex = read_replaced(fields.get("pattern"), f"{place}.pattern")
            behavior = _behavior(fields.get("behavior"), f"{place}.behavior")
            return pretokens.Split(pattern, is_regex, behavior, flag(fields, "invert", place))
        case "ByteLevel":
            only(*_BYTE_LEVEL_FIELDS)
            return pretokens.ByteLevel(
                flag(fields, "add_prefix_space", place),
                flag(fields, "use_regex", place, default=True),
            )
        case "Metaspace":
            return read_metaspace(fields, place)
        case "Digits":
            only("individual_digits")
            return pretokens.Digits(flag(fields, "individual_digits", place, default=False))
        case "Punctuation":
            only("behavior")
            name = fields.get("behavior", "Isolated")
            return pretokens.Punctuation(_behavior(name, f"{place}.behavior"))
        case "CharDelimiterSplit":
            only("delimiter")
            return pretokens.CharDelimiter(character("delimiter"))
        case "FixedLength":
            only("length")
            length = checked(fields.get("length"), int, f"{place}.length")
            if not 0 < length <= 1000:
                raise FormatError(f"{place}.length is {length}; subword cuts at 1 to 1000")
            return pretokens.Split(f"(?s:.){{1,{length}}}")
        case _:
            raise FormatError(
                f"{place} is {kind!r:.40}, which is no pre-tokenizer that subword knows"
            )


def _behavior(found: Any, place: str) -> Behavior:
    if type(found) is not str or found not in _BEHAVIORS:
        raise FormatError(f"{place} is {found!r:.40}; expected one of {', '.join(_BEHAVIORS)}")
    return _BEHAVIORS[found]


def _write(step: PretokenStep) -> dict[str, object]:
    if step in _NAMES:
        return {"type": _NAMES[step]}
    named = {value: name for name, value in _BEHAVIORS.items()}
    match step:
        case pretokens.Split():
            fixed = _FIXED.fullmatch(step.pattern)
            if fixed and step == pretokens.Split(step.pattern):
                return {"type": "FixedLength", "length": int(fixed[1])}
            pattern = (
                {"Regex": to_oniguruma(step.pattern)} if step.regex else {"String": step.pattern}
            )
            return {
                "type": "Split",
                "pattern": pattern,
                "behavior": named[step.behavior],
                "invert": step.invert,
            }
        case pretokens.ByteLevel():
            return {
                "type": "ByteLevel",
                "add_prefix_space": step.add_prefix_space,
                "trim_offsets": True,
                "use_regex": step.use_regex,
            }
        case pretokens.Metaspace():
            return write_metaspace(step)
        case pretokens.Digits():
            return {"type": "Digits", "individual_digits": step.individual}
        case pretokens.Punctuation():
            return {"type": "Punctuation", "behavior": named[step.behavior]}
        case pretokens.CharDelimiter():
            return {"type": "CharDelimiterSplit", "delimiter": step.char}
        case _:
            raise FormatError(f"tokenizer.json cannot hold the pre-tokenizer {step!r:.80}")

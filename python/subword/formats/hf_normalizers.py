"""Normalizers of a ``tokenizer.json``.

Source: huggingface/tokenizers 0.23.3, tokenizers/src/normalizers.
"""

import base64
import binascii
from collections.abc import Iterator, Mapping
from typing import Any, Final

from subword.errors import FormatError
from subword.formats.json_file import checked, flag, read_sequence, refuse_others
from subword.formats.oniguruma import from_oniguruma, to_oniguruma
from subword.normalizers import (
    NAMED_NORMALIZERS,
    Bert,
    Charsmap,
    Lowercase,
    Nfc,
    Nfd,
    Nfkc,
    Nfkd,
    Normalizer,
    NormalizerStep,
    Prepend,
    Replace,
    SentencePieceSpaces,
    Strip,
    StripAccents,
)

__all__ = ["BYTE_LEVEL_NORMALIZER", "read_normalizer", "read_replaced", "write_normalizer"]

BYTE_LEVEL_NORMALIZER: Final = "ByteLevel"
"""The normalizer that writes bytes as printable characters; see ``read_normalizer``."""

# The two replacements that HF calls Nmt.
_NMT: Final = NAMED_NORMALIZERS["nmt_nfkc"][:2]
_PLAIN: Final[dict[str, NormalizerStep]] = {
    "NFC": Nfc(),
    "NFD": Nfd(),
    "NFKC": Nfkc(),
    "NFKD": Nfkd(),
    "Lowercase": Lowercase(),
    "StripAccents": StripAccents(),
}
_NAMES: Final = {step: name for name, step in _PLAIN.items()}


def read_normalizer(found: Any, place: str) -> tuple[Normalizer, bool]:
    """Read normalizers; sequences in sequences become one.

    Returns:
        The steps, and whether bytes are written as printable characters behind them.

    Raises:
        FormatError: A normalizer or a setting that subword does not know, or one behind
            ``ByteLevel``.
    """
    steps: list[NormalizerStep] = []
    parts = list(read_sequence(found, "normalizers", place))
    is_byte_level = bool(parts) and parts[-1][0].get("type") == BYTE_LEVEL_NORMALIZER
    if is_byte_level:
        refuse_others(parts[-1][0], {"type"}, parts[-1][1])
        parts.pop()
    for fields, step_place in parts:
        steps.extend(_read(fields, step_place))
    return tuple(steps), is_byte_level


def write_normalizer(normalizer: Normalizer) -> dict[str, object] | None:
    """Give the normalizer of steps, or None without any.

    Raises:
        FormatError: A step that HF does not have.
    """
    parts = list(_written(normalizer))
    if not parts:
        return None
    return parts[0] if len(parts) == 1 else {"type": "Sequence", "normalizers": parts}


def read_replaced(found: Any, place: str) -> tuple[str, bool]:
    """Read what is looked for; give it, and whether it is a regular expression.

    Raises:
        FormatError: It is empty, of another kind, or a construct that the engines read otherwise.
    """
    pattern = checked(found, dict, place)
    if list(pattern) not in (["String"], ["Regex"]):
        raise FormatError(f"{place}: expected a 'String' or a 'Regex', got {list(pattern)!r:.60}")
    (kind, text), *_ = pattern.items()
    if not checked(text, str, f"{place}.{kind}"):
        raise FormatError(f"{place}.{kind} is empty; expected something to look for")
    if kind == "String":
        return text, False
    try:
        return from_oniguruma(text), True
    except FormatError as error:
        raise FormatError(f"{place}.Regex: {error}") from None


def _read(fields: Mapping[str, Any], place: str) -> Iterator[NormalizerStep]:
    kind = fields.get("type")
    if type(kind) is str and kind in _PLAIN:
        refuse_others(fields, {"type"}, place)
        yield _PLAIN[kind]
    elif kind == "Nmt":
        refuse_others(fields, {"type"}, place)
        yield from _NMT
    elif kind == "BertNormalizer":
        names = ("clean_text", "handle_chinese_chars", "lowercase")
        refuse_others(fields, {"type", "strip_accents", *names}, place)
        accents = fields.get("strip_accents")
        yield Bert(
            **{name: flag(fields, name, place) for name in names},
            strip_accents=None if accents is None else flag(fields, "strip_accents", place),
        )
    elif kind == "Strip":
        refuse_others(fields, {"type", "strip_left", "strip_right"}, place)
        yield Strip(flag(fields, "strip_left", place), flag(fields, "strip_right", place))
    elif kind == "Replace":
        refuse_others(fields, {"type", "pattern", "content"}, place)
        pattern, is_regex = read_replaced(fields.get("pattern"), f"{place}.pattern")
        content = checked(fields.get("content"), str, f"{place}.content")
        yield Replace(pattern, content, regex=is_regex)
    elif kind == "Prepend":
        refuse_others(fields, {"type", "prepend"}, place)
        yield Prepend(checked(fields.get("prepend"), str, f"{place}.prepend"))
    elif kind == "Precompiled":
        refuse_others(fields, {"type", "precompiled_charsmap"}, place)
        yield from _read_charsmap(
            fields.get("precompiled_charsmap"), f"{place}.precompiled_charsmap"
        )
    else:
        raise FormatError(f"{place} is {kind!r:.40}, which is no normalizer that subword knows")


def _read_charsmap(found: Any, place: str) -> Iterator[NormalizerStep]:
    try:
        data = base64.b64decode(checked(found, str, place), validate=True)
    except binascii.Error as error:
        raise FormatError(f"{place} is not base64: {error}") from error
    if data:
        yield Charsmap(data, per_grapheme=True)


def _written(normalizer: Normalizer) -> Iterator[dict[str, object]]:
    at = 0
    while at < len(normalizer):
        if normalizer[at : at + 2] == _NMT:
            yield {"type": "Nmt"}
            at += 2
            continue
        yield _write(normalizer[at])
        at += 1


def _write(step: NormalizerStep) -> dict[str, object]:
    if step in _NAMES:
        return {"type": _NAMES[step]}
    match step:
        case Bert():
            return {
                "type": "BertNormalizer",
                "clean_text": step.clean_text,
                "handle_chinese_chars": step.handle_chinese_chars,
                "strip_accents": step.strip_accents,
                "lowercase": step.lowercase,
            }
        case Strip():
            return {"type": "Strip", "strip_left": step.left, "strip_right": step.right}
        case Replace():
            pattern = (
                {"Regex": to_oniguruma(step.pattern)} if step.regex else {"String": step.pattern}
            )
            return {"type": "Replace", "pattern": pattern, "content": step.content}
        case Prepend():
            return {"type": "Prepend", "prepend": step.text}
        case Charsmap(per_grapheme=True, keep=()):
            data = base64.b64encode(step.data).decode()
            return {"type": "Precompiled", "precompiled_charsmap": data}
        case Charsmap():
            raise FormatError(
                "tokenizer.json cannot hold a charsmap applied as sentencepiece does; HF "
                "tokenizers applies it by grapheme clusters"
            )
        case SentencePieceSpaces():
            raise FormatError(
                "tokenizer.json cannot hold the normalizer SentencePieceSpaces but beside "
                "SentencePiece's BPE; HF tokenizers adds the scores of Unigram in 64 bits, where "
                "sentencepiece does in 32, and has no word and no char models"
            )
        case _:
            raise FormatError(
                f"tokenizer.json cannot hold the normalizer {type(step).__name__} with "
                f"{step!r:.80}; HF tokenizers has no such step"
            )

"""Added tokens of a ``tokenizer.json``.

Source: huggingface/tokenizers 0.23.3, tokenizers/src/tokenizer/added_vocabulary.rs.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from subword.errors import FormatError
from subword.formats.json_file import checked, flag, refuse_others
from subword.special_tokens import TokenFlags
from subword.types import TokenId

__all__ = ["read_added", "write_added"]

_FLAGS: Final = ("special", "normalized", "lstrip", "rstrip", "single_word")
_USUAL: Final = (True, False, False, False, False)
_OF_BITS: Final = [
    tuple(bool(bits >> at & 1) for at in range(len(_FLAGS))) for bits in range(1 << len(_FLAGS))
]
_FIELDS: Final = {"id", "content", *_FLAGS}


def write_added(
    special_tokens: Mapping[str, TokenId], flags: Mapping[str, TokenFlags]
) -> list[dict[str, object]]:
    """Give the entries of special tokens, in the order given.

    Control tokens have none: HF would look for them in text.
    """
    entries: list[dict[str, object]] = []
    for content, token_id in special_tokens.items():
        own = flags.get(content, TokenFlags())
        if not own.control:
            entries.append(
                {
                    "id": token_id,
                    "content": content,
                    "single_word": own.single_word,
                    "lstrip": own.lstrip,
                    "rstrip": own.rstrip,
                    "normalized": own.normalized,
                    "special": own.special,
                }
            )
    return entries


def read_added(
    found: Any, vocab: Mapping[str, TokenId], place: str
) -> tuple[dict[str, TokenId], dict[str, TokenFlags]]:
    """Read added tokens; their ids are checked against those that HF gives them.

    Args:
        found: The field; or contents, ids and flags as ``_core.JsonTables`` has them.
        vocab: The model's tokens.
        place: Where the field stands.

    Returns:
        The id of each token, and the flags of those that have not the usual ones.

    Raises:
        FormatError: A damaged entry, or an id that HF would not give.
    """
    special: dict[str, TokenId] = {}
    flags: dict[str, TokenFlags] = {}
    made: dict[tuple[object, ...], TokenFlags] = {}
    last, n_vocab = -1, len(vocab)
    for at, (text, given, on) in enumerate(_entries(found, place)):
        if on != _USUAL:
            if on not in made:
                made[on] = TokenFlags(*on)
            flags[text] = made[on]
        numbered = vocab.get(text)
        if numbered is None:
            numbered = max(last + 1, n_vocab)
        if text in special:
            raise FormatError(f"{place}[{at}]: {text!r:.40} is added twice")
        if numbered != given:
            raise FormatError(
                f"{place}[{at}]: {text!r:.40} has id {given} here, but HF tokenizers numbers it "
                f"{numbered}; which is meant cannot be told"
            )
        special[text] = given
        if given > last:
            last = given
    return special, flags


def _entries(found: Any, place: str) -> Iterator[tuple[str, TokenId, tuple[bool, ...]]]:
    """Give content, id and flags of each."""
    if type(found) is tuple:  # read already
        texts, ids, bits = found
        yield from zip(texts, ids, map(_OF_BITS.__getitem__, bits), strict=True)
        return
    for at, item in enumerate(checked([] if found is None else found, list, place)):
        if type(item) is not dict or not _is_plain(item):
            _check(item, f"{place}[{at}]")
        yield item["content"], item["id"], tuple([item.get(name, False) for name in _FLAGS])


def _is_plain(item: dict[str, Any]) -> bool:
    """Tell whether an entry has the fields of one, and of their types."""
    if not item.keys() <= _FIELDS or type(item.get("content")) is not str:
        return False
    if type(item.get("id")) is not int:
        return False
    return all(type(item.get(name, False)) is bool for name in _FLAGS)


def _check(item: Any, place: str) -> None:
    """Refuse a damaged entry by name."""
    fields = checked(item, dict, place)
    refuse_others(fields, _FIELDS, place)
    checked(fields.get("content"), str, f"{place}.content")
    checked(fields.get("id"), int, f"{place}.id")
    for name in _FLAGS:
        flag(fields, name, place, default=False)

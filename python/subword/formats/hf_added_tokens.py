"""Added tokens of a ``tokenizer.json``.

Source: huggingface/tokenizers 0.23.3, tokenizers/src/tokenizer/added_vocabulary.rs.
"""

from collections.abc import Mapping
from typing import Any, Final

from subword.errors import FormatError
from subword.formats.json_file import checked, flag, refuse_others
from subword.special_tokens import TokenFlags
from subword.types import TokenId

__all__ = ["read_added", "write_added"]

_FLAGS: Final = ("special", "normalized", "lstrip", "rstrip", "single_word")
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

    Returns:
        The id of each token, and the flags of those that have not the usual ones.

    Raises:
        FormatError: A damaged entry, or an id that HF would not give.
    """
    special: dict[str, TokenId] = {}
    flags: dict[str, TokenFlags] = {}
    usual = TokenFlags()
    last = -1
    for at, item in enumerate(checked([] if found is None else found, list, place)):
        item_place = f"{place}[{at}]"
        fields = checked(item, dict, item_place)
        if not fields.keys() <= _FIELDS:
            refuse_others(fields, _FIELDS, item_place)
        text = checked(fields.get("content"), str, f"{item_place}.content")
        given = checked(fields.get("id"), int, f"{item_place}.id")
        own = TokenFlags(**{name: flag(fields, name, item_place, False) for name in _FLAGS})
        if own != usual:
            flags[text] = own
        if text in special:
            raise FormatError(f"{item_place}: {text!r:.40} is added twice")
        numbered = vocab.get(text, max(last + 1, len(vocab)))
        if numbered != given:
            raise FormatError(
                f"{item_place}: {text!r:.40} has id {given} here, but HF tokenizers numbers it "
                f"{numbered}; which is meant cannot be told"
            )
        special[text] = given
        last = max(last, given)
    return special, flags

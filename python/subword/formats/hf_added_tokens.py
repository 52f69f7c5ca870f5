"""Added tokens of a ``tokenizer.json``.

Source: huggingface/tokenizers 0.23.3, tokenizers/src/tokenizer/added_vocabulary.rs.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from subword.errors import FormatError
from subword.formats.json_file import checked, refuse_others
from subword.types import TokenId

__all__ = ["read_added", "write_added"]

_FIELDS = {"id", "content", "single_word", "lstrip", "rstrip", "normalized", "special"}


def write_added(special_tokens: Mapping[str, TokenId]) -> list[dict[str, object]]:
    """Give the entries of special tokens, in the order given."""
    return [
        {
            "id": token_id,
            "content": content,
            "single_word": False,
            "lstrip": False,
            "rstrip": False,
            "normalized": False,
            "special": True,
        }
        for content, token_id in special_tokens.items()
    ]


def read_added(found: Any, vocab: Mapping[str, TokenId], place: str) -> dict[str, TokenId]:
    """Read added tokens; their ids are checked against those that HF gives them.

    Raises:
        FormatError: A damaged entry, an id that HF would not give, or a flag that subword does
            not have.
    """
    special: dict[str, TokenId] = {}
    normalized: set[str] = set()
    last = -1
    for at, item in enumerate(checked([] if found is None else found, list, place)):
        item_place = f"{place}[{at}]"
        fields = checked(item, dict, item_place)
        refuse_others(fields, _FIELDS, item_place)
        text = checked(fields.get("content"), str, f"{item_place}.content")
        given = checked(fields.get("id"), int, f"{item_place}.id")
        for name in ("lstrip", "rstrip", "single_word"):
            if checked(fields.get(name, False), bool, f"{item_place}.{name}"):
                raise FormatError(
                    f"{item_place}.{name} is true for {text!r:.40}; subword has no such tokens"
                )
        if checked(fields.get("normalized", False), bool, f"{item_place}.normalized"):
            normalized.add(text)
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
    _check_passes(special, normalized, place)
    return special


def _check_passes(special: Iterable[str], normalized: set[str], place: str) -> None:
    """Refuse tokens whose matches depend on HF's two passes: normalized ones come second.

    One pass finds the same where no match of one kind can lie inside, or run into, one of the
    other: no token goes on with the first character of one of the other kind, and none of
    them starts with another.
    """
    kinds = [sorted(set(special) - normalized), sorted(normalized)]
    if not all(kinds):
        return
    firsts = [{text[:1] for text in kind} for kind in kinds]
    inner = [{character for text in kind for character in text[1:]} for kind in kinds]
    if _starts_with_other(kinds) or firsts[0] & inner[1] or firsts[1] & inner[0]:
        raise FormatError(
            f"{place}: tokens with normalized true and false overlap, such as "
            f"{kinds[1][0]!r:.40} and {kinds[0][0]!r:.40}; subword finds all in one pass"
        )


def _starts_with_other(kinds: list[list[str]]) -> bool:
    """Tell whether a token of one kind starts with one of the other."""
    in_order = sorted((text, kind) for kind, texts in enumerate(kinds) for text in texts)
    starts: list[tuple[str, int]] = []  # each begins with all before it, and is of their kind
    for text, kind in in_order:
        while starts and not text.startswith(starts[-1][0]):
            starts.pop()
        if starts and starts[-1][1] != kind:
            return True
        starts.append((text, kind))
    return False

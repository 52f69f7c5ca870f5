"""Post-processors of a ``tokenizer.json``: which special tokens stand around a text.

Source: huggingface/tokenizers 0.23.3, tokenizers/src/processors.
"""

from collections.abc import Mapping
from typing import Any, Final

from subword.errors import FormatError
from subword.formats.json_file import checked, flag, read_sequence, refuse_others
from subword.templates import Template, TemplatePart
from subword.types import TokenId

__all__ = ["read_template", "write_template"]

_TEXTS: Final = {"A": 0, "B": 1}
_ROBERTA: Final = {"type", "sep", "cls", "trim_offsets", "add_prefix_space"}


def read_template(found: Any, ids: Mapping[str, TokenId], place: str) -> Template:
    """Read the post-processor; ``ByteLevel`` in it only trims offsets, and leaves nothing.

    Args:
        found: The field.
        ids: Ids of the tokens that a template may name.
        place: Where the field stands.

    Raises:
        FormatError: A processor that subword does not know, two that add tokens, or a token
            whose id is not that of the vocabulary.
    """
    template = Template()
    for fields, step_place in read_sequence(found, "processors", place):
        kind = fields.get("type")
        if kind == "ByteLevel":
            refuse_others(
                fields, {"type", "add_prefix_space", "trim_offsets", "use_regex"}, step_place
            )
            continue
        if template != Template():
            raise FormatError(f"{step_place} adds tokens to those of a processor before it")
        match kind:
            case "TemplateProcessing":
                template = _read_processing(fields, ids, step_place)
            case "BertProcessing":
                refuse_others(fields, {"type", "sep", "cls"}, step_place)
                template = _classic(fields, ids, step_place, type_id=1, n_between=1)
            case "RobertaProcessing":
                refuse_others(fields, _ROBERTA, step_place)
                for name in ("trim_offsets", "add_prefix_space"):
                    flag(fields, name, step_place, default=True)
                template = _classic(fields, ids, step_place, type_id=0, n_between=2)
            case _:
                raise FormatError(
                    f"{step_place} is {kind!r:.40}, which is no post-processor that subword knows"
                )
    return template


def write_template(template: Template, ids: Mapping[str, TokenId]) -> dict[str, object] | None:
    """Give the ``TemplateProcessing`` of a template, or None for an empty one."""
    if template == Template():
        return None
    names = sorted({part.token for part in template.single + template.pair if part.token})
    single = template.single or (TemplatePart(),)
    # HF has a template for pairs always; without one of ours, the texts follow each other.
    pair = template.pair or (TemplatePart(), TemplatePart(None, 1, 1))
    return {
        "type": "TemplateProcessing",
        "single": [_write_part(part) for part in single],
        "pair": [_write_part(part) for part in pair],
        "special_tokens": {
            name: {"id": name, "ids": [ids[name]], "tokens": [name]} for name in names
        },
    }


def _classic(
    fields: Mapping[str, Any],
    ids: Mapping[str, TokenId],
    place: str,
    *,
    type_id: int,
    n_between: int,
) -> Template:
    sep, cls = (_read_named(fields.get(name), ids, f"{place}.{name}") for name in ("sep", "cls"))
    single = (TemplatePart(cls), TemplatePart(), TemplatePart(sep))
    between = (TemplatePart(sep),) * (n_between - 1)
    second = (TemplatePart(None, 1, type_id), TemplatePart(sep, 0, type_id))
    return Template(single, single + between + second)


def _read_named(found: Any, ids: Mapping[str, TokenId], place: str) -> str:
    pair = checked(found, list, place)
    if len(pair) != 2:
        raise FormatError(f"{place}: expected a token and its id, got {pair!r:.60}")
    token = checked(pair[0], str, f"{place}[0]")
    _check_id(token, checked(pair[1], int, f"{place}[1]"), ids, place)
    return token


def _check_id(token: str, given: TokenId, ids: Mapping[str, TokenId], place: str) -> None:
    if ids.get(token) != given:
        raise FormatError(
            f"{place}: {token!r:.40} has id {given} here, but {ids.get(token, 'none')} in the "
            "vocabulary; which is meant cannot be told"
        )


def _read_processing(fields: Mapping[str, Any], ids: Mapping[str, TokenId], place: str) -> Template:
    refuse_others(fields, {"type", "single", "pair", "special_tokens"}, place)
    named: dict[str, list[str]] = {}
    special_place = f"{place}.special_tokens"
    for name, item in checked(fields.get("special_tokens"), dict, special_place).items():
        item_place = f"{special_place}[{name!r:.40}]"
        item = checked(item, dict, item_place)
        refuse_others(item, {"id", "ids", "tokens"}, item_place)
        tokens = checked(item.get("tokens"), list, f"{item_place}.tokens")
        given = checked(item.get("ids"), list, f"{item_place}.ids")
        if item.get("id") != name or len(tokens) != len(given):
            raise FormatError(f"{item_place}: expected its id, and as many tokens as ids")
        for token, token_id in zip(tokens, given, strict=True):
            checked(token, str, f"{item_place}.tokens")
            _check_id(token, checked(token_id, int, f"{item_place}.ids"), ids, item_place)
        named[name] = tokens
    single = _read_parts(fields.get("single"), named, f"{place}.single")
    pair = _read_parts(fields.get("pair", []), named, f"{place}.pair")
    if any(part.token is None and part.text for part in single):
        raise FormatError(f"{place}.single has the second text, B")
    return Template(single, pair)


def _read_parts(found: Any, named: Mapping[str, list[str]], place: str) -> tuple[TemplatePart, ...]:
    parts: list[TemplatePart] = []
    for at, item in enumerate(checked(found, list, place)):
        item_place = f"{place}[{at}]"
        item = checked(item, dict, item_place)
        kind = next(iter(item), None)
        if len(item) != 1 or kind not in ("Sequence", "SpecialToken"):
            raise FormatError(
                f"{item_place}: expected a Sequence or a SpecialToken, got {list(item)!r:.60}"
            )
        fields = checked(item[kind], dict, f"{item_place}.{kind}")
        refuse_others(fields, {"id", "type_id"}, f"{item_place}.{kind}")
        name = checked(fields.get("id"), str, f"{item_place}.{kind}.id")
        type_id = checked(fields.get("type_id"), int, f"{item_place}.{kind}.type_id")
        known = _TEXTS if kind == "Sequence" else named
        if name not in known:
            raise FormatError(
                f"{item_place}.{kind}.id is {name!r:.40}; expected one of "
                f"{', '.join(known) or 'none'}"
            )
        if kind == "Sequence":
            parts.append(TemplatePart(None, _TEXTS[name], type_id))
        else:
            parts.extend(TemplatePart(token, 0, type_id) for token in named[name])
    return tuple(parts)


def _write_part(part: TemplatePart) -> dict[str, object]:
    if part.token is None:
        return {"Sequence": {"id": "AB"[part.text], "type_id": part.type_id}}
    return {"SpecialToken": {"id": part.token, "type_id": part.type_id}}

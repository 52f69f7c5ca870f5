"""What stands beside a ``tokenizer.json``: which special tokens have which role, chat templates.

``tokenizer_config.json`` and ``special_tokens_map.json`` hold settings of transformers' classes as
well. Ids do not depend on them where ``tokenizer.json`` is there, so of all their fields only the
roles and the chat template are read.

Source: huggingface/transformers 5, src/transformers/tokenization_utils_base.py.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from subword.chat import ChatTemplate
from subword.errors import FormatError
from subword.formats.json_file import checked, decode_text, read_bytes, read_json
from subword.special_tokens import ROLES
from subword.tokenizer import Tokenizer

__all__ = ["with_folder"]

_CONFIG: Final = "tokenizer_config.json"
_MAP: Final = "special_tokens_map.json"
_TEMPLATE: Final = "chat_template.jinja"
_MORE_TEMPLATES: Final = "additional_chat_templates"


def with_folder(tokenizer: Tokenizer, folder: Path) -> Tokenizer:
    """Give a tokenizer with the roles and chat templates that the files of its folder name.

    ``tokenizer_config.json`` comes before ``special_tokens_map.json``, and
    ``chat_template.jinja`` before the template in ``tokenizer_config.json``.

    Raises:
        FormatError: A damaged file, or a role whose token is not in the vocabulary.
    """
    config, more = (_read_object(folder / name) for name in (_CONFIG, _MAP))
    roles = {**_read_roles(more, folder / _MAP), **_read_roles(config, folder / _CONFIG)}
    for role, token in roles.items():
        if tokenizer.find_id(token) is None:
            raise FormatError(
                f"{folder}: {role}_token is {token!r:.40}, which is not in the vocabulary of "
                "tokenizer.json; add it there, or load the file by itself for the ids alone"
            )
    template = _read_templates(folder, config.get("chat_template"))
    changes: dict[str, Any] = {}
    if roles:
        changes["roles"] = {**tokenizer.roles, **roles}
    if template is not None:
        changes["chat_template"] = template
    return tokenizer.replace(**changes) if changes else tokenizer


def _read_object(path: Path) -> dict[str, Any]:
    return checked(read_json(path), dict, str(path)) if path.is_file() else {}


def _read_roles(fields: Mapping[str, Any], path: Path) -> dict[str, str]:
    """Read the tokens of roles, spelt as strings or as objects with their flags."""
    roles: dict[str, str] = {}
    for role in ROLES:
        name = f"{role}_token"
        token = fields.get(name)
        if type(token) is dict:
            token = token.get("content")
        if token is not None:
            roles[role] = checked(token, str, f"{path}: {name}")
    return roles


def _read_templates(folder: Path, found: Any) -> ChatTemplate | None:
    templates = _read_field(found, f"{folder / _CONFIG}: chat_template")
    if (folder / _TEMPLATE).is_file():
        templates["default"] = _read_text(folder / _TEMPLATE)
    for path in sorted((folder / _MORE_TEMPLATES).glob("*.jinja")):
        templates[path.stem] = _read_text(path)
    return templates.get("default") if templates.keys() <= {"default"} else templates


def _read_field(found: Any, place: str) -> dict[str, str]:
    """Read a template, or a list of named ones."""
    if found is None:
        return {}
    if type(found) is str:
        return {"default": found}
    templates: dict[str, str] = {}
    for at, item in enumerate(checked(found, list, place)):
        fields = checked(item, dict, f"{place}[{at}]")
        name = checked(fields.get("name"), str, f"{place}[{at}].name")
        templates[name] = checked(fields.get("template"), str, f"{place}[{at}].template")
    return templates


def _read_text(path: Path) -> str:
    return decode_text(read_bytes(path), path)

"""The small files of a checkpoint: sizes and ids in them follow a changed tokenizer."""

import json
from pathlib import Path
from typing import Any, Final

from subword.errors import FormatError
from subword.formats import save
from subword.tokenizer import Tokenizer
from subword.types import TokenId
from subword.vocabulary.id_map import IdMap

__all__ = ["read_object", "write_small_files"]

# What says nothing about ids, but belongs to the tokenizer.
_COPIED: Final = ("special_tokens_map.json", "chat_template.jinja", "chat_template.json")
# Lists of ids in the configurations of transformers 4.57, Whisper's for the most part.
_ID_LISTS: Final = ("suppress_tokens", "begin_suppress_tokens", "forced_decoder_ids")


def write_small_files(
    source: Path, work: Path, id_map: IdMap, n_rows: int, tokenizer: Tokenizer | None
) -> None:
    """Write the configurations, and the tokenizer where there is one, beside the new weights.

    Args:
        source: The old checkpoint; a single file has none of this.
        work: Where to write.
        id_map: What became of each id.
        n_rows: Rows of the new matrices, which ``vocab_size`` says.
        tokenizer: Written as ``tokenizer.json`` and, where the old checkpoint has one, as
            ``tokenizer.model``.

    Raises:
        FormatError: A file is no JSON object, or a format cannot hold the tokenizer.
    """
    if tokenizer is not None:
        save(tokenizer, work / "tokenizer.json")
        if (source / "tokenizer.model").is_file():
            save(tokenizer, work / "tokenizer.model")
    if not source.is_dir():
        return
    for name in ("config.json", "generation_config.json", "tokenizer_config.json"):
        if (source / name).is_file():
            content = _patched(read_object(source / name), id_map, n_rows)
            text = json.dumps(content, indent=2, ensure_ascii=False) + "\n"
            (work / name).write_text(text, encoding="utf-8")
    for name in _COPIED:
        if (source / name).is_file():
            (work / name).write_bytes((source / name).read_bytes())


def read_object(path: Path) -> dict[str, Any]:
    """Read a JSON object.

    Raises:
        FormatError: It is none.
    """
    try:
        content = json.loads(path.read_bytes())
    except (ValueError, RecursionError) as error:
        raise FormatError(f"{path}: no JSON ({error!s:.80})") from error
    if not isinstance(content, dict):
        raise FormatError(f"{path}: expected a JSON object")
    return content


def _patched(config: dict[str, Any], id_map: IdMap, n_rows: int) -> dict[str, Any]:
    """Give a configuration with the new size and the new ids of special tokens."""
    patched: dict[str, Any] = {}
    for key, value in config.items():
        if key == "vocab_size":
            patched[key] = n_rows
        elif key.endswith(("_token_id", "_token_ids")) or key in _ID_LISTS:
            patched[key] = _moved(value, id_map)
        elif key == "added_tokens_decoder" and isinstance(value, dict):
            patched[key] = {_moved_name(name, id_map): entry for name, entry in value.items()}
        elif key == "text_config" and isinstance(value, dict):
            patched[key] = _patched(value, id_map, n_rows)
        else:
            patched[key] = value
    return patched


def _moved(value: object, id_map: IdMap) -> object:
    """Give ids where they are now: one, a list, or a list of places and ids."""
    if isinstance(value, list):
        pairs = all(isinstance(row, list) and len(row) == 2 for row in value) and value
        if pairs:
            return [[place, _moved(at, id_map)] for place, at in value]
        return [_moved(at, id_map) for at in value]
    if isinstance(value, int) and not isinstance(value, bool):
        return _new_id(value, id_map)
    return value


def _new_id(old_id: TokenId, id_map: IdMap) -> TokenId:
    new_id = id_map.old_to_new.get(old_id)
    return old_id if new_id is None else new_id


def _moved_name(name: str, id_map: IdMap) -> str:
    return str(_new_id(int(name), id_map)) if name.isascii() and name.isdigit() else name

"""Mistral's ``tekken.json``: ranked tokens in base64, the split pattern, and the special tokens.

Ids 0 to n-1 are the special tokens, and the ranks follow them. Text never spells a special
token: they are control tokens, which only a template or ``replace(token_flags={})`` brings in.

Source: mistral-common 1.13.1, mistral_common/tokens/tokenizers/tekken.py (the fields, the names
of the special tokens of files that list none, and of those that fill the rest).
"""

import base64
import binascii
import json
from collections.abc import Iterator, Mapping
from os import PathLike
from typing import Any, Final

from subword.atomic_write import write_atomically
from subword.bpe_models import bpe_from_ranks, without_tokens
from subword.errors import FormatError
from subword.formats.json_file import Place, checked, read_json, refuse_others
from subword.formats.reach import byte_level_bpe, ranks_of
from subword.patterns import resolve_pattern
from subword.special_tokens import TokenFlags
from subword.tokenizer import Tokenizer
from subword.types import TokenId

__all__ = ["read", "write"]

_NAMED: Final = (
    *("<unk>", "<s>", "</s>", "[INST]", "[/INST]", "[AVAILABLE_TOOLS]", "[/AVAILABLE_TOOLS]"),
    *("[TOOL_RESULTS]", "[/TOOL_RESULTS]", "[TOOL_CALLS]", "[IMG]", "<pad>", "[IMG_BREAK]"),
    *("[IMG_END]", "[PREFIX]", "[MIDDLE]", "[SUFFIX]", "[SYSTEM_PROMPT]", "[/SYSTEM_PROMPT]"),
    "[TOOL_CONTENT]",
)
_LISTS_NONE: Final = ("v1", "v2", "v3", "v7")
# Mistral's files have a thousand special tokens in all; each without a name is made here.
_MAX_FILLERS: Final = 1 << 16
_CONTROL: Final = TokenFlags(control=True)
# What a file says of images, sound and models changes no id of a text.
_FIELDS: Final = {
    *("config", "vocab", "special_tokens", "version", "type", "image", "audio", "multimodal"),
    "model_settings_builder",
}
_CONFIG_FIELDS: Final = {
    *("pattern", "num_vocab_tokens", "default_vocab_size", "default_num_special_tokens"),
    "version",
}


def read(path: str | PathLike[str]) -> Tokenizer:
    """Read a tokenizer.

    Of the ranks, as many are used as the file says that its model has.

    Args:
        path: A ``tekken.json``.

    Raises:
        FormatError: A damaged file, an unknown field, a rank that is missing or stands twice,
            sizes that do not fit each other, or a version above v7 without special tokens.
        PatternError: Its pattern does not compile.
        SourceError: The file cannot be read.
    """
    root = checked(read_json(path), dict, str(path))
    refuse_others(root, _FIELDS, str(path))
    config_place = f"{path}: config"
    config = checked(root.get("config"), dict, config_place)
    refuse_others(config, _CONFIG_FIELDS, config_place)
    n_special = _size(config, "default_num_special_tokens", config_place)
    n_tokens = _size(config, "default_vocab_size", config_place) - n_special
    pattern = checked(config.get("pattern"), str, f"{config_place}.pattern")
    special = _special_tokens(root, config, n_special, path)
    tokens = _tokens(checked(root.get("vocab"), list, f"{path}: vocab"), n_tokens, path)
    return Tokenizer(
        bpe_from_ranks({token: n_special + rank for token, rank in tokens.items()}),
        {token: token_id for token, (token_id, _) in special.items()},
        resolve_pattern(pattern),
        token_flags={token: _CONTROL for token, (_, control) in special.items() if control},
    )


def write(tokenizer: Tokenizer, path: str | PathLike[str]) -> None:
    """Write a tokenizer; mistral-common gives the same ids for texts.

    Raises:
        FormatError: Special tokens whose ids are not the first ones, ids with gaps, several
            patterns in turn or none, or merges that tiktoken would not make of the tokens.
        OSError: The file cannot be written.
    """
    special = tokenizer.special_tokens
    model = without_tokens(byte_level_bpe(tokenizer, "tekken.json", flags=("control",)), special)
    if list(special.values()) != list(range(len(special))):
        raise FormatError(
            "tekken.json gives the first ids to the special tokens, and this tokenizer's are "
            f"{str(list(special.values()))[:40]}; write tokenizer.json or YAML instead"
        )
    if sorted(model.vocab) != list(range(len(special), len(special) + len(model.vocab))):
        raise FormatError("tekken.json has no gaps between ids, and this tokenizer has")
    if len(tokenizer.pattern) != 1:
        raise FormatError(
            f"tekken.json holds one split pattern, and this tokenizer has {len(tokenizer.pattern)}"
        )
    ranks_of(model, "tekken.json")
    write_atomically(path, _lines(tokenizer, model.vocab))


def _size(config: Mapping[str, Any], name: str, place: Place) -> int:
    size = checked(config.get(name), int, f"{place}.{name}")
    if not 0 <= size < 2**31:
        raise FormatError(f"{place}.{name}: expected a size below 2^31, got {size}")
    return size


def _special_tokens(
    root: Mapping[str, Any], config: Mapping[str, Any], n_special: int, path: str | PathLike[str]
) -> dict[str, tuple[TokenId, bool]]:
    """Give the id of each special token, and whether it is a control token."""
    entries = root.get("special_tokens")
    version = checked(config.get("version"), str, f"{path}: config.version")
    if entries is None:
        if version not in _LISTS_NONE:
            raise FormatError(
                f"{path}: version {version!r:.40} without special_tokens; only files of "
                f"{', '.join(_LISTS_NONE)} may leave them out"
            )
        entries = [
            {"rank": rank, "token_str": token, "is_control": True}
            for rank, token in enumerate(_NAMED)
        ]
    found: dict[str, tuple[TokenId, bool]] = {}
    for at, value in enumerate(checked(entries, list, f"{path}: special_tokens")):
        place = f"{path}: special_tokens[{at}]"
        entry = checked(value, dict, place)
        refuse_others(entry, {"rank", "token_str", "is_control"}, place)
        token = checked(entry.get("token_str"), str, f"{place}.token_str")
        if checked(entry.get("rank"), int, f"{place}.rank") != at or token in found:
            raise FormatError(f"{place}: {token!r:.40} stands twice, or its rank is not {at}")
        found[token] = (at, checked(entry.get("is_control"), bool, f"{place}.is_control"))
    if len(found) > n_special:
        raise FormatError(
            f"{path}: {len(found)} special tokens, more than default_num_special_tokens={n_special}"
        )
    if n_special - len(found) > _MAX_FILLERS:
        raise FormatError(
            f"{path}: default_num_special_tokens is {n_special}, and the file names {len(found)}; "
            f"expected at most {_MAX_FILLERS} that have no name"
        )
    for at in range(len(found), n_special):
        filler = f"<SPECIAL_{at}>"
        if filler in found:
            raise FormatError(f"{path}: special token {filler!r} has id {found[filler][0]}")
        found[filler] = (at, True)
    return found


def _tokens(entries: list[Any], n_tokens: int, path: str | PathLike[str]) -> dict[bytes, int]:
    if not 256 <= n_tokens <= len(entries):
        raise FormatError(
            f"{path}: config asks for {n_tokens} tokens besides the special ones, and vocab holds "
            f"{len(entries)}; expected at least the 256 bytes, and no more than there are"
        )
    tokens: dict[bytes, int] = {}
    for at, value in enumerate(entries[:n_tokens]):
        place = f"{path}: vocab[{at}]"
        entry = checked(value, dict, place)
        refuse_others(entry, {"rank", "token_bytes", "token_str"}, place)
        if checked(entry.get("rank"), int, f"{place}.rank") != at:
            raise FormatError(f"{place}.rank: expected {at}, got {entry['rank']}")
        text = checked(entry.get("token_bytes"), str, f"{place}.token_bytes")
        try:
            token = base64.b64decode(text, validate=True)
        except (binascii.Error, ValueError) as error:
            raise FormatError(f"{place}.token_bytes: not base64: {text!r:.40}") from error
        if not token or token in tokens:
            raise FormatError(f"{place}: {token!r:.40} is empty or stands twice")
        tokens[token] = at
    return tokens


def _lines(tokenizer: Tokenizer, vocab: Mapping[TokenId, bytes]) -> Iterator[bytes]:
    special = tokenizer.special_tokens
    config = {
        "pattern": tokenizer.pattern[0],
        "num_vocab_tokens": len(vocab),
        "default_vocab_size": len(special) + len(vocab),
        "default_num_special_tokens": len(special),
        "version": "v3",
    }
    flags = tokenizer.token_flags
    reserved = [
        {"rank": rank, "token_str": token, "is_control": flags.get(token, TokenFlags()).control}
        for token, rank in special.items()
    ]
    yield b'{\n"config": ' + _json(config) + b',\n"special_tokens": ' + _json(reserved)
    yield b',\n"vocab": [\n'
    for rank, token in enumerate(token for _, token in sorted(vocab.items())):
        entry = {
            "rank": rank,
            "token_bytes": base64.b64encode(token).decode(),
            "token_str": _text(token),
        }
        yield (b",\n" if rank else b"") + _json(entry)
    yield b"\n]\n}\n"


def _text(token: bytes) -> str | None:
    try:
        return token.decode()
    except UnicodeDecodeError:
        return None


def _json(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode()

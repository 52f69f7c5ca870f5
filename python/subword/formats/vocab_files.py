"""A vocabulary and its merges in files of their own, in the shapes that people write them.

Tokens are spelled in GPT-2's characters (``Ġthe``), or in Latin-1, where the byte n is the
character n (`` the``): GPT-2's, unless a token is one character that only Latin-1 has, such as a
space. A list of numbers spells a token in both.

    vocabulary   {token: id}; {id: token}; a list of tokens, whose places are the ids
    merges       lines of two tokens apart by one space (a first line ``#version`` is skipped);
                 or a list of [left, right] or of "left right"

Files are JSON, or YAML by their extension, and merges may be text. Nothing is unpickled.
"""

from collections.abc import Iterable, Iterator
from os import PathLike
from pathlib import Path
from typing import Any, Final

from subword.byte_characters import BYTE_CHARACTERS, from_characters
from subword.errors import FormatError
from subword.formats.json_file import Place, checked, decode_text, parse_json, read_bytes
from subword.formats.yaml_text import parse_yaml
from subword.types import TokenId

__all__ = ["read_files", "token_of"]

_ALPHABET: Final = frozenset(BYTE_CHARACTERS)
_LATIN_1_ALONE: Final = frozenset(map(chr, range(256))) - _ALPHABET
_GPT_2_ALONE: Final = _ALPHABET - frozenset(map(chr, range(256)))
_LOST: Final = "\ufffd"


def read_files(
    vocab_path: str | PathLike[str], merges_path: str | PathLike[str]
) -> tuple[dict[TokenId, bytes], list[tuple[bytes, bytes]]]:
    """Read a vocabulary and its merges; the module says in which shapes.

    ``{id: token}`` is told by its keys, every one a decimal number, and its values, none one. A
    token with a character that the spelling lacks, as special tokens have, is taken as UTF-8.

    Args:
        vocab_path: The vocabulary.
        merges_path: The merges.

    Returns:
        Token of each id, in file order, and pairs of tokens in rank order.

    Raises:
        FormatError: A damaged file, with its place; two tokens with one id; tokens that lost
            bytes when they were decoded with ``errors="replace"``; a pickle.
        SourceError: A file that cannot be read.
    """
    entries = list(_entries(_parsed(read_bytes(vocab_path), vocab_path), str(vocab_path)))
    is_latin_1 = _is_latin_1(text for _, text in entries)
    vocab: dict[TokenId, bytes] = {}
    for token_id, text in entries:
        if not 0 <= token_id < 2**32 - 1:
            raise FormatError(
                f"{vocab_path}: id {token_id} of {text!r:.40} is not from 0 to 2^32-2"
            )
        if token_id in vocab:
            raise FormatError(
                f"{vocab_path}: id {token_id} has two tokens, {text!r:.40} is the second"
            )
        vocab[token_id] = _spelled(text, str(vocab_path), is_latin_1=is_latin_1)
    _check_bytes(entries, vocab_path)
    return vocab, list(_merges(merges_path, is_latin_1=is_latin_1))


def token_of(text: str, place: Place) -> bytes:
    """Give the bytes of a token spelled in GPT-2's characters, or else in any others, as UTF-8.

    Raises:
        FormatError: A lone surrogate.
    """
    if _ALPHABET.issuperset(text):
        return from_characters(text)
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise FormatError(f"{place}: token {text!r:.40} has a lone surrogate") from error


def _parsed(data: bytes, path: str | PathLike[str]) -> Any:
    if data.startswith(b"\x80") and data.endswith(b"."):
        raise FormatError(
            f"{path}: a pickle, which is not read, since loading one can run any code; write the "
            "vocabulary as JSON"
        )
    if Path(path).suffix.lower() in (".yaml", ".yml"):
        return parse_yaml(decode_text(data, path), str(path))
    return parse_json(data, path)


def _entries(found: Any, place: Place) -> Iterator[tuple[TokenId, Any]]:
    """Give ids with tokens as they are spelled."""
    if type(found) is list and found:
        yield from enumerate(found)
        return
    entries = checked(found, dict, place)
    if entries and all(type(token) in (str, list) for token in entries.values()):
        for key, token in entries.items():
            yield key if type(key) is int else _decimal(key, place), token
        return
    for key, at in entries.items():
        yield checked(at, int, f"{place}: {key!r:.40}"), str(key) if type(key) is int else key


def _decimal(key: str, place: Place) -> int:
    if not key.isascii() or not key.isdigit() or len(key) > 10 or str(int(key)) != key:
        raise FormatError(
            f"{place}: {key!r:.40} maps to a string; expected {{token: id}}, or {{id: token}} with "
            "a decimal number for each key"
        )
    return int(key)


def _is_latin_1(texts: Iterable[Any]) -> bool:
    single = {text for text in texts if type(text) is str and len(text) == 1}
    return bool(single & _LATIN_1_ALONE) and not single & _GPT_2_ALONE


def _spelled(text: Any, place: Place, *, is_latin_1: bool) -> bytes:
    if type(text) is list:
        if not all(type(byte) is int and 0 <= byte < 256 for byte in text):
            raise FormatError(f"{place}: {text!r:.40} is a list, but not of bytes (0 to 255)")
        return bytes(text)
    spelling = checked(text, str, place)
    if is_latin_1 and all(ord(character) < 256 for character in spelling):
        return spelling.encode("latin-1")
    return token_of(spelling, place)


def _check_bytes(entries: Iterable[tuple[TokenId, Any]], path: str | PathLike[str]) -> None:
    """Refuse a vocabulary in which several tokens became U+FFFD: their bytes are gone."""
    lost = [(token_id, text) for token_id, text in entries if text == _LOST]
    if len(lost) > 1:
        raise FormatError(
            f"{path}: {len(lost)} tokens are U+FFFD alone, the first with id {lost[0][0]}: bytes "
            "that are no UTF-8 were lost when the file was written (errors='replace'); write the "
            "tokens as Latin-1 or as lists of bytes"
        )


def _merges(path: str | PathLike[str], *, is_latin_1: bool) -> Iterator[tuple[bytes, bytes]]:
    data = read_bytes(path)
    is_list = Path(path).suffix.lower() in (".json", ".yaml", ".yml")
    if not is_list and not data.startswith(b"\x80"):
        yield from _merge_lines(decode_text(data, path), path, is_latin_1=is_latin_1)
        return
    for rank, item in enumerate(checked(_parsed(data, path), list, str(path))):
        place = f"{path}: merge {rank}"
        parts = item.split(" ") if type(item) is str else item
        if type(parts) is not list or len(parts) != 2:
            raise FormatError(f"{place}: expected a pair of tokens, got {item!r:.60}")
        left, right = (_spelled(part, place, is_latin_1=is_latin_1) for part in parts)
        yield left, right


def _merge_lines(
    text: str, path: str | PathLike[str], *, is_latin_1: bool
) -> Iterator[tuple[bytes, bytes]]:
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    for number, line in enumerate(lines, start=1):
        if number == 1 and line.startswith("#version"):
            continue
        # U+000D stands for no byte, so it can only belong to a line ending
        tokens = line.removesuffix("\r").split(" ")
        if len(tokens) != 2 or not all(tokens):
            hint = "; tokens with spaces need a JSON list of pairs" if is_latin_1 else ""
            raise FormatError(
                f"{path}:{number}: expected two tokens with one space between, got {line!r:.60}"
                f"{hint}"
            )
        try:
            left, right = (
                token.encode("latin-1") if is_latin_1 else from_characters(token)
                for token in tokens
            )
        except (FormatError, UnicodeEncodeError) as error:
            raise FormatError(f"{path}:{number}: {error}") from None
        yield left, right

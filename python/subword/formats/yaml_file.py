r"""YAML that a person can read and that loses no byte.

    format: subword
    version: 1
    model: bpe
    whole_first: false
    pattern: gpt2
    sizes: {vocab: 257, special_tokens: 1, merges: 1}
    special_tokens:
      - [257, '<|endoftext|>']
    training: {ties: greatest, min_frequency: 1}
    vocab:
      0: '\x00'
      ...
      258: ' t'
    merges:
      - [' ', 't', 1234]

A special token may have a list of flags after it, those of ``TokenFlags`` that are not as by
default; ``added`` is a token that is not special. Tokens stand in single quotes, in which YAML
itself changes nothing but a doubled quote. Their text is UTF-8 as it is; ``\\`` is a backslash,
``\n``, ``\r`` and ``\t`` are line breaks and tabs, ``\xNN`` is the byte NN, and ``\u{N}`` a
character that does not print. The third part of a merge, which only trained tokenizers have, is
how often its pair occurred.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields
from os import PathLike
from typing import Any, Final, get_args

from subword.atomic_write import write_atomically
from subword.bpe_models import bpe_from_tokens
from subword.errors import FormatError
from subword.formats.json_file import checked, decode_text, read_bytes, refuse_others
from subword.formats.reach import byte_level_bpe
from subword.formats.yaml_text import parse_yaml
from subword.models import Bpe, Ties, Training
from subword.patterns import NAMED_PATTERNS, Pattern, pattern_name
from subword.special_tokens import TokenFlags
from subword.tokenizer import Tokenizer
from subword.types import TokenId

__all__ = ["read", "write"]

_FIELDS = {
    "format",
    "version",
    "model",
    "whole_first",
    "pattern",
    "sizes",
    "special_tokens",
    "training",
    "vocab",
    "merges",
}
_FLAGS: Final = tuple(field.name for field in fields(TokenFlags))
_ADDED: Final = "added"
_ESCAPES: Final = {"\\": "\\", "n": "\n", "r": "\r", "t": "\t"}
_ESCAPE_OF: Final = {character: f"\\{letter}" for letter, character in _ESCAPES.items()}
_ESCAPE = re.compile(
    r"\\(?:(?P<plain>[\\nrt])|x(?P<byte>[0-9a-f]{2})|u\{(?P<point>[0-9a-f]{1,6})\})|\\"
)


def read(path: str | PathLike[str]) -> Tokenizer:
    """Read a tokenizer.

    Raises:
        FormatError: Not such a file, or a damaged one, with its place.
        SubwordError: A vocabulary, pattern or special tokens that no tokenizer can have.
        SourceError: The file cannot be read.
    """
    place = str(path)
    root = checked(parse_yaml(decode_text(read_bytes(path), path), place), dict, place)
    for name, expected in {"format": "subword", "version": 1, "model": "bpe"}.items():
        if root.get(name) != expected:
            raise FormatError(f"{place}: {name} is {root.get(name)!r:.40}; expected {expected!r}")
    refuse_others(root, _FIELDS, place)
    vocab = _read_vocab(root.get("vocab"), f"{place}: vocab")
    merges, counts = _read_merges(root.get("merges"), f"{place}: merges")
    special, flags = _read_special(root.get("special_tokens"), f"{place}: special_tokens")
    sizes = {"vocab": len(vocab), "special_tokens": len(special), "merges": len(merges)}
    if root.get("sizes") != sizes:
        raise FormatError(
            f"{place}: sizes are given as {root.get('sizes')!r:.80}, but the file has {sizes}; it "
            "may be cut short"
        )
    plain = bpe_from_tokens(vocab, merges)
    model = Bpe(
        plain.vocab,
        plain.merges,
        whole_first=checked(root.get("whole_first"), bool, f"{place}: whole_first"),
        training=_read_training(root.get("training"), counts, f"{place}: training"),
    )
    pattern = _read_pattern(root.get("pattern"), f"{place}: pattern")
    return Tokenizer(model, special, pattern, token_flags=flags)


def write(tokenizer: Tokenizer, path: str | PathLike[str]) -> None:
    """Write a tokenizer of byte-level BPE; it is read back equal.

    Raises:
        FormatError: Another model, or a part that the file does not hold, with its name.
        OSError: The file cannot be written.
    """
    write_atomically(path, (f"{line}\n".encode() for line in _lines(tokenizer)))


def _lines(tokenizer: Tokenizer) -> Iterator[str]:
    model, special = byte_level_bpe(tokenizer, "YAML", flags=_FLAGS), tokenizer.special_tokens
    yield "# A tokenizer of the Python package subword. In tokens, \\xNN is a byte."
    yield "format: subword"
    yield "version: 1"
    yield "model: bpe"
    yield f"whole_first: {str(model.whole_first).lower()}"
    name = pattern_name(tokenizer.pattern)
    if name is not None:
        yield f"pattern: {name}"
    else:
        yield "pattern:"
        yield from (f"  - {_quoted_regex(part)}" for part in tokenizer.pattern)
    yield (
        f"sizes: {{vocab: {len(model.vocab)}, special_tokens: {len(special)}, "
        f"merges: {len(model.merges)}}}"
    )
    special_lines = (
        f"  - [{at}, {_quoted(text.encode())}{_flag_names(tokenizer.token_flags.get(text))}]"
        for text, at in special.items()
    )
    yield from _block("special_tokens", special_lines, "[]")
    training = model.training
    if training is not None:
        yield f"training: {{ties: {training.ties}, min_frequency: {training.min_frequency}}}"
    vocab_lines = (f"  {at}: {_quoted(token)}" for at, token in model.vocab.items())
    yield from _block("vocab", vocab_lines, "{}")
    yield from _block("merges", _merge_lines(tokenizer), "[]")


def _block(name: str, lines: Iterable[str], empty: str) -> Iterator[str]:
    found = list(lines)
    yield f"{name}:" if found else f"{name}: {empty}"
    yield from found


def _merge_lines(tokenizer: Tokenizer) -> Iterator[str]:
    counts = tokenizer.merge_counts
    for rank, (left, right) in enumerate(tokenizer.merges):
        count = "" if counts is None else f", {counts[rank]}"
        yield f"  - [{_quoted(left)}, {_quoted(right)}{count}]"


def _quoted(token: bytes) -> str:
    r"""Write bytes as a YAML scalar.

    Examples:
        >>> print(_quoted(b"it's \n \xff\\ \xe4\xbd\xa0"))
        'it''s \n \xff\\ 你'
    """
    # surrogateescape turns each byte that is not UTF-8 into a surrogate of its own
    text = token.decode("utf-8", "surrogateescape")
    if not text.isprintable() or "\\" in text:
        text = "".join(map(_escaped, text))
    return "'" + text.replace("'", "''") + "'"


def _quoted_regex(part: str) -> str:
    """Write a regular expression, which has escapes of its own, as YAML's."""
    return "'" + part.replace("'", "''") + "'" if part.isprintable() else json.dumps(part)


def _escaped(character: str) -> str:
    point = ord(character)
    if character in _ESCAPE_OF:
        return _ESCAPE_OF[character]
    if 0xDC80 <= point <= 0xDCFF:
        return f"\\x{point - 0xDC00:02x}"
    if character.isprintable():
        return character
    return f"\\x{point:02x}" if point < 0x80 else f"\\u{{{point:x}}}"


def _unquoted(text: object, place: str) -> bytes:
    text = checked(text, str, place)
    try:
        if "\\" not in text:
            return text.encode()
        return b"".join(_pieces(text))
    except ValueError as error:
        raise FormatError(f"{place}: {text!r:.60} has {error}") from None


def _pieces(text: str) -> Iterator[bytes]:
    at = 0
    for found in _ESCAPE.finditer(text):
        yield text[at : found.start()].encode()
        at = found.end()
        if found["plain"] is not None:
            yield _ESCAPES[found["plain"]].encode()
        elif found["byte"] is not None:
            yield bytes.fromhex(found["byte"])
        elif found["point"] is not None:
            yield chr(int(found["point"], 16)).encode()
        else:
            raise ValueError(
                rf"a backslash at {found.start()} that starts none of \\, \n, \r, \t, \xNN, \u{{N}}"
            )
    yield text[at:].encode()


def _read_vocab(found: Any, place: str) -> dict[TokenId, bytes]:
    entries = checked(found, dict, place)
    return {
        checked(token_id, int, place): _unquoted(text, f"{place}[{token_id}]")
        for token_id, text in entries.items()
    }


def _read_merges(found: Any, place: str) -> tuple[list[tuple[bytes, bytes]], list[int]]:
    merges: list[tuple[bytes, bytes]] = []
    counts: list[int] = []
    for rank, item in enumerate(checked(found, list, place)):
        item_place = f"{place}[{rank}]"
        parts = checked(item, list, item_place)
        if len(parts) not in (2, 3):
            raise FormatError(f"{item_place}: expected two tokens and a count, got {parts!r:.60}")
        merges.append((_unquoted(parts[0], item_place), _unquoted(parts[1], item_place)))
        if len(parts) == 3:
            counts.append(checked(parts[2], int, item_place))
    return merges, _complete(counts, merges, place)


def _complete(counts: list[int], merges: list[tuple[bytes, bytes]], place: str) -> list[int]:
    if counts and len(counts) != len(merges):
        raise FormatError(f"{place}: {len(counts)} of {len(merges)} merges have a count")
    return counts


def _flag_names(flags: TokenFlags | None) -> str:
    """Give the flags that are not as they are by default; ``added`` is what is not special."""
    if flags is None:
        return ""
    names = [] if flags.special else [_ADDED]
    names += [name for name in _FLAGS[1:] if getattr(flags, name)]
    return f", [{', '.join(names)}]"


def _read_flags(found: Any, place: str) -> TokenFlags:
    names = checked(found, list, place)
    unknown = [name for name in names if name not in (_ADDED, *_FLAGS[1:])]
    if unknown or len(set(names)) != len(names):
        raise FormatError(
            f"{place}: expected flags, each once, of {_ADDED}, {', '.join(_FLAGS[1:])}; got "
            f"{names!r:.60}"
        )
    return TokenFlags(special=_ADDED not in names, **{n: True for n in names if n != _ADDED})


def _read_special(found: Any, place: str) -> tuple[dict[str, TokenId], dict[str, TokenFlags]]:
    special: dict[str, TokenId] = {}
    flags: dict[str, TokenFlags] = {}
    for at, item in enumerate(checked(found, list, place)):
        item_place = f"{place}[{at}]"
        parts = checked(item, list, item_place)
        if len(parts) not in (2, 3):
            raise FormatError(
                f"{item_place}: expected an id, a token and its flags, if any; got {parts!r:.60}"
            )
        try:
            text = _unquoted(parts[1], item_place).decode()
        except UnicodeDecodeError as error:
            raise FormatError(f"{item_place}: a special token must be UTF-8: {error}") from error
        if text in special:
            raise FormatError(f"{item_place}: {text!r:.40} is given twice")
        special[text] = checked(parts[0], int, item_place)
        if len(parts) == 3:
            flags[text] = _read_flags(parts[2], item_place)
    return special, flags


def _read_training(found: Any, counts: list[int], place: str) -> Training | None:
    if found is None:
        if counts:
            raise FormatError(f"{place} is missing, but the merges have counts")
        return None
    fields: Mapping[str, Any] = checked(found, dict, place)
    refuse_others(fields, {"ties", "min_frequency"}, place)
    ties: Any = fields.get("ties")
    if ties not in get_args(Ties):
        raise FormatError(f"{place}.ties is {ties!r:.40}; expected one of {get_args(Ties)}")
    least = checked(fields.get("min_frequency"), int, f"{place}.min_frequency")
    return Training(ties, tuple(counts), least)


def _read_pattern(found: Any, place: str) -> Pattern:
    if type(found) is str:
        if found not in NAMED_PATTERNS:
            raise FormatError(
                f"{place} is {found!r:.40}; expected one of {', '.join(NAMED_PATTERNS)}, or a list "
                "of regular expressions"
            )
        return NAMED_PATTERNS[found]
    parts = checked(found, list, place)
    return tuple(checked(part, str, f"{place}[{at}]") for at, part in enumerate(parts))

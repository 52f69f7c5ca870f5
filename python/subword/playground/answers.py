"""What the page asks of a tokenizer, answered with plain data."""

import unicodedata
from collections.abc import Sequence
from typing import Any, Final, Literal

from subword.playground.catalog import Entry
from subword.types import TokenId

__all__ = ["bytes_checked", "characters", "count_lines", "decoded", "encoded"]

MAX_CHARACTERS: Final = 1_000
"""Characters that are described one by one."""


def encoded(entry: Entry, text: str, special: Literal["recognize", "as_text"]) -> dict[str, Any]:
    """Encode a text.

    Returns:
        ``ids``; ``starts`` and ``ends``, in bytes of the text's UTF-8; ``tokens``, the bytes in
        hexadecimal of those ids that have no stretch of the text to themselves.

    Raises:
        SubwordError: As ``Tokenizer.encode_spans``.
    """
    encoding = entry.tokenizer.encode_spans(text, special=special)
    tokens: dict[TokenId, str] = {}
    done = 0
    for token_id, (start, end) in zip(encoding.ids, encoding.byte_spans, strict=True):
        if (start < done or start == end) and token_id not in tokens:
            tokens[token_id] = entry.tokenizer.token_bytes(token_id).hex()
        done = max(done, end)
    return {
        "ids": encoding.ids,
        "starts": [start for start, _ in encoding.byte_spans],
        "ends": [end for _, end in encoding.byte_spans],
        "tokens": tokens,
        "n_bytes": len(text.encode()),
        "n_characters": len(text),
    }


def decoded(entry: Entry, ids: Sequence[TokenId]) -> dict[str, Any]:
    """Decode ids.

    Returns:
        ``text``, what ``Tokenizer.decode`` gives; and as ``encoded``, with the tokens' own bytes
        laid end to end as ``hex`` in place of the text.

    Raises:
        UnknownTokenIdError: An id outside the vocabulary.
    """
    tok = entry.tokenizer
    text = tok.decode(ids)
    tokens = [tok.token_bytes(token_id) for token_id in ids]
    starts, ends, done = [], [], 0
    for token in tokens:
        starts.append(done)
        done += len(token)
        ends.append(done)
    return {
        "ids": list(ids),
        "starts": starts,
        "ends": ends,
        "tokens": {},
        "hex": b"".join(tokens).hex(),
        "text": text,
        "n_bytes": len(text.encode()),
        "n_characters": len(text),
    }


def count_lines(entries: Sequence[Entry], lines: Sequence[str]) -> dict[str, Any]:
    """Count the tokens of each line: ``counts[i][j]`` is tokenizer i on line j."""
    counts = []
    for entry in entries:
        bounds = entry.tokenizer.encode_batch(lines, n_threads=1).bounds
        counts.append((bounds[1:] - bounds[:-1]).tolist())
    return {"counts": counts}


def characters(text: str) -> dict[str, Any]:
    """Describe the characters of a text, the first ``MAX_CHARACTERS`` of them.

    Examples:
        >>> row = characters("é")["characters"][0]
        >>> row["name"], row["utf_8"], row["utf_16"], row["utf_32"]
        ('LATIN SMALL LETTER E WITH ACUTE', 'c3a9', '00e9', '000000e9')
    """
    return {
        "characters": [_character(char) for char in text[:MAX_CHARACTERS]],
        "n_characters": len(text),
        "unicode": unicodedata.unidata_version,
    }


def bytes_checked(data: bytes) -> dict[str, Any]:
    r"""Say which parts of a byte string are UTF-8, and what is wrong with the others.

    Examples:
        >>> [part["problem"] for part in bytes_checked(b"a\xff")["parts"]]
        [None, 'invalid start byte']
    """
    parts: list[dict[str, Any]] = []
    done = 0
    while done < len(data):
        try:
            valid, problem, end = data[done:].decode(), None, len(data)
        except UnicodeDecodeError as error:
            valid = data[done : done + error.start].decode()
            problem = (done + error.start, done + error.end, error.reason)
            end = done + error.end
        for char in valid:
            length = len(char.encode())
            parts.append({"start": done, "problem": None, **_character(char)})
            done += length
        if problem is not None:
            start, stop, reason = problem
            parts.append({"start": start, "problem": reason, "utf_8": data[start:stop].hex()})
        done = end
    return {"parts": parts, "n_bytes": len(data), "valid": all(p["problem"] is None for p in parts)}


def _character(char: str) -> dict[str, Any]:
    return {
        "code_point": ord(char),
        "name": unicodedata.name(char, None),
        "category": unicodedata.category(char),
        "utf_8": char.encode().hex(),
        "utf_16": char.encode("utf-16-be").hex(),
        "utf_32": char.encode("utf-32-be").hex(),
    }

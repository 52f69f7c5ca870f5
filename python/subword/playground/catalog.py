"""The tokenizers that a page is about, and what is known of each of their tokens."""

import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple

from subword.models import Bpe, CharacterBpe, Pieces, Unigram
from subword.patterns import pattern_name
from subword.tokenizer import Tokenizer
from subword.types import TokenId

__all__ = ["Entry", "Origin", "make_entry", "summary", "token_facts", "unique_names"]

_MAX_NODES: Final = 255
"""Tokens in a merge tree that is sent; the rest are shown whole."""

_MAX_CHARACTERS: Final = 32
_GENERIC: Final = {"tokenizer", "vocab", "merges", "spiece", "sentencepiece"}


class Origin(NamedTuple):
    """The merge that makes a token first."""

    rank: int
    left: TokenId
    right: TokenId


@dataclass(frozen=True)
class Entry:
    """A tokenizer of the page.

    Attributes:
        name: What the page calls it; no two are the same.
        tokenizer: The tokenizer.
        origins: The merge of each token that is made by one.
    """

    name: str
    tokenizer: Tokenizer
    origins: Mapping[TokenId, Origin]


def make_entry(name: str, tokenizer: Tokenizer) -> Entry:
    """Give a tokenizer its name, and look up what its merges make."""
    return Entry(name, tokenizer, _origins(tokenizer))


def unique_names(paths: Iterable[Path]) -> list[str]:
    """Name files by their stem, or by their folder where that says nothing; no name twice.

    Examples:
        >>> unique_names([Path("gpt2/tokenizer.json"), Path("a/mine.json"), Path("b/mine.yaml")])
        ['gpt2', 'mine', 'mine 2']
    """
    names: list[str] = []
    for path in paths:
        stem = path.stem or path.name
        name = path.absolute().parent.name if stem in _GENERIC else stem
        name, number = name or stem, 1
        taken = name
        while taken in names:
            number += 1
            taken = f"{name} {number}"
        names.append(taken)
    return names


def summary(entry: Entry) -> dict[str, Any]:
    """Give what the page says of a tokenizer as a whole."""
    tok = entry.tokenizer
    return {
        "name": entry.name,
        "model": type(tok.model).__name__,
        "vocab_size": tok.vocab_size,
        "n_merges": len(tok.merges),
        "pattern": pattern_name(tok.pattern) or list(tok.pattern),
        "special_tokens": dict(tok.special_tokens),
        "can_trace": isinstance(tok.model, Bpe) and not tok.normalizer and tok.pretokenizer is None,
    }


def token_facts(entry: Entry, token_id: TokenId) -> dict[str, Any]:
    """Give everything that is known of a token.

    Raises:
        UnknownTokenIdError: The id has no token.
    """
    tok = entry.tokenizer
    token = tok.token_bytes(token_id)
    origin = entry.origins.get(token_id)
    counts = tok.merge_counts
    return {
        "id": token_id,
        "hex": token.hex(),
        "kind": _kind(entry, token_id),
        "rank": None if origin is None else origin.rank,
        "count": None if origin is None or counts is None else counts[origin.rank],
        "score": _score(tok, token_id),
        "characters": [
            {"code_point": ord(char), "name": unicodedata.name(char, None)}
            for char in token.decode("utf-8", "ignore")[:_MAX_CHARACTERS]
        ],
        "tree": None if origin is None else _tree(entry, token_id),
    }


def _kind(entry: Entry, token_id: TokenId) -> str:
    tok = entry.tokenizer
    if token_id in tok.special_tokens.values():
        return "special"
    if token_id in entry.origins:
        return "merge"
    if isinstance(tok.model, Bpe):
        return "byte" if len(tok.token_bytes(token_id)) == 1 else "token"
    if isinstance(tok.model, Unigram | Pieces) and token_id < len(tok.model.pieces):
        kind = tok.model.pieces[token_id].kind
        return "piece" if kind == "normal" else kind
    return "token"


def _score(tok: Tokenizer, token_id: TokenId) -> float | None:
    if isinstance(tok.model, Unigram | Pieces) and token_id < len(tok.model.pieces):
        return tok.model.pieces[token_id].score
    return None


def _origins(tok: Tokenizer) -> dict[TokenId, Origin]:
    model = tok.model
    if not isinstance(model, Bpe | CharacterBpe):
        return {}
    prefix = model.continuing_subword_prefix.encode() if isinstance(model, CharacterBpe) else b""
    ids = {token: token_id for token_id, token in model.vocab.items()}
    origins: dict[TokenId, Origin] = {}
    for rank, (left, right) in enumerate(model.merges):
        made = ids.get(model.vocab[left] + model.vocab[right].removeprefix(prefix))
        if made is not None:
            origins.setdefault(made, Origin(rank, left, right))
    return origins


def _tree(entry: Entry, token_id: TokenId) -> list[dict[str, Any]]:
    """Give the nodes of a merge tree, the root first; ``left`` and ``right`` are places in it."""
    nodes: list[dict[str, Any]] = []
    waiting: list[tuple[TokenId, int, str]] = [(token_id, -1, "")]
    for at, (made, parent, side) in enumerate(waiting):
        nodes.append({"id": made, "hex": entry.tokenizer.token_bytes(made).hex(), "rank": None})
        if parent >= 0:
            nodes[parent][side] = at
        origin = entry.origins.get(made)
        if origin is not None and len(waiting) + 2 <= _MAX_NODES:
            nodes[at]["rank"] = origin.rank
            # The list that is walked grows: its order is the order of the nodes.
            waiting += [(origin.left, at, "left"), (origin.right, at, "right")]
    return nodes

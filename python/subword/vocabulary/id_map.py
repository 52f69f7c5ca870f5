"""Which id each token had and has: what the rows of an embedding matrix follow."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike
from typing import Any, Final, Literal

from subword.atomic_write import whole_file
from subword.errors import FormatError
from subword.models import Pieces, Unigram
from subword.tokenizer import Tokenizer
from subword.types import TokenId

__all__ = ["IdMap", "Status", "id_map_of"]

Status = Literal["kept", "moved", "added", "removed"]
"""What became of a token: the same id, another id, new, or gone."""

_VERSION: Final = 1


@dataclass(frozen=True, slots=True)
class IdMap:
    """The ids of a tokenizer before and after a change.

    Attributes:
        old_size: ``vocab_size`` before.
        new_size: ``vocab_size`` after.
        old_to_new: New id of each old id; None for a token that is gone. Ids without a token
            are left out.
        pieces: Old ids of the text of each added token, by its new id, in the order of the text.
        n_bytes: Bytes of each of these pieces, in the same order.

    Examples:
        >>> id_map = IdMap(3, 3, {0: 0, 1: None, 2: 1}, {2: (0, 2)}, {2: (1, 4)})
        >>> [id_map.status(old_id) for old_id in range(3)]
        ['kept', 'removed', 'moved']
    """

    old_size: int
    new_size: int
    old_to_new: Mapping[TokenId, TokenId | None]
    pieces: Mapping[TokenId, tuple[TokenId, ...]]
    n_bytes: Mapping[TokenId, tuple[int, ...]]

    def status(self, old_id: TokenId) -> Status:
        """Tell what became of an old id; a ``KeyError`` for one that had no token."""
        new_id = self.old_to_new[old_id]
        if new_id is None:
            return "removed"
        return "kept" if new_id == old_id else "moved"

    def counts(self) -> dict[Status, int]:
        """Give the number of tokens of each status."""
        found: dict[Status, int] = {"kept": 0, "moved": 0, "added": len(self.pieces), "removed": 0}
        for old_id in self.old_to_new:
            found[self.status(old_id)] += 1
        return found

    def save(self, path: str | PathLike[str]) -> None:
        """Write the map as JSON, whole or not at all.

        Raises:
            OSError: The file cannot be written.
        """
        old = [[old, new, self.status(old)] for old, new in sorted(self.old_to_new.items())]
        added = [
            {"id": at, "status": "added", "pieces": self.pieces[at], "n_bytes": self.n_bytes[at]}
            for at in sorted(self.pieces)
        ]
        content = {
            "format": "subword id map",
            "version": _VERSION,
            "old_size": self.old_size,
            "new_size": self.new_size,
            "old": old,
            "added": added,
        }
        with whole_file(path) as file:
            file.write(json.dumps(content).encode())

    @classmethod
    def load(cls, path: str | PathLike[str]) -> "IdMap":
        """Read what ``save`` wrote.

        Raises:
            FormatError: The file is damaged, or is no such map.
            OSError: The file cannot be read.
        """
        with open(path, "rb") as file:  # noqa: PTH123
            data = file.read()
        try:
            content = json.loads(data)
            if content["format"] != "subword id map" or content["version"] != _VERSION:
                raise FormatError(f"{path}: expected a subword id map of version {_VERSION}")
            return _checked(content, path)
        except (KeyError, TypeError, ValueError, RecursionError) as error:
            if isinstance(error, FormatError):
                raise
            raise FormatError(f"{path}: no id map of subword ({error!r:.80})") from error


def id_map_of(
    old: Tokenizer, new: Tokenizer, old_to_new: Mapping[TokenId, TokenId | None]
) -> IdMap:
    """Give the map of a change, with the old pieces of each token that is new.

    Args:
        old: The tokenizer before.
        new: The tokenizer after.
        old_to_new: New id of each old id; None for a token that is gone.
    """
    taken = {new_id for new_id in old_to_new.values() if new_id is not None}
    lengths = {at: len(token) for at, token in old.model.vocab.items()}
    if isinstance(old.model, Unigram | Pieces):
        bytes_ = (at for at, piece in enumerate(old.model.pieces) if piece.kind == "byte")
        lengths.update(dict.fromkeys(bytes_, 1))
    pieces: dict[TokenId, tuple[TokenId, ...]] = {}
    n_bytes: dict[TokenId, tuple[int, ...]] = {}
    # A token is part of a pre-token: neither the pattern nor special tokens may cut it.
    alone = Tokenizer(old.model)
    for new_id, token in new.vocab.items():
        if new_id not in taken:
            ids = alone.encode(token)
            pieces[new_id] = tuple(ids)
            n_bytes[new_id] = tuple(lengths[at] for at in ids)
    return IdMap(old.vocab_size, new.vocab_size, dict(old_to_new), pieces, n_bytes)


def _checked(content: Mapping[str, Any], path: str | PathLike[str]) -> IdMap:
    old_size, new_size = int(content["old_size"]), int(content["new_size"])
    old_to_new = {_id(old, old_size): _place(new, new_size) for old, new, _ in content["old"]}
    places = [new for new in old_to_new.values() if new is not None]
    pieces: dict[int, tuple[int, ...]] = {}
    n_bytes: dict[int, tuple[int, ...]] = {}
    for row in content["added"]:
        at = _id(row["id"], new_size)
        pieces[at] = tuple(_id(piece, old_size) for piece in row["pieces"])
        n_bytes[at] = tuple(int(n) for n in row["n_bytes"])
        if len(pieces[at]) != len(n_bytes[at]) or not all(n > 0 for n in n_bytes[at]):
            raise FormatError(f"{path}: new id {at} has n_bytes that do not fit its pieces")
    places += list(pieces)
    if len(set(places)) != len(places) or len(pieces) != len(content["added"]):
        raise FormatError(f"{path}: a new id stands twice; each has one token")
    return IdMap(old_size, new_size, old_to_new, pieces, n_bytes)


def _place(value: object, size: int) -> int | None:
    return None if value is None else _id(value, size)


def _id(value: object, size: int) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < size:
        raise ValueError(f"id {value!r:.40} is not from 0 to {size - 1}")
    return value

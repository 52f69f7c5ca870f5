"""The vocabulary of a ``tokenizer.json`` that Rust has read, without an object for each token."""

from collections.abc import ItemsView, Iterator, Mapping

from subword import _core
from subword.types import TokenId

__all__ = ["TabledVocab", "tabled_vocab"]


class TabledVocab(Mapping[str, TokenId]):
    """The id of each token as it is written; nothing is wrong with them.

    Attributes:
        tables: What was read.
    """

    __slots__ = ("_all", "tables")

    def __init__(self, tables: _core.JsonTables) -> None:
        self.tables = tables
        self._all: dict[str, TokenId] | None = None

    def whole(self) -> dict[str, TokenId]:
        """Give all ids, in the order of the file."""
        if self._all is None:
            self._all = self.tables.vocab() or {}
        return self._all

    def __getitem__(self, token: str) -> TokenId:
        """Give an id; a ``KeyError`` for what is no token."""
        token_id = self.tables.id_of(token) if isinstance(token, str) else None
        if token_id is None:
            raise KeyError(token)
        return token_id

    def __iter__(self) -> Iterator[str]:
        """Give the tokens."""
        return iter(self.whole())

    def __len__(self) -> int:
        """Give the number of tokens."""
        return self.tables.n_tokens

    def items(self) -> ItemsView[str, TokenId]:
        """Give tokens and ids."""
        return self.whole().items()


def tabled_vocab(tables: _core.JsonTables) -> Mapping[str, TokenId] | None:
    """Give the vocabulary of a file; None where a token stands twice."""
    return TabledVocab(tables) if tables.has_merges else tables.vocab()

"""What a compiled model holds, seen as the data it was compiled from.

A large vocabulary loads many times faster where no object is made for each token and merge.
"""

from collections.abc import ItemsView, Iterator, KeysView, Mapping, Sequence, ValuesView
from typing import Any

from subword import _core
from subword.types import Pair, TokenId

__all__ = ["CompiledMerges", "CompiledVocabulary"]


class CompiledVocabulary(Mapping[TokenId, bytes]):
    """The tokens that a compiled model holds, in the order of their ids."""

    __slots__ = ("_all", "compiled")

    def __init__(self, compiled: _core.Bpe) -> None:
        self.compiled = compiled
        self._all: dict[TokenId, bytes] | None = None

    def whole(self) -> dict[TokenId, bytes]:
        """Give all tokens; the dict is kept, and not to be changed."""
        if self._all is None:
            self._all = self.compiled.vocab()
        return self._all

    def __getitem__(self, token_id: TokenId) -> bytes:
        """Give a token; a ``KeyError`` for an id that none has."""
        is_id = isinstance(token_id, int) and 0 <= token_id < 2**32
        token = self.compiled.token(token_id) if is_id else None
        if token is None:
            raise KeyError(token_id)
        return token

    def __iter__(self) -> Iterator[TokenId]:
        """Give the ids."""
        return iter(self.whole())

    def __len__(self) -> int:
        """Give the number of tokens."""
        return self.compiled.n_tokens

    def keys(self) -> KeysView[TokenId]:
        """Give the ids."""
        return self.whole().keys()

    def values(self) -> ValuesView[bytes]:
        """Give the tokens."""
        return self.whole().values()

    def items(self) -> ItemsView[TokenId, bytes]:
        """Give ids and tokens."""
        return self.whole().items()

    def __eq__(self, other: object) -> bool:
        """Compare as a dict does."""
        if isinstance(other, CompiledVocabulary):
            return self.compiled is other.compiled or self.whole() == other.whole()
        return self.whole() == other

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        """Show all tokens."""
        return repr(self.whole())

    def __reduce__(self) -> tuple[object, ...]:
        """Become a dict elsewhere."""
        return dict, (self.whole(),)


class CompiledMerges(Sequence[Pair]):
    """The merges that a compiled model holds, as pairs of ids in the order of their ranks."""

    __slots__ = ("_all", "compiled")

    def __init__(self, compiled: _core.Bpe) -> None:
        self.compiled = compiled
        self._all: tuple[Pair, ...] | None = None

    def whole(self) -> tuple[Pair, ...]:
        """Give all merges; they are made once."""
        if self._all is None:
            self._all = tuple(self.compiled.merges())
        return self._all

    def __getitem__(self, rank: Any) -> Any:
        """Give a merge, or those of a slice."""
        return self.whole()[rank]

    def __iter__(self) -> Iterator[Pair]:
        """Give the merges."""
        return iter(self.whole())

    def __len__(self) -> int:
        """Give the number of merges."""
        return self.compiled.n_merges

    def __eq__(self, other: object) -> bool:
        """Compare as a tuple does."""
        if isinstance(other, CompiledMerges):
            return self.compiled is other.compiled or self.whole() == other.whole()
        return self.whole() == other

    def __hash__(self) -> int:
        """Hash as a tuple does."""
        return hash(self.whole())

    def __repr__(self) -> str:
        """Show all merges."""
        return repr(self.whole())

    def __reduce__(self) -> tuple[object, ...]:
        """Become a tuple elsewhere."""
        return tuple, (self.whole(),)

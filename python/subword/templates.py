"""Templates: which special tokens stand around the ids of one text, or of two."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from subword.errors import ArgumentError, SpecialTokenError
from subword.types import TokenId

__all__ = ["Template", "TemplatePart"]


@dataclass(frozen=True, slots=True)
class TemplatePart:
    """One part of a template.

    Attributes:
        token: A special token; None for the ids of a text.
        text: Which text: 0 the first, 1 the second.
        type_id: The segment number of the part's ids, as BERT has them.
    """

    token: str | None = None
    text: int = 0
    type_id: int = 0


@dataclass(frozen=True, slots=True)
class Template:
    """What stands around one text, and how two are joined.

    Attributes:
        single: Parts for one text; empty adds nothing.
        pair: Parts for two texts; empty refuses a second one.

    Examples:
        >>> bert = Template.parse("[CLS] A [SEP]", "[CLS] A [SEP] B:1 [SEP]:1")
        >>> bert.apply([7, 8], [9], {"[CLS]": 1, "[SEP]": 2})
        ([1, 7, 8, 2, 9, 2], [0, 0, 0, 0, 1, 1])
    """

    single: tuple[TemplatePart, ...] = ()
    pair: tuple[TemplatePart, ...] = ()

    @classmethod
    def parse(cls, single: str, pair: str = "") -> "Template":
        """Read templates written as words: ``A`` and ``B`` are the texts, ``:n`` a type id."""
        return cls(tuple(map(_part, single.split())), tuple(map(_part, pair.split())))

    def apply(
        self,
        ids: list[TokenId],
        pair: list[TokenId] | None,
        special_tokens: Mapping[str, TokenId],
    ) -> tuple[list[TokenId], list[int]]:
        """Put ids into the template; give the whole and the type id of each.

        Raises:
            ArgumentError: A second text, where the template joins none.
        """
        parts = self.single if pair is None else self.pair
        if pair is not None and not parts:
            raise ArgumentError("this tokenizer has no template that joins a pair of texts")
        if not parts:
            return ids, [0] * len(ids)
        texts = (ids, pair or [])
        whole: list[TokenId] = []
        type_ids: list[int] = []
        for part in parts:
            added = texts[part.text] if part.token is None else [special_tokens[part.token]]
            whole.extend(added)
            type_ids.extend([part.type_id] * len(added))
        return whole, type_ids

    def check(self, special_tokens: Iterable[str]) -> None:
        """Refuse a template that names unknown tokens.

        Raises:
            SpecialTokenError: The name, and those that are known.
        """
        known = set(special_tokens)
        for part in self.single + self.pair:
            if part.token is not None and part.token not in known:
                raise SpecialTokenError(
                    f"the template names {part.token!r:.40}, which is no special token of this "
                    f"tokenizer; it has {', '.join(sorted(known)) or 'none'}"
                )


def _part(word: str) -> TemplatePart:
    name, _, type_id = word.rpartition(":")
    if not name or not type_id.isdigit():
        name, type_id = word, "0"
    if name in ("A", "B"):
        return TemplatePart(None, int(name == "B"), int(type_id))
    return TemplatePart(name, 0, int(type_id))

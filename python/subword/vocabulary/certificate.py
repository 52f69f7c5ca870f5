"""What a changed tokenizer is held to, and how it did."""

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Literal

from subword.errors import ArgumentError, BrokenLawError
from subword.types import TokenId

__all__ = [
    "LAWS",
    "Certificate",
    "Law",
    "LawName",
    "Moved",
    "SourceChange",
    "Unreachable",
    "check_allowed",
]

LawName = Literal["ids", "coarsening", "untouched", "reachability", "collisions", "round_trip"]
"""``ids``: old ids stay, or move only as the id map says. ``coarsening``: the new tokens of a
text are old ones joined, save where it was unknown. ``untouched``: a text whose old ids are all
kept has the same tokens. ``reachability``: each new token is the encoding of its own text, and
none lost that. ``collisions``: no two tokens are equal, and none spells a special token.
``round_trip``: hostile text decodes to what it decoded to before."""

LAWS: tuple[LawName, ...] = (
    "ids",
    "coarsening",
    "untouched",
    "reachability",
    "collisions",
    "round_trip",
)
"""The names, in the order in which certificates list them."""


@dataclass(frozen=True, slots=True)
class Law:
    """One law and how it did.

    Attributes:
        name: Which law.
        state: ``"proved"`` where a rule of the model makes it hold on every text, ``"checked"``
            where it held on the texts looked at, ``"broken"`` otherwise.
        detail: What was looked at, or what broke it.
    """

    name: LawName
    state: Literal["proved", "checked", "broken"]
    detail: str


@dataclass(frozen=True, slots=True)
class SourceChange:
    """One source under the old and the new tokenizer.

    Attributes:
        name: Its name.
        n_documents: Documents, or distinct pre-tokens of counts.
        n_bytes: UTF-8 bytes.
        n_tokens_before: Ids under the old tokenizer.
        n_tokens_after: Ids under the new one.
        n_changed: Documents whose tokens are others than before.
    """

    name: str
    n_documents: int
    n_bytes: int
    n_tokens_before: int
    n_tokens_after: int
    n_changed: int

    @property
    def bytes_per_token_before(self) -> float:
        """Mean UTF-8 bytes per token under the old tokenizer; NaN for no token."""
        return self.n_bytes / self.n_tokens_before if self.n_tokens_before else float("nan")

    @property
    def bytes_per_token_after(self) -> float:
        """Mean UTF-8 bytes per token under the new tokenizer; NaN for no token."""
        return self.n_bytes / self.n_tokens_after if self.n_tokens_after else float("nan")


@dataclass(frozen=True, slots=True)
class Unreachable:
    """A token that the encoding of its own text is not.

    Attributes:
        token_id: Its id in the new tokenizer.
        token: Its bytes.
        reason: ``"inside"`` where it comes up only inside a longer text, as part of a character
            or without the space that the normalizer adds; ``"pattern"`` where the split cuts it;
            ``"normalizer"`` where that changes it; ``"merges"`` where the model makes other
            tokens of its bytes; ``"special"`` where a special token is in it.
        is_added: Whether the change brought it.
    """

    token_id: TokenId
    token: bytes
    reason: Literal["inside", "pattern", "normalizer", "merges", "special"]
    is_added: bool


@dataclass(frozen=True, slots=True)
class Moved:
    """A place in which a text is cut where it was not.

    Attributes:
        source: The source that has it.
        before: What the old tokens of the place stand for, from one common border to the next.
        after: What the new ones do.
    """

    source: str
    before: tuple[str, ...]
    after: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Certificate:
    """What a change did to a tokenizer.

    Attributes:
        change: ``"extend"``, ``"merge"`` or ``"prune"``.
        old_size: ``vocab_size`` before.
        new_size: ``vocab_size`` after.
        n_added: Tokens that are new.
        n_removed: Tokens that are gone.
        n_moved: Tokens that have another id.
        laws: The laws that the change is held to.
        sources: Sizes of each source before and after.
        unreachable: Tokens that are not the encoding of their own text, in the order of the ids.
        moved: Up to ten places a source in which a text is cut where it was not.
    """

    change: str
    old_size: int
    new_size: int
    n_added: int
    n_removed: int
    n_moved: int
    laws: tuple[Law, ...]
    sources: tuple[SourceChange, ...]
    unreachable: tuple[Unreachable, ...]
    moved: tuple[Moved, ...] = ()

    @property
    def broken(self) -> tuple[Law, ...]:
        """The laws that do not hold."""
        return tuple(law for law in self.laws if law.state == "broken")

    def require(self, allow: Iterable[str] = ()) -> None:
        """Refuse the change unless each law holds or is allowed not to.

        Args:
            allow: Names of ``LAWS`` that may be broken.

        Raises:
            BrokenLawError: A law is broken and not allowed.
            ArgumentError: A name in ``allow`` that is no law.
        """
        allowed = check_allowed(allow)
        for law in self.broken:
            if law.name not in allowed:
                raise BrokenLawError(
                    f"the changed tokenizer breaks the law {law.name!r}: {law.detail}; pass "
                    f"allow=[{law.name!r}] to have it all the same"
                )

    def to_json(self) -> str:
        """Give the certificate as JSON: one object; bytes of tokens as hexadecimal."""
        content = asdict(self)
        for row, source in zip(content["sources"], self.sources, strict=True):
            row["bytes_per_token_before"] = _number(source.bytes_per_token_before)
            row["bytes_per_token_after"] = _number(source.bytes_per_token_after)
        for row, unreached in zip(content["unreachable"], self.unreachable, strict=True):
            row["token"] = unreached.token.hex()
        return json.dumps(
            {"format": "subword certificate", "version": 1, **content}, ensure_ascii=False
        )

    def __str__(self) -> str:
        """Give the certificate as a table for people."""
        head = (
            f"{self.change}: {self.old_size:,} → {self.new_size:,} ids; {self.n_added:,} added, "
            f"{self.n_removed:,} removed, {self.n_moved:,} moved"
        )
        laws = [f"  {law.name:<13} {law.state:<8} {law.detail}" for law in self.laws]
        sources = [_source_line(source) for source in self.sources]
        title = f"  {'source':<20} {'tokens before':>14} {'after':>14} {'change':>8}  bytes/token"
        places = [f"    {'|'.join(m.before)} → {'|'.join(m.after)}" for m in self.moved]
        rows = [title, *sources] if sources else []
        return "\n".join([head, "laws", *laws, *rows, *(["  moved", *places] if places else [])])


def check_allowed(allow: Iterable[str]) -> frozenset[str]:
    """Give the names of laws that may be broken.

    Raises:
        ArgumentError: A bare string, or a name that is no law.
    """
    names = [allow] if isinstance(allow, str) else list(allow)
    for name in names:
        if isinstance(allow, str) or name not in LAWS:
            raise ArgumentError(f"allow has {name!r:.40}; expected a list of {', '.join(LAWS)}")
    return frozenset(names)


def _number(value: float) -> float | None:
    return None if value != value else round(value, 4)


def _source_line(source: SourceChange) -> str:
    before, after = source.n_tokens_before, source.n_tokens_after
    change = f"{100 * (after / before - 1):+.1f} %" if before else "-"
    return (
        f"  {source.name:<20.20} {before:>14,} {after:>14,} {change:>8}  "
        f"{source.bytes_per_token_before:.2f} → {source.bytes_per_token_after:.2f}"
    )

"""What a conversion found, as data."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from subword.types import TokenId

__all__ = ["ConversionReport", "Difference"]

_SHOWN = 60


@dataclass(frozen=True, slots=True)
class Difference:
    """A place where a written file does not do what the tokenizer does.

    Attributes:
        reader: Who read the file: ``subword``, or the format's own library and its version.
        kind: ``"ids"`` of a text; ``"decoded"``, the text of its ids; ``"field"``, a part of the
            tokenizer; ``"refused"``, where the reader gave an error.
        text: The text; for a field its name, and for an error of the file nothing.
        at: The place of the first id that differs.
        char_span: The characters of the text that the token at that place stands for, before.
        expected: The ids before, from ``at`` on, at most eight; for others what there was.
        got: The ids after, in the same way.
    """

    reader: str
    kind: Literal["ids", "decoded", "field", "refused"]
    text: str = ""
    at: int = 0
    char_span: tuple[int, int] = (0, 0)
    expected: tuple[TokenId, ...] | str = ()
    got: tuple[TokenId, ...] | str = ()

    def __str__(self) -> str:
        """Say what differs and where, on one line."""
        before, after = _shown(self.expected), _shown(self.got)
        if self.kind == "field":
            return f"{self.text} is not held: {before} becomes {after}"
        if self.kind == "refused":
            where = f" the text {self._around()}" if self.text else " the file"
            return f"{self.reader} refuses{where}: {after}"
        if self.kind == "decoded":
            return f"{self.reader} decodes the ids of {self._around()} to {after}, not {before}"
        return (
            f"{self.reader} gives {after} for {before} from token {self.at} on, character "
            f"{self.char_span[0]}, of {self._around()}"
        )

    def to_dict(self) -> dict[str, Any]:
        """Give the fields, for JSON."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__}

    def _around(self) -> str:
        """Quote the part of the text that matters."""
        start = max(0, self.char_span[0] - _SHOWN // 3) if len(self.text) > _SHOWN else 0
        part = self.text[start : start + _SHOWN]
        before = "…" if start else ""
        after = "…" if start + _SHOWN < len(self.text) else ""
        return f"{before}{part!r}{after}"


@dataclass(frozen=True, slots=True)
class ConversionReport:
    """What ``subword.convert`` wrote, who read it, and what differs.

    Attributes:
        source: What was read.
        target: Where it was to be written.
        from_format: The format of the source; None where it was told by its content.
        to_format: The format written.
        n_texts: Texts compared.
        n_tokens: Ids compared, with each reader.
        n_refused: Texts that the tokenizer refuses before and after, such as those with a byte
            that its vocabulary lacks.
        readers: Who read the file and gave ids: subword, and the format's own library.
        not_read_by: The reason why no other library read it; empty where one did.
        outside: What the format's file does not hold, and ``load`` has to be told.
        differences: The first ones.
        n_differences: All of them.
        is_written: Whether there is a file now.
    """

    source: str
    target: str
    from_format: str | None
    to_format: str
    n_texts: int
    n_tokens: int
    n_refused: int
    readers: tuple[str, ...]
    not_read_by: str = ""
    outside: Mapping[str, Any] = field(default_factory=dict)
    differences: tuple[Difference, ...] = ()
    n_differences: int = 0
    is_written: bool = False

    def rows(self) -> list[tuple[str, object]]:
        """Give names and values, for printing."""
        rows: list[tuple[str, object]] = [
            ("source", self.source),
            ("target", self.target if self.is_written else f"{self.target} (not written)"),
            ("format", self.to_format),
            ("texts", self.n_texts),
            ("tokens", self.n_tokens),
            ("texts refused before and after", self.n_refused),
            ("read back by", ", ".join(self.readers)),
            ("not read by others", self.not_read_by or None),
            ("load needs", ", ".join(f"{name}=" for name in self.outside) or None),
            ("differences", self.n_differences),
        ]
        return [(name, value) for name, value in rows if value is not None]

    def __str__(self) -> str:
        """Give the rows and the differences as lines."""
        lines = [f"{name}: {value}" for name, value in self.rows()]
        return "\n".join([*lines, *(f"  {difference}" for difference in self.differences)])

    def to_dict(self) -> dict[str, Any]:
        """Give the fields, for JSON; of what ``load`` has to be told, the names."""
        named = {name: getattr(self, name) for name in self.__dataclass_fields__}
        named["outside"] = sorted(self.outside)
        named["differences"] = [difference.to_dict() for difference in self.differences]
        return named


def _shown(value: object) -> str:
    return f"{value:.{2 * _SHOWN}}" if isinstance(value, str) else str(list(value))  # type: ignore[call-overload]

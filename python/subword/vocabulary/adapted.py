"""A changed tokenizer with what is known about the change."""

from dataclasses import dataclass
from os import PathLike
from pathlib import Path

from subword.atomic_write import whole_file
from subword.errors import ArgumentError
from subword.formats import save
from subword.tokenizer import Tokenizer
from subword.vocabulary.certificate import Certificate
from subword.vocabulary.id_map import IdMap

__all__ = ["Adapted"]


@dataclass(frozen=True, slots=True)
class Adapted:
    """What ``extend``, ``merge`` and ``prune`` give.

    Attributes:
        tokenizer: The new tokenizer.
        id_map: Old ids to new ones, and the old pieces of new tokens.
        certificate: What changed and which laws hold.
        left_out: Tokens of the other tokenizer of a ``merge`` that no text could give here.
    """

    tokenizer: Tokenizer
    id_map: IdMap
    certificate: Certificate
    left_out: tuple[bytes, ...] = ()

    def save(self, folder: str | PathLike[str], name: str = "tokenizer.json") -> None:
        """Write the tokenizer, ``id_map.json`` and ``report.json`` into a folder.

        The tokenizer is written first: a format that cannot hold it leaves nothing behind.

        Args:
            folder: Where to write; made if it is not there.
            name: The tokenizer's file, whose ending tells the format as in ``subword.save``.

        Raises:
            ArgumentError: A name with a folder in it, or that of one of the other two files.
            FormatError: The format cannot hold the tokenizer.
            OSError: A file cannot be written.
        """
        if Path(name).name != name or name in ("id_map.json", "report.json"):
            raise ArgumentError(
                f"name is {name!r:.60}; give the tokenizer's file name alone, and no other file's"
            )
        place = Path(folder)
        is_new = not place.exists()
        place.mkdir(parents=True, exist_ok=True)
        try:
            save(self.tokenizer, place / name)
        except BaseException:
            if is_new:
                place.rmdir()
            raise
        self.id_map.save(place / "id_map.json")
        with whole_file(place / "report.json") as file:
            file.write(self.certificate.to_json().encode() + b"\n")

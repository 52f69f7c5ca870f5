"""Training shards: files of ids that training frameworks read, one module a format."""

from subword.shards.layouts import FORMATS
from subword.shards.opened import Shards, open_shards

__all__ = ["FORMATS", "Shards", "open"]

open = open_shards  # noqa: A001  # the name it has as subword.shards.open

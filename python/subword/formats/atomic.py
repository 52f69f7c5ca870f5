"""Write files that appear whole or not at all, from their parts."""

from collections.abc import Iterable
from os import PathLike

from subword.atomic_write import whole_file

__all__ = ["write_atomically"]


def write_atomically(path: str | PathLike[str], parts: Iterable[bytes]) -> None:
    """Write a file as ``subword.atomic_write.whole_file`` does.

    Args:
        path: Where the file is to be; its folder must exist.
        parts: The content, in order; an exception that they raise leaves what was at ``path``.

    Raises:
        OSError: The folder is missing or cannot be written to, the disk is full, or ``path`` is
            a directory.
    """
    with whole_file(path) as file:
        file.writelines(parts)

"""Files that appear whole or not at all."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from os import PathLike
from pathlib import Path
from typing import BinaryIO

__all__ = ["check_target", "whole_file"]


def check_target(path: str | PathLike[str]) -> Path:
    """Refuse a place where no file can be written, before the work that would fill it.

    Returns:
        The path, with symbolic links followed: what they point to is replaced, not they.

    Raises:
        OSError: A directory, or a path below something that is no directory.
    """
    target = Path(os.path.realpath(path))
    if target.is_dir():
        raise IsADirectoryError(21, "a directory; expected a place for a file", str(path))
    if not target.parent.is_dir():
        raise FileNotFoundError(
            2, f"there is no directory {target.parent}; make it first", str(path)
        )
    return target


@contextmanager
def whole_file(path: str | PathLike[str]) -> Iterator[BinaryIO]:
    """Open a file for writing that takes its place only when all of it is on the disk.

    An exception leaves what was there before. A device or pipe is written to as it is.

    Raises:
        OSError: The file cannot be written; a full disk among others.
    """
    target = check_target(path)
    if target.exists() and not target.is_file():
        with target.open("wb") as file:
            yield file
        return
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        file = part.open("wb")
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error
    try:
        with file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        part.replace(target)
    except BaseException:
        with suppress(OSError):
            part.unlink()
        raise

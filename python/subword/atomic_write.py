"""Files that appear whole or not at all."""

import errno
import os
import secrets
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from os import PathLike
from pathlib import Path
from typing import BinaryIO

__all__ = ["check_target", "sync_folder", "whole_file", "write_atomically"]


def check_target(path: str | PathLike[str]) -> Path:
    """Refuse a place where no file can be written, before the work that would fill it.

    Returns:
        The path, with symbolic links followed: what they point to is replaced, not they.

    Raises:
        OSError: A directory, or a path below something that is no directory.
    """
    target = Path(os.path.realpath(path))
    if target.is_dir():
        raise IsADirectoryError(
            errno.EISDIR, "a directory; expected a place for a file", os.fspath(path)
        )
    if not target.parent.is_dir():
        raise FileNotFoundError(
            errno.ENOENT, f"there is no directory {target.parent}; make it first", os.fspath(path)
        )
    return target


@contextmanager
def whole_file(path: str | PathLike[str]) -> Iterator[BinaryIO]:
    """Open a file for writing that takes its place only when all of it is on the disk.

    An exception, a full disk among others, leaves what was there before and no other file. A
    file that is replaced keeps its mode bits. A device or pipe is written to as it is.

    Raises:
        OSError: The file cannot be written.
    """
    target = check_target(path)
    if target.exists() and not target.is_file():
        with target.open("wb") as file:
            yield file
        return
    part = target.with_name(f".{target.name[:200]}.{secrets.token_hex(8)}.part")
    try:
        file = part.open("xb")
    except OSError as error:
        raise OSError(error.errno, error.strerror, os.fspath(path)) from error
    try:
        with file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if target.exists():
            part.chmod(target.stat().st_mode & 0o7777)
        part.replace(target)
    except BaseException:
        with suppress(OSError):
            part.unlink()
        raise
    sync_folder(target.parent)


def sync_folder(folder: Path) -> None:
    """Make the new name last through a power cut, where the system has a way to."""
    # Folders cannot be opened on Windows, and some network file systems refuse to sync them.
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def write_atomically(path: str | PathLike[str], parts: Iterable[bytes]) -> None:
    """Write a file as ``whole_file`` does, from its parts.

    Args:
        path: Where the file is to be; its folder must exist.
        parts: The content, in order; an exception that they raise leaves what was at ``path``.

    Raises:
        OSError: The folder is missing or cannot be written to, the disk is full, or ``path`` is
            a directory.
    """
    with whole_file(path) as file:
        file.writelines(parts)

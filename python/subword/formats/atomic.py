"""Write files so that they appear whole or not at all."""

import errno
import os
import secrets
from collections.abc import Iterable
from os import PathLike
from pathlib import Path

__all__ = ["write_atomically"]


def write_atomically(path: str | PathLike[str], parts: Iterable[bytes]) -> None:
    """Write a file under another name in its folder, then rename it.

    Whatever goes wrong, a full disk or an exception of ``parts`` included, leaves what was at
    ``path`` as it was and no other file. A link is followed; a file that is replaced keeps its
    mode bits.

    Args:
        path: Where the file is to be; its folder must exist.
        parts: The content, in order.

    Raises:
        OSError: The folder is missing or cannot be written to, the disk is full, or ``path`` is
            a directory.
    """
    target = Path(os.path.realpath(path))
    if target.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    temporary = target.with_name(f".{target.name[:200]}.{secrets.token_hex(8)}.tmp")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.writelines(parts)
            file.flush()
            os.fsync(file.fileno())
        if target.exists():
            temporary.chmod(target.stat().st_mode & 0o7777)
        temporary.replace(target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    _sync_folder(target.parent)


def _sync_folder(folder: Path) -> None:
    """Make the new name last through a power cut, where the system has a way to."""
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except OSError:  # folders cannot be opened on Windows
        return
    try:
        os.fsync(descriptor)
    except OSError:  # some network file systems refuse it; the file itself is synced
        pass
    finally:
        os.close(descriptor)

"""Files appear whole or not at all."""

import errno
import os
import stat

import pytest

from subword.atomic_write import write_atomically


def test_the_parts_are_the_content(tmp_path):
    write_atomically(tmp_path / "file", [b"one ", b"", b"two"])
    assert (tmp_path / "file").read_bytes() == b"one two"
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_an_exception_leaves_what_was_there(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"before")

    def parts():
        yield b"half"
        raise RuntimeError("midway")

    with pytest.raises(RuntimeError, match="midway"):
        write_atomically(path, parts())
    assert path.read_bytes() == b"before"
    assert [found.name for found in tmp_path.iterdir()] == ["file"]


def test_a_full_disk_leaves_nothing(tmp_path, monkeypatch):
    def no_space(descriptor):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", no_space)
    with pytest.raises(OSError, match="No space"):
        write_atomically(tmp_path / "file", [b"content"])
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")  # noqa: PTH110
def test_a_device_that_is_full_is_an_os_error(tmp_path):
    with pytest.raises(OSError):
        write_atomically("/dev/full/file", [b"content"])


def test_a_directory_is_not_replaced(tmp_path):
    (tmp_path / "folder").mkdir()
    with pytest.raises(IsADirectoryError):
        write_atomically(tmp_path / "folder", [b""])
    with pytest.raises(FileNotFoundError):
        write_atomically(tmp_path / "missing" / "file", [b""])
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]


def test_mode_and_links_are_kept(tmp_path):
    real, link = tmp_path / "real", tmp_path / "link"
    real.write_bytes(b"before")
    real.chmod(0o640)
    link.symlink_to(real)
    write_atomically(link, [b"after"])
    assert link.is_symlink()
    assert real.read_bytes() == b"after"
    assert stat.S_IMODE(real.stat().st_mode) == 0o640


def test_a_new_file_follows_the_umask(tmp_path):
    before = os.umask(0o027)
    try:
        write_atomically(tmp_path / "file", [b""])
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "file").stat().st_mode) == 0o640

"""Words that no file of the repository holds: unfinished work, and paths of a machine."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
# Written apart, so that this file does not hold them itself.
UNFINISHED = "|".join(("TO" + "DO", "FIX" + "ME", "XX" + "X"))
HOMES = "|".join(("ho" + "me", "Us" + "ers", "wo" + "rk", "ro" + "ot"))
FORBIDDEN = re.compile(rf"\b(?:{UNFINISHED})\b|(?<![\w.)\]}}])/(?:{HOMES})/\w|/t" + r"mp/\w")
SUFFIXES = {".py", ".pyi", ".rs", ".toml", ".md", ".yml", ".yaml", ".txt", ".sh", ""}


def tracked_files() -> list[Path]:
    """Give the files that git keeps."""
    git = shutil.which("git")
    if git is None or not (ROOT / ".git").exists():
        pytest.skip("not a clone: git does not say which files belong to the repository")
    command = [git, "-C", str(ROOT), "ls-files", "-z"]
    listed = subprocess.run(command, capture_output=True, check=True, text=True).stdout
    return [ROOT / name for name in listed.split("\0") if name]


def test_no_file_holds_a_forbidden_word() -> None:
    found = []
    files = [path for path in tracked_files() if path.suffix in SUFFIXES and path.is_file()]
    assert len(files) > 50
    for path in files:
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
            if FORBIDDEN.search(line):
                found.append(f"{path.relative_to(ROOT)}:{number}: {line.strip()[:100]}")
    assert found == []


@pytest.mark.parametrize(
    "word", ["TO" + "DO", "see FIX" + "ME", "/ho" + "me/someone/x", "/t" + "mp/x"]
)
def test_the_search_finds_what_it_is_for(word: str) -> None:
    assert FORBIDDEN.search(word)


@pytest.mark.parametrize(
    "word", ["todos", "a/home/b", "https://example.org/home/page", "/dev/null"]
)
def test_the_search_finds_nothing_else(word: str) -> None:
    assert not FORBIDDEN.search(word)

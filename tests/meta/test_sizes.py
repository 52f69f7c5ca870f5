"""Files stay small enough to be read in one sitting."""

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LIMITS = {"python/subword/**/*.py": 400, "rust/src/**/*.rs": 600}


@pytest.mark.parametrize("glob", LIMITS)
def test_no_module_is_too_long(glob: str) -> None:
    paths = sorted(ROOT.glob(glob))
    assert paths
    lengths = {
        str(path.relative_to(ROOT)): len(path.read_text(encoding="utf-8").splitlines())
        for path in paths
    }
    assert {path: n for path, n in lengths.items() if n > LIMITS[glob]} == {}

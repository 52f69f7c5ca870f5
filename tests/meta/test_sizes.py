"""Files stay small enough to be read in one sitting, or say why they are longer."""

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LIMITS = {"python/subword/**/*.py": 400, "rust/src/**/*.rs": 600}


@pytest.mark.parametrize("glob", LIMITS)
def test_no_module_is_longer_than_it_says(glob: str) -> None:
    paths = sorted(ROOT.glob(glob))
    assert paths
    too_long = {}
    for path in paths:
        lines = path.read_text(encoding="utf-8").splitlines()
        says_why = f"longer than {LIMITS[glob]} lines" in " ".join(lines[:12])
        if len(lines) > LIMITS[glob] and not says_why:
            too_long[str(path.relative_to(ROOT))] = len(lines)
    assert too_long == {}

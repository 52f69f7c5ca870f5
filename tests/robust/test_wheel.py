"""The wheel that ``make build`` packs: installed into an empty environment, and used."""

import importlib.util
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
_spec = importlib.util.spec_from_file_location("check_wheel", ROOT / "tests" / "check_wheel.py")
check_wheel = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(check_wheel)


@pytest.fixture
def wheel():
    found = sorted((ROOT / "target" / "wheels").glob("*.whl"))
    if not found:
        pytest.skip("no wheel in target/wheels: make build packs one")
    return found[-1]


def test_the_wheel_is_used_from_an_empty_environment(wheel):
    check_wheel.check(wheel, borrow=True)


def test_a_wheel_that_lacks_a_file_is_found(wheel, tmp_path):
    lacking = tmp_path / wheel.name
    with zipfile.ZipFile(wheel) as whole, zipfile.ZipFile(lacking, "w") as part:
        for name in whole.namelist():
            if name != "subword/py.typed":
                part.writestr(name, whole.read(name))
    with pytest.raises(AssertionError, match=r"py\.typed"):
        check_wheel.check(lacking, borrow=True)

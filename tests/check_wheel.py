"""Install a wheel into an empty environment and use it: ``python tests/check_wheel.py FOLDER``.

With ``--borrow`` nothing comes from the network: the wheel is installed alone, and finds the
packages that it needs in the environment of the interpreter that runs this.
"""

import argparse
import os
import subprocess
import sys
import sysconfig
import tempfile
import venv
import zipfile
from pathlib import Path

NEEDED = {
    *("subword/__init__.py", "subword/_core.pyi", "subword/py.typed"),
    "subword/playground/static/index.html",
}
USE = """
import pathlib, sys
import subword
from subword import _core
root = pathlib.Path(sys.prefix).resolve()
for module in (subword, _core):
    assert root in pathlib.Path(module.__file__).resolve().parents, module.__file__
tok = subword.train_bpe(["the cat in the hat"] * 3, 262, special_tokens=["<|end|>"])
for name in ("t.json", "t.yaml"):
    subword.save(tok, name)
    assert subword.load(name) == tok
text = "the hat<|end|>, naive"
assert tok.decode(tok.encode(text)) == text
print(subword.__name__, len(tok))
"""


def check(wheel: Path, *, borrow: bool) -> str:
    """Install a wheel, use it, and give what the command says of its version.

    Raises:
        AssertionError: The wheel lacks a file, or is not one for every later CPython.
        subprocess.CalledProcessError: It cannot be installed, imported or used.
    """
    assert "-cp311-abi3-" in wheel.name, wheel.name
    names = set(zipfile.ZipFile(wheel).namelist())
    assert names >= NEEDED, NEEDED - names
    assert not [name for name in names if not name.startswith(("subword/", "subword-"))]
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "environment"
        venv.create(root, with_pip=not borrow)
        scripts = root / ("Scripts" if os.name == "nt" else "bin")
        python = scripts / ("python.exe" if os.name == "nt" else "python")
        if borrow:
            _install_alone(wheel, python)
        else:
            subprocess.run([python, "-m", "pip", "install", "--quiet", wheel], check=True)
        subprocess.run([python, "-I", "-c", USE], check=True, cwd=folder)
        command = [python, "-I", scripts / ("subword.exe" if os.name == "nt" else "subword")]
        command = command[2:] if os.name == "nt" else command
        said = subprocess.run([*command, "--help"], check=True, capture_output=True, text=True)
        assert "tokenize" in said.stdout
        return said.stdout


def _install_alone(wheel: Path, python: Path) -> None:
    pip = [sys.executable, "-m", "pip", "--python", python, "install", "--quiet"]
    subprocess.run([*pip, "--no-index", "--no-deps", wheel], check=True)
    ask = [python, "-I", "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]
    packages = subprocess.run(ask, check=True, capture_output=True, text=True).stdout.strip()
    # A line of a .pth file adds the folder alone: what is installed there as editable is not seen.
    borrowed = sysconfig.get_path("purelib")
    (Path(packages) / "borrowed.pth").write_text(f"{borrowed}\n", encoding="utf-8")


def main() -> int:
    """Check each wheel of a folder; 1 where there is none."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--borrow", action="store_true")
    given = parser.parse_args()
    wheels = sorted(given.folder.glob("*.whl"))
    for wheel in wheels:
        check(wheel, borrow=given.borrow)
        print(f"{wheel.name}: installed and used")
    return 0 if wheels else 1


if __name__ == "__main__":
    sys.exit(main())

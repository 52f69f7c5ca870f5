"""What every test can ask for."""

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def shared() -> Path:
    """Corpora, vocabularies and golden ids kept beside the repository, not in it."""
    default = Path(__file__).parents[2] / "shared"
    path = Path(os.environ.get("SUBWORD_SHARED", default))
    if not path.is_dir():
        pytest.skip(f"no shared data at {path}; SUBWORD_SHARED says where it is")
    return path

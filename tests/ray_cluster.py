"""A real Ray cluster of two workers on this machine."""

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture(scope="module")
def alone() -> Iterator[None]:
    """Wait for the clusters of other processes of the tests: Ray finds any on the machine."""
    fcntl = pytest.importorskip("fcntl")
    with (Path(tempfile.gettempdir()) / "subword-tests-ray.lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


@pytest.fixture(scope="module")
def cluster(alone: None) -> Iterator[Any]:
    ray = pytest.importorskip("ray", reason="ray is not installed: pip install 'subword[ray]'")
    here = Path(__file__).parent
    with pytest.MonkeyPatch.context() as patch:
        # Workers take work from test modules.
        for folder in (here, here / "robust"):
            patch.setenv("PYTHONPATH", str(folder), prepend=os.pathsep)
        ray.init(
            num_cpus=2, include_dashboard=False, log_to_driver=False, object_store_memory=1 << 27
        )
        yield ray
        ray.shutdown()


# Ray leaves sockets and files to the collector.
QUIET = [
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
]

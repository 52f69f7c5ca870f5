"""A real Ray cluster of two workers on this machine."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
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
    # One cluster at a time on a machine, where xdist hands tests to several processes.
    pytest.mark.xdist_group("ray"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
]

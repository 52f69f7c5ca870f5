"""What every test can ask for, and how hard the properties are searched."""

import os
import signal
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# A shell that starts its jobs in the background has them, and what they start, ignore Ctrl-C.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# No deadline: a busy machine is not a fault. `slow` is what CI searches, the same examples each
# time, so that a red run speaks of the change.
_COMMON = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("fast", max_examples=60, **_COMMON)
settings.register_profile("slow", max_examples=150, derandomize=True, **_COMMON)
SLOW = os.environ.get("SUBWORD_SLOW", "0") not in ("", "0")
settings.load_profile("slow" if SLOW or os.environ.get("CI") else "fast")


@pytest.fixture(scope="session")
def shared() -> Path:
    """Corpora, vocabularies and golden ids kept beside the repository, not in it."""
    default = Path(__file__).parents[2] / "shared"
    path = Path(os.environ.get("SUBWORD_SHARED", default))
    if not path.is_dir():
        pytest.skip(f"no shared data at {path}; SUBWORD_SHARED says where it is")
    return path


@pytest.fixture(scope="session")
def slow() -> bool:
    """Whether ``SUBWORD_SLOW=1`` asks for the checks that take minutes."""
    return SLOW

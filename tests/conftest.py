"""Fixtures of the tests of several parts, and a limit of open file descriptors."""

from __future__ import annotations

import gc
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

MOST_LEFT_OPEN = 600  # descriptors after all tests; a few outlive their test
# No deadline: the speed of the machine is not under test.
settings.register_profile("any", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any")


@pytest.fixture(scope="session")
def simcard_library() -> Path:
    """The ALSA plugin of the software sound card, built."""
    folder = Path(__file__).parents[1] / "hw/simcard"
    subprocess.run(["make", "-s", "-C", str(folder)], check=True)
    return folder / "build/libasound_module_pcm_simcard.so"


@pytest.fixture
def owners(tmp_path: Path) -> Path:
    """The path of the owner's settings file, which does not exist yet."""
    return tmp_path / "settings.yaml"


@pytest.fixture
def state(tmp_path: Path) -> Path:
    """The folder of the box's state, empty."""
    folder = tmp_path / "state"
    folder.mkdir()
    return folder


@pytest.fixture(scope="session", autouse=True)
def descriptors() -> Iterator[None]:
    """Fail if the tests leave descriptors open: above 1,023, select(2) of some libraries fails."""
    folder = Path("/proc/self/fd")
    before = len(list(folder.iterdir()))
    yield
    gc.collect()
    left = len(list(folder.iterdir())) - before
    assert left < MOST_LEFT_OPEN, f"{left} descriptors are left open"

"""What tests of several parts share."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# How fast a machine is proves nothing.
settings.register_profile("any", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any")


@pytest.fixture(scope="session")
def simcard_library() -> Path:
    """The ALSA plugin of the software sound card, built."""
    folder = Path(__file__).parents[1] / "hw/simcard"
    subprocess.run(["make", "-s", "-C", str(folder)], check=True)
    return folder / "build/libasound_module_pcm_simcard.so"

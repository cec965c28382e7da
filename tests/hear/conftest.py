"""What the tests of hearing share: the settings as they ship, and speech to hear."""

from __future__ import annotations

import shutil

import pytest

from appliance.settings import Hearing, load_defaults


@pytest.fixture
def settings() -> Hearing:
    return load_defaults().hearing


@pytest.fixture
def espeak() -> None:
    """Skips where no speech can be made."""
    if shutil.which("espeak-ng") is None:
        pytest.skip("espeak-ng is not installed")

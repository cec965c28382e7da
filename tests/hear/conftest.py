"""Fixtures for the hearing tests: the default settings."""

from __future__ import annotations

import pytest

from appliance.settings import HearingSettings, load_defaults


@pytest.fixture
def settings() -> HearingSettings:
    return load_defaults().hearing

"""What the tests of hearing share: the settings as they ship."""

from __future__ import annotations

import pytest

from appliance.settings import HearingSettings, load_defaults


@pytest.fixture
def settings() -> HearingSettings:
    return load_defaults().hearing

"""What the tests of hearing share: the settings as they ship."""

from __future__ import annotations

import pytest

from appliance.settings import Hearing, load_defaults


@pytest.fixture
def settings() -> Hearing:
    return load_defaults().hearing

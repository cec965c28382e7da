"""Fixtures for the hearing tests: the default settings, and a box in the middle of an answer."""

from __future__ import annotations

import numpy as np
import pytest

from appliance.hear.pipeline import HearingPipeline
from appliance.pcm import RATE_HZ
from appliance.settings import HearingSettings, load_defaults
from tests.hear.arena import ANSWER, Room, at_level, say


@pytest.fixture
def settings() -> HearingSettings:
    return load_defaults().hearing


@pytest.fixture(scope="session")
def _talking() -> Room:
    answer = at_level(np.tile(say(ANSWER), 3), -20)
    room = Room(HearingPipeline(load_defaults().hearing), answer=answer)
    room.hear(np.zeros(7 * RATE_HZ))
    return room


@pytest.fixture
def talking_for_7_s(_talking: Room) -> Room:
    """A box that has talked for 7 s alone, and so knows its room; each test gets a copy."""
    return _talking.copied()

"""A fixture that creates a simulated sound card."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from appliance.pcm import RATE_HZ
from lab.sim.simulated_card import SoundCard


@pytest.fixture
def card(tmp_path: Path) -> Iterator[SoundCard]:
    with SoundCard.create(tmp_path / "card", RATE_HZ) as card_file:
        yield card_file

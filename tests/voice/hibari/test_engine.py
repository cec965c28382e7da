"""The command that starts the voice."""

from __future__ import annotations

from pathlib import Path

import pytest

from appliance.voice.hibari.engine import command


@pytest.mark.parametrize(
    ("words_per_minute", "speed"), [(165, "1.00"), (200, "1.21"), (80, "0.50"), (450, "2.00")]
)
def test_the_speed_follows_the_settings_within_the_voices_limits(
    words_per_minute: int, speed: str
) -> None:
    *_, program, last = command(words_per_minute)
    assert last == speed
    assert Path(program).is_file()

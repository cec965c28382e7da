"""The brightness of the light by the owner's settings and the local time."""

from __future__ import annotations

import time
from datetime import datetime, timedelta
from typing import Any

import pytest

from appliance.panel.brightness import at_night, brightness
from appliance.settings import PanelSettings, load


def panel(**changes: Any) -> PanelSettings:
    return load(None, {"panel": {"brightness": 0.9, "night_brightness": 0.2, **changes}}).panel


def around(minutes: int) -> str:
    """The period from `minutes` ago to `minutes` from now, in the settings' format."""
    now = datetime.now().astimezone()
    begins, ends = now - timedelta(minutes=minutes), now + timedelta(minutes=minutes)
    return f"{begins:%H:%M}-{ends:%H:%M}"


def test_without_a_night_the_day_brightness_always_applies() -> None:
    assert brightness(panel(night="")) == 0.9
    assert not at_night(panel(night=""))


def test_the_night_brightness_applies_at_night_only() -> None:
    night = around(60)
    begins, ends = night.split("-")
    assert brightness(panel(night=night)) == 0.2
    assert at_night(panel(night=night))
    assert not at_night(panel(night=f"{ends}-{begins}"))
    assert brightness(panel(night=f"{ends}-{begins}")) == 0.9


@pytest.mark.parametrize("zone", ["Pacific/Kiritimati", "Pacific/Pago_Pago"])
def test_the_night_is_in_the_boxs_time_zone(zone: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The zones are 25 hours apart, so that a night of one hour cannot cover both."""
    monkeypatch.setenv("TZ", "UTC+0")
    time.tzset()
    night = panel(night=around(30))
    try:
        assert brightness(night) == 0.2
        monkeypatch.setenv("TZ", zone)
        time.tzset()
        assert brightness(night) == 0.9
    finally:
        monkeypatch.undo()
        time.tzset()

"""The light's brightness, by the owner's settings and the local time."""

from __future__ import annotations

from datetime import datetime
from datetime import time as clock

from appliance.panel.light import is_night
from appliance.settings import PanelSettings


def brightness(settings: PanelSettings) -> float:
    """The brightness to use now, 0 to 1."""
    return settings.night_brightness if at_night(settings) else settings.brightness


def at_night(settings: PanelSettings) -> bool:
    """Whether it is night in the box's time zone, by `panel.night`."""
    if not settings.night:
        return False
    begins, ends = map(clock.fromisoformat, settings.night.split("-"))
    return is_night(datetime.now().astimezone().time(), begins, ends)

"""The light's brightness, by the owner's settings and the local time."""

from __future__ import annotations

from datetime import datetime
from datetime import time as clock

from appliance.panel.light import is_night
from appliance.settings import PanelSettings


def brightness(settings: PanelSettings) -> float:
    """The brightness to use now, 0 to 1."""
    if not settings.night:
        return settings.brightness
    begins, ends = map(clock.fromisoformat, settings.night.split("-"))
    night = is_night(datetime.now().astimezone().time(), begins, ends)
    return settings.night_brightness if night else settings.brightness

"""The button events that are published to the home."""

from __future__ import annotations

import pytest

from appliance.messages.commands import PressName
from appliance.panel.button import Gesture
from appliance.panel.button_events import ButtonEvents


@pytest.mark.parametrize(
    ("gestures", "expected"),
    [
        (["press", "release", "short"], ["press"]),
        (["press", "release", "press", "release", "double"], ["double_press"]),
        (["press", "long", "release"], ["long_press", "release"]),
        (["press", "long", "release", "press", "release", "short"],
         ["long_press", "release", "press"]),
        (["press", "release"], []),
        (["setup_warning", "setup"], []),
        (["setup_warning", "reset_warning", "reset_armed", "reset", "cancelled"], []),
    ],
)  # fmt: skip
def test_each_press_is_reported_once_it_is_certain(
    gestures: list[Gesture], expected: list[PressName]
) -> None:
    events = ButtonEvents()
    kinds = [message.kind for gesture in gestures for message in events.events_for(gesture)]
    assert kinds == expected

"""What the house hears of the button."""

from __future__ import annotations

import pytest

from appliance.messages.commands import PressName
from appliance.panel.button import Gesture
from appliance.panel.button_events import ButtonEvents


@pytest.mark.parametrize(
    ("gestures", "told"),
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
def test_each_press_is_told_once_and_once_it_is_sure(
    gestures: list[Gesture], told: list[PressName]
) -> None:
    teller = ButtonEvents()
    heard = [message.kind for gesture in gestures for message in teller.events_for(gesture)]
    assert heard == told

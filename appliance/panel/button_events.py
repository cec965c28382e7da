"""Turns gestures into the button events that the house receives. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from appliance.messages.commands import ButtonPressed, PressName
from appliance.panel.button import Gesture

_SURE: dict[Gesture, PressName] = {
    "short": "press",
    "double": "double_press",
    "long": "long_press",
}


@dataclass
class ButtonEvents:
    """Reports a press once its kind is known, and a release only after a long press."""

    _long: bool = False

    def events_for(self, gesture: Gesture) -> tuple[ButtonPressed, ...]:
        if gesture in _SURE:
            self._long = gesture == "long"
            return (ButtonPressed(_SURE[gesture]),)
        if gesture == "release" and self._long:
            self._long = False
            return (ButtonPressed("release"),)
        return ()

"""What the house is told of the button: gestures in, presses out. Pure."""

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
    """A press is told once it is known which; the end of one only after a long press."""

    _long: bool = False

    def events_for(self, gesture: Gesture) -> tuple[ButtonPressed, ...]:
        if gesture in _SURE:
            self._long = gesture == "long"
            return (ButtonPressed(_SURE[gesture]),)
        if gesture == "release" and self._long:
            self._long = False
            return (ButtonPressed("release"),)
        return ()

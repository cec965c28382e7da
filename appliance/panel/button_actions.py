"""What a gesture asks for, by what the box is doing: gestures in → messages out. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from appliance.messages.commands import (
    Forget,
    ModeName,
    Mute,
    Repeat,
    StateName,
    StopSpeaking,
    TalkButton,
)
from appliance.messages.registry import Message
from appliance.panel.button import Gesture

ANSWERING: tuple[StateName, ...] = ("thinking", "speaking", "holding")
TAP_S = 0.35  # where the button is held to talk: a shorter press has no room for a word


@dataclass
class ButtonActions:
    """How the box stands, as far as the button is concerned.

    `toggle`: in mode push_to_talk a press begins and the next one ends; else it is held.
    A press while the box answers ends the answer at once, whatever it turns out to have been. In
    mode push_to_talk it opens the floor, too. Where the button is held to talk, a press of less
    than TAP_S was no talk; a longer one was, though the button itself calls it short or double.
    """

    mode: ModeName = "open"
    toggle: bool = False
    state: StateName = "idle"
    muted: bool = False
    stops: bool = False  # the newest press came while the box answered
    pressed_s: float = 0.0  # when it began
    taps: int = 0  # presses in a row, up to the newest, that were let go within TAP_S

    @property
    def holds(self) -> bool:
        """To hold the button is to talk, and so no way to mute."""
        return self.mode == "push_to_talk" and not self.toggle and not self.muted

    def messages_for(self, gesture: Gesture, now_s: float) -> tuple[Message, ...]:
        """In the order in which they are to be sent. `now_s`: of the edge or tick that gave it."""
        match gesture:
            case "press":
                self.stops, self.pressed_s = self.state in ANSWERING, now_s
                if self.stops and self.mode != "push_to_talk":
                    return (StopSpeaking(),)
                return (TalkButton(True),)
            case "release":
                self.taps = self.taps + 1 if now_s - self.pressed_s < TAP_S else 0
                return (TalkButton(False),) if self.mode == "push_to_talk" else ()
            case "short" if self.stops and self.holds and self.taps:
                return (StopSpeaking(),)
            case "double" if not self.holds or self.taps > 1:
                return (StopSpeaking(), Repeat())  # the presses have opened the floor: close it
            case "long" if not self.holds:
                return (Mute(not self.muted),)
            case "reset":
                return (Forget(),)  # and, once it is noted on the disk, to start anew
        return ()

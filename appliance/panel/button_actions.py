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


@dataclass
class ButtonActions:
    """How the box stands, as far as the button is concerned.

    `toggle`: in mode push_to_talk a press begins and the next one ends; else it is held.
    A press while the box answers ends the answer at once, whatever it turns out to have been. In
    mode push_to_talk it opens the floor, too; if it was but a short one, nobody wanted to talk.
    """

    mode: ModeName = "open"
    toggle: bool = False
    state: StateName = "idle"
    muted: bool = False
    stops: bool = False  # the newest press came while the box answered

    @property
    def holds(self) -> bool:
        """To hold the button is to talk, and so no way to mute."""
        return self.mode == "push_to_talk" and not self.toggle and not self.muted

    def messages_for(self, gesture: Gesture) -> tuple[Message, ...]:
        """In the order in which they are to be sent."""
        match gesture:
            case "press":
                self.stops = self.state in ANSWERING
                if self.stops and self.mode != "push_to_talk":
                    return (StopSpeaking(),)
                return (TalkButton(True),)
            case "release" if self.mode == "push_to_talk":
                return (TalkButton(False),)
            case "short" if self.stops and self.mode == "push_to_talk":
                return (StopSpeaking(),)
            case "double":
                return (StopSpeaking(), Repeat())  # the presses have opened the floor: close it
            case "long" if not self.holds:
                return (Mute(not self.muted),)
            case "reset":
                return (Forget(),)  # and, once it is noted on the disk, to start anew
        return ()

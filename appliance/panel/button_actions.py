"""Maps gestures to messages, depending on what the box is doing. Pure."""

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
TAP_S = 0.35  # if the button is held to talk, a shorter press is too short for a word


@dataclass
class ButtonActions:
    """The box's state as far as the button needs it, and the messages for each gesture.

    `toggle`: in mode push_to_talk one press starts talking and the next ends it; else it is held.
    A press while the box answers ends the answer at once, whichever gesture it becomes. In mode
    push_to_talk it opens the floor, too. If the button is held to talk, a press shorter than TAP_S
    is not talking; a longer one is, although its gesture is "short" or "double".
    """

    mode: ModeName = "open"
    toggle: bool = False
    state: StateName = "idle"
    muted: bool = False
    stops: bool = False  # the newest press came while the box answered
    pressed_s: float = 0.0  # when the newest press began
    taps: int = 0  # consecutive presses, up to the newest, that were released within TAP_S

    @property
    def holds(self) -> bool:
        """Whether holding the button means talking; a long press does not mute then."""
        return self.mode == "push_to_talk" and not self.toggle and not self.muted

    def messages_for(self, gesture: Gesture, now_s: float) -> tuple[Message, ...]:
        """The messages, in sending order. `now_s`: of the edge or tick that gave the gesture."""
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
                return (Forget(),)  # power_on_hold.py requests the restart, after its note
        return ()

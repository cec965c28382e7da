"""What is tried on the page with sound: let through, or refused with the reason.

In: the page's wish, how the conversation stands. Out: what is to sound, and refusals to the page.
Somebody who talks goes first, and so does an answer; nothing of it waits for a better moment.
"""

from __future__ import annotations

from collections.abc import Callable

from appliance.dialog.on_trial import PlaySound
from appliance.dialog.state import DialogState
from appliance.messages.registry import Message
from appliance.messages.trying import StartTrial, TrialRefusal, TrialRefused


class TrialRelay:
    """`send`: to a part that not every box has; never waits."""

    def __init__(self, send: Callable[[str, Message], None]) -> None:
        self._send = send

    def handle(self, peer: str, message: Message, now: DialogState) -> tuple[PlaySound, ...] | None:
        """What is to sound. None for a message that is for others."""
        match message:
            case StartTrial():
                return self._start(message, now) if peer == "page" else ()
        return None

    def _start(self, wanted: StartTrial, now: DialogState) -> tuple[PlaySound, ...]:
        if why := refusal(wanted, now):
            self._send("page", TrialRefused(wanted.number, why))
            return ()
        return (PlaySound("sweep"),)


def refusal(wanted: StartTrial, now: DialogState) -> TrialRefusal | None:
    """Why it cannot be tried while the conversation stands so; None: it can."""
    if now.parts.voiceless:
        return "no-voice"
    if not now.at_rest or now.ringing.rings or now.queue.requests:
        return "busy"
    return None

"""What the page keeps of what was tried out, for as long as it runs. Pure."""

from __future__ import annotations

from appliance.messages.registry import Message
from appliance.page.findings import CheckRun
from appliance.page.live import Event
from appliance.page.sound_trials import SoundTrials


class TryState:
    """`check`: the findings of `interlude check`. `sound`: the newest trial with sound."""

    def __init__(self) -> None:
        self.check = CheckRun()
        self.sound = SoundTrials()

    def handle(self, message: Message, now_s: float) -> list[Event]:
        """The events that follow from a message."""
        return self.sound.handle(message, now_s)

    def expire(self, now_s: float) -> list[Event]:
        """Time has passed."""
        return self.sound.expire(now_s)

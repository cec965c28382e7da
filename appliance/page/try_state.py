"""What the page keeps of what was tried out, for as long as it runs. Pure."""

from __future__ import annotations

from appliance.messages.registry import Message
from appliance.messages.trying import EndTrial
from appliance.page.enrolment_run import EnrolmentRun
from appliance.page.findings import CheckRun
from appliance.page.live import Event
from appliance.page.sound_trials import SoundTrials
from appliance.page.wake_log import WakeLog

UNSEEN_S = 6.0  # without a script a browser asks every 2 s


class TryState:
    """`check`: the findings of `interlude check`. `sound`: the newest trial with sound.
    `enrolment`: of an owner's voice. `wake`: what came near the wake word, at this sensitivity."""

    def __init__(self, sensitivity: float = 0.5) -> None:
        self.wake = WakeLog(sensitivity)
        self.check = CheckRun()
        self.sound = SoundTrials()
        self.enrolment = EnrolmentRun()
        self.seen_s = -UNSEEN_S  # when a browser last asked for the page

    def handle(self, message: Message, now_s: float) -> list[Event]:
        """The events that follow from a message."""
        trials = self.sound.handle(message, now_s) + self.wake.handle(message)
        return trials + self.enrolment.handle(message, now_s)

    def begin_enrolment(self, now_s: float) -> bool:
        """False while something else is tried, or one is under way."""
        self.expire(now_s)
        return not self.sound.under_way and self.enrolment.begin(now_s)

    def expire(self, now_s: float) -> list[Event]:
        """Time has passed."""
        return self.sound.expire(now_s) + self.enrolment.expire(now_s)

    def abandoned(self, now_s: float, *, looks: bool) -> EndTrial | None:
        """What to end since no browser `looks`, nor has asked for the page lately."""
        if looks or now_s < self.seen_s + UNSEEN_S:
            return None
        self.enrolment.end("abandoned", now_s)
        return self.sound.abandon(now_s)

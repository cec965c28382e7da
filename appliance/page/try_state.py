"""State of the tests on the page, kept while the process runs. Pure."""

from __future__ import annotations

from appliance.messages.registry import Message
from appliance.messages.trying import EndTrial
from appliance.page.enrolment_run import EnrolmentRun
from appliance.page.findings import CheckRun
from appliance.page.live import Event
from appliance.page.sound_trials import SoundTrials
from appliance.page.wake_log import WakeLog

UNSEEN_S = 6.0  # a browser without the script reloads the page every 2 s


class TryState:
    """`check`: the findings of `interlude check`. `sound`: the latest sound test. `enrolment`: of
    the owner's voice. `wake`: scores and near misses of the wake word, at this sensitivity."""

    def __init__(self, sensitivity: float = 0.5) -> None:
        self.wake = WakeLog(sensitivity)
        self.check = CheckRun()
        self.sound = SoundTrials()
        self.enrolment = EnrolmentRun()
        self.seen_s = -UNSEEN_S  # when a browser last asked for the page

    def handle(self, message: Message, now_s: float) -> list[Event]:
        """Handle a message. Returns the events that it causes."""
        trials = self.sound.handle(message, now_s) + self.wake.handle(message)
        return trials + self.enrolment.handle(message, now_s)

    def begin_enrolment(self, now_s: float) -> bool:
        """Start an enrolment. False while a sound test or an enrolment is under way."""
        self.expire(now_s)
        return not self.sound.under_way and self.enrolment.begin(now_s)

    def expire(self, now_s: float) -> list[Event]:
        """End phases that have timed out. Returns the events."""
        return self.sound.expire(now_s) + self.enrolment.expire(now_s)

    def abandoned(self, now_s: float, *, looks: bool) -> EndTrial | None:
        """End all tests if no browser `looks` (has an event stream) or has loaded the page within
        UNSEEN_S. Returns the message to send, if any."""
        if looks or now_s < self.seen_s + UNSEEN_S:
            return None
        self.enrolment.end("abandoned", now_s)
        return self.sound.abandon(now_s)

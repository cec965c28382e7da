"""Accepts trials with sound that the page requests, or refuses them with the reason.

In: the page's requests, the listener's results, the dialogue's state. Out: sounds to play, and
messages to listener, page and panel.
Speech and answers have priority: a trial that cannot start at once is refused, not queued.
"""

from __future__ import annotations

from collections.abc import Callable

from appliance.dialog.on_trial import PlaySound
from appliance.dialog.state import DialogState
from appliance.language.catalogue import catalogue
from appliance.messages.commands import StopSpeaking
from appliance.messages.enrolling import (
    AskTake,
    BeginEnrolment,
    EnrolmentLearnt,
    LearnEnrolment,
    OwnerVoiceChanged,
    TakeJudged,
)
from appliance.messages.registry import Message
from appliance.messages.supervision import PartChanged
from appliance.messages.trying import (
    EchoMeasured,
    EndTrial,
    SoundRecorded,
    SoundRecording,
    StartTrial,
    TrialRefusal,
    TrialRefused,
)

TrialEvents = tuple[PlaySound | StopSpeaking, ...]
HEARING = frozenset({"capture", "listener", "the microphone"})  # needed to record


class TrialRelay:
    """Relays trials and enrolment. `send`: to a part that not every box has; it never waits."""

    def __init__(self, send: Callable[[str, Message], None]) -> None:
        self._send = send
        self._number = 0  # of the newest accepted trial
        self._recording = False
        self._enrolling = False

    def handle(self, peer: str, message: Message, now: DialogState) -> TrialEvents | None:
        """Events that follow from `message`; None if the message is for others as well."""
        match message:
            case StartTrial():
                return self._start(message, now) if peer == "page" else ()
            case EndTrial():
                return self._end(message, now) if peer == "page" else ()
            case SoundRecording() | SoundRecorded() | EchoMeasured() | TrialRefused():
                return self._tell(message) if peer == "listener" else ()
            case BeginEnrolment() | AskTake() | LearnEnrolment() | OwnerVoiceChanged():
                return self._enrol(message, now) if peer == "page" else ()
            case TakeJudged() | EnrolmentLearnt():
                return self._on_enrolment(message, now) if peer == "listener" else ()
            case PartChanged("listener", "down" | "failed") if self._enrolling:
                self._enrolling = False
                if self._recording:
                    self._tell(SoundRecording(self._number, on=False))
                self._send("page", EnrolmentLearnt(self._number, "failed"))
            case PartChanged("page", "down" | "failed") if self._enrolling:
                return self._end(EndTrial(self._number), now)
            case PartChanged("listener", "down" | "failed") if self._recording:
                self._tell(SoundRecording(self._number, on=False))
                self._tell(TrialRefused(self._number, "no-microphone"))
            case PartChanged("page", "down" | "failed") if self._recording:
                self._send("listener", EndTrial(self._number))
        return None

    def _start(self, wanted: StartTrial, now: DialogState) -> TrialEvents:
        if why := refusal(wanted, now):
            self._send("page", TrialRefused(wanted.number, why))
            return ()
        self._number = wanted.number
        if not now.listening.microphone_off:
            self._send("listener", wanted)
        match wanted.kind:
            case "microphone":
                return ()
            case "echo":
                return (PlaySound("opening", catalogue(now.language).say("echo-test")),)
            case "tone":
                return (PlaySound("sweep"),)

    def _end(self, ends: EndTrial, now: DialogState) -> TrialEvents:
        if ends.number != self._number:
            return ()
        self._enrolling = False
        self._send("listener", ends)
        return (StopSpeaking(),) if now.announcing else ()

    def _enrol(
        self, wanted: BeginEnrolment | AskTake | LearnEnrolment | OwnerVoiceChanged,
        now: DialogState,
    ) -> TrialEvents:  # fmt: skip
        if isinstance(wanted, BeginEnrolment):
            self._number, self._enrolling = wanted.number, True
        elif isinstance(wanted, AskTake):
            known = self._enrolling and wanted.number == self._number
            if why := refusal(wanted, now) if known else "no-microphone":
                self._send("page", TrialRefused(wanted.number, why))
                return ()
        self._send("listener", wanted)
        return (PlaySound("", _question(wanted, now)),) if isinstance(wanted, AskTake) else ()

    def _on_enrolment(self, news: TakeJudged | EnrolmentLearnt, now: DialogState) -> TrialEvents:
        self._send("page", news)
        if isinstance(news, TakeJudged) or not self._enrolling or news.number != self._number:
            return ()
        self._enrolling = False
        return (PlaySound("", catalogue(now.language).say(f"enrol-{news.outcome}")),)

    def _tell(
        self, news: SoundRecording | SoundRecorded | EchoMeasured | TrialRefused
    ) -> TrialEvents:
        if isinstance(news, SoundRecording):
            self._recording = news.on
            self._send("panel", news)
        self._send("page", news)
        played = isinstance(news, SoundRecorded) and news.played
        return (PlaySound("recording"),) if played and news.number == self._number else ()


def refusal(wanted: StartTrial | AskTake, now: DialogState) -> TrialRefusal | None:
    """Why the trial cannot start in the dialogue's current state; None: it can."""
    if now.parts.voiceless:
        return "no-voice"
    if isinstance(wanted, AskTake) or wanted.kind != "tone":
        if now.listening.microphone_off:
            return "muted"
        if now.parts.failed & HEARING:
            return "no-microphone"
    if not now.at_rest or now.ringing.rings or now.queue.requests:
        return "busy"
    return None


def _question(asked: AskTake, now: DialogState) -> str:
    """The sentences that the box speaks before it records a take."""
    words = catalogue(now.language)
    parts = [words.say("enrol-intro")] if asked.first else []
    if asked.fault is not None:
        parts.append(words.say(f"enrol-fault-{asked.fault}"))
    word = words.say(f"enrol-word-{asked.word}")
    return " ".join([*parts, words.say("enrol-ask", word=word)])

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

    def handle(self, peer: str, message: Message, dialog: DialogState) -> TrialEvents | None:
        """Events that follow from `message`; None if the message is for others as well."""
        match message:
            case StartTrial():
                return self._start(message, dialog) if peer == "page" else ()
            case EndTrial():
                return self._end(message, dialog) if peer == "page" else ()
            case SoundRecording() | SoundRecorded() | EchoMeasured() | TrialRefused():
                return self._forward(message) if peer == "listener" else ()
            case BeginEnrolment() | AskTake() | LearnEnrolment() | OwnerVoiceChanged():
                return self._enrol(message, dialog) if peer == "page" else ()
            case TakeJudged() | EnrolmentLearnt():
                return self._on_enrolment(message, dialog) if peer == "listener" else ()
            case PartChanged("listener", "down" | "failed") if self._enrolling:
                self._enrolling = False
                if self._recording:
                    self._forward(SoundRecording(self._number, on=False))
                self._send("page", EnrolmentLearnt(self._number, "failed"))
            case PartChanged("page", "down" | "failed") if self._enrolling:
                return self._end(EndTrial(self._number), dialog)
            case PartChanged("listener", "down" | "failed") if self._recording:
                self._forward(SoundRecording(self._number, on=False))
                self._forward(TrialRefused(self._number, "no-microphone"))
            case PartChanged("page", "down" | "failed") if self._recording:
                self._send("listener", EndTrial(self._number))
        return None

    def _start(self, trial: StartTrial, dialog: DialogState) -> TrialEvents:
        if reason := refusal(trial, dialog):
            self._send("page", TrialRefused(trial.number, reason))
            return ()
        self._number = trial.number
        if not dialog.listening.microphone_off:
            self._send("listener", trial)
        match trial.kind:
            case "microphone":
                return ()
            case "echo":
                return (PlaySound("opening", catalogue(dialog.language).say("echo-test")),)
            case "tone":
                return (PlaySound("sweep"),)

    def _end(self, message: EndTrial, dialog: DialogState) -> TrialEvents:
        if message.number != self._number:
            return ()
        self._enrolling = False
        self._send("listener", message)
        return (StopSpeaking(),) if dialog.announcing else ()

    def _enrol(
        self, request: BeginEnrolment | AskTake | LearnEnrolment | OwnerVoiceChanged,
        dialog: DialogState,
    ) -> TrialEvents:  # fmt: skip
        if isinstance(request, BeginEnrolment):
            self._number, self._enrolling = request.number, True
        elif isinstance(request, AskTake):
            known = self._enrolling and request.number == self._number
            if reason := refusal(request, dialog) if known else "no-microphone":
                self._send("page", TrialRefused(request.number, reason))
                return ()
        self._send("listener", request)
        if isinstance(request, AskTake):
            return (PlaySound("", _take_prompt(request, dialog)),)
        return ()

    def _on_enrolment(self, news: TakeJudged | EnrolmentLearnt, dialog: DialogState) -> TrialEvents:
        self._send("page", news)
        if isinstance(news, TakeJudged) or not self._enrolling or news.number != self._number:
            return ()
        self._enrolling = False
        return (PlaySound("", catalogue(dialog.language).say(f"enrol-{news.outcome}")),)

    def _forward(
        self, news: SoundRecording | SoundRecorded | EchoMeasured | TrialRefused
    ) -> TrialEvents:
        if isinstance(news, SoundRecording):
            self._recording = news.on
            self._send("panel", news)
        self._send("page", news)
        played = isinstance(news, SoundRecorded) and news.played
        return (PlaySound("recording"),) if played and news.number == self._number else ()


def refusal(request: StartTrial | AskTake, dialog: DialogState) -> TrialRefusal | None:
    """Why the trial cannot start in the dialogue's current state; None: it can."""
    if dialog.parts.voiceless:
        return "no-voice"
    if isinstance(request, AskTake) or request.kind != "tone":
        if dialog.listening.microphone_off:
            return "muted"
        if dialog.parts.failed & HEARING:
            return "no-microphone"
    if not dialog.at_rest or dialog.ringing.rings or dialog.queue.requests:
        return "busy"
    return None


def _take_prompt(take: AskTake, dialog: DialogState) -> str:
    """The sentences that the box speaks before it records a take."""
    words = catalogue(dialog.language)
    parts = [words.say("enrol-intro")] if take.first else []
    if take.fault is not None:
        parts.append(words.say(f"enrol-fault-{take.fault}"))
    word = words.say(f"enrol-word-{take.word}")
    return " ".join([*parts, words.say("enrol-ask", word=word)])

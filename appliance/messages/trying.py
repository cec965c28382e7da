"""What an owner tries out on the page."""

from __future__ import annotations

from typing import Literal

from appliance.messages.limits import Count, NameText
from appliance.messages.message import BaseMessage

# What can be tried with sound: the loudspeaker's tone; the microphone, recorded and played.
TrialKind = Literal["tone", "microphone"]
# Why not now: somebody talks or an answer sounds; the microphone is off; one of the two, or what
# serves it, is away.
TrialRefusal = Literal["busy", "muted", "no-voice", "no-microphone"]


class StartTrial(BaseMessage, frozen=True):
    """Try it now, as trial `number` of the page's own count. To the listener, what it is to do."""

    number: Count
    kind: TrialKind


class TrialRefused(BaseMessage, frozen=True):
    """Trial `number` cannot be done now, or came to nothing."""

    number: Count
    why: TrialRefusal


class EndTrial(BaseMessage, frozen=True):
    """Nobody waits for trial `number` any more: nothing of it is to go on."""

    number: Count


class SoundRecording(BaseMessage, frozen=True):
    """The microphone is recorded for trial `number` from now on, or not any more."""

    number: Count
    on: bool


class SoundRecorded(BaseMessage, frozen=True):
    """Trial `number` was recorded: its levels, in dB of full scale, and clipped samples, as
    hear/sound_measures.py has them. `played`: its sound is ready for the speaker, `gain_db` louder
    than it was; else there is none to play."""

    number: Count
    peak_db: float
    speech_db: float
    noise_db: float
    offset_db: float
    clipped: Count
    gain_db: float
    played: bool


class ShowLight(BaseMessage, frozen=True):
    """Show a row of the light's table for some seconds, so that an owner learns what it means."""

    pattern: NameText

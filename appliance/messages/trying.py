"""What an owner tries out on the page."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from appliance.messages.limits import Count, NameText
from appliance.messages.message import BaseMessage

# What can be tried with sound: the loudspeaker's tone; the microphone, recorded and played; how
# much of the box's own voice the canceller takes away, which a tone tells, too.
TrialKind = Literal["tone", "microphone", "echo"]
# Of the echo's: there is none; it works; it looks seldom, since there is nothing to take away.
CancellerState = Literal["none", "works", "resting"]
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


class EchoBand(msgspec.Struct, frozen=True):
    """A band of frequencies: how loud the box's own sound was in the microphone, what the canceller
    left of it, and the room without it; dB of full scale, -100 where nothing was counted."""

    low_hz: Count
    high_hz: Count
    heard_db: float
    left_db: float
    noise_db: float


class EchoMeasured(BaseMessage, frozen=True):
    """What the canceller took away while the box sounded for trial `number`, `sounded_s` seconds.

    `onsets`: so often the box took a sound for somebody meanwhile; nobody was to talk. `clipped`:
    samples of the microphone at the ends of its range.
    """

    number: Count
    bands: Annotated[tuple[EchoBand, ...], msgspec.Meta(max_length=8)]
    sounded_s: float
    onsets: Count
    clipped: Count
    canceller: CancellerState


class ShowLight(BaseMessage, frozen=True):
    """Show a row of the light's table for some seconds, so that an owner learns what it means."""

    pattern: NameText

"""Messages of the trials on the page: loudspeaker, microphone, echo and light."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from appliance.messages.limits import Count, NameText
from appliance.messages.message import BaseMessage

# Trials with sound: a tone from the loudspeaker; the microphone, recorded and played back; the
# attenuation of the echo canceller. The listener measures the echo during a tone, too.
TrialKind = Literal["tone", "microphone", "echo"]
# State of the echo canceller: none is used; it works; it updates rarely, since there is no echo.
CancellerState = Literal["none", "works", "resting"]
# Why a trial is refused: speech or an answer is in progress; the microphone is off; loudspeaker or
# microphone, or a process that serves it, is unavailable.
TrialRefusal = Literal["busy", "muted", "no-voice", "no-microphone"]


class StartTrial(BaseMessage, frozen=True):
    """Start trial `number`, a number that the page assigns; the listener does its part of it."""

    number: Count
    kind: TrialKind


class TrialRefused(BaseMessage, frozen=True):
    """Trial `number` cannot be started now, or ended without a result."""

    number: Count
    why: TrialRefusal


class EndTrial(BaseMessage, frozen=True):
    """Trial `number` is cancelled: stop everything that belongs to it."""

    number: Count


class SoundRecording(BaseMessage, frozen=True):
    """The recording of the microphone for trial `number` has started (`on`) or ended."""

    number: Count
    on: bool


class SoundRecorded(BaseMessage, frozen=True):
    """Levels of the recording of trial `number` in dB full scale, and its clipped samples, as
    defined in hear/sound_measures.py. `played`: the recording is ready for the speaker, amplified
    by `gain_db`; false: it is silent and is not played."""

    number: Count
    peak_db: float
    speech_db: float
    noise_db: float
    offset_db: float
    clipped: Count
    gain_db: float
    played: bool


class EchoBand(msgspec.Struct, frozen=True):
    """Levels in one frequency band: the echo in the microphone, what the canceller left of it, and
    the room's noise without echo; in dB full scale, -100 where nothing was measured."""

    low_hz: Count
    high_hz: Count
    heard_db: float
    left_db: float
    noise_db: float


class EchoMeasured(BaseMessage, frozen=True):
    """Echo attenuation during trial `number`, while the box played sound for `sounded_s` seconds.

    `onsets`: number of onsets detected meanwhile, all false if the owner was silent as asked.
    `clipped`: samples of the microphone at the ends of its range.
    """

    number: Count
    bands: Annotated[tuple[EchoBand, ...], msgspec.Meta(max_length=8)]
    sounded_s: float
    onsets: Count
    clipped: Count
    canceller: CancellerState


class ShowLight(BaseMessage, frozen=True):
    """Show a pattern of the light for some seconds, so that an owner learns its meaning."""

    pattern: NameText

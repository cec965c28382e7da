"""The sounds that are no words: two soft notes before an announcement, and the opening when the box
wakes up, from which the echo canceller learns the room. Both are made here."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from appliance.processes import RATE_HZ
from appliance.voice.voice import Samples

Wave = npt.NDArray[np.float64]

NOTES_HZ = (587.33, 783.99)  # D5 and G5: inside what a small loudspeaker does well
NOTE_S = 0.16  # from one note to the next
RING_S = 0.35  # a note rings on into the next one
DECAY_S = 0.09  # until a note has fallen to 37 %
ATTACK_S = 0.004  # no click
PEAK = 0.12  # of full scale: as loud as the voice after it, whose rms is 18 dB below full scale
REST_S = 0.12  # of silence, then the words


def chime() -> Samples:
    """Shape (n,), int16."""
    ring = np.arange(round(RING_S * RATE_HZ)) / RATE_HZ
    shape = np.minimum(ring / ATTACK_S, 1.0) * np.exp(-ring / DECAY_S)
    shape *= np.clip((RING_S - ring) / 0.03, 0.0, 1.0)  # ends at zero
    begin = [round(number * NOTE_S * RATE_HZ) for number in range(len(NOTES_HZ))]
    sound = np.zeros(begin[-1] + len(ring) + round(REST_S * RATE_HZ))
    for at, pitch_hz in zip(begin, NOTES_HZ, strict=True):
        sound[at : at + len(ring)] += shape * np.sin(2 * np.pi * pitch_hz * ring)
    samples: Samples = (sound * PEAK * 32767 / np.abs(sound).max()).astype(np.int16)
    return samples


OPENING_HZ = (293.66, 440.0, 587.33, 739.99)  # D4, A4, D5, F#5: each begins a little after the last
OPENING_S, OPENING_NOTE_S = 1.4, 0.12
OPENING_PEAK = 0.35  # louder than the announcement: what it teaches must hold for a loud voice
AIR = 0.6  # of the notes' power, in breath that moves up through the band: tones alone have gaps
HIGHEST_HZ = 7200.0


def opening() -> Samples:
    """Shape (n,), int16: a spread chord with overtones and a breath of air over the whole band.

    A room's response can be learned only at frequencies that sound; a chord alone has few of them.
    """
    frames = round(OPENING_S * RATE_HZ)
    time_s = np.arange(frames) / RATE_HZ
    notes = np.zeros(frames)
    for number, pitch_hz in enumerate(OPENING_HZ):
        since = np.maximum(time_s - number * OPENING_NOTE_S, 0.0)
        shape = np.minimum(since / 0.01, 1.0) * np.exp(-since / 0.35)
        for overtone in range(1, int(HIGHEST_HZ / pitch_hz) + 1):
            notes += shape * np.sin(2 * np.pi * overtone * pitch_hz * since) / overtone**1.2
    sound = notes / np.sqrt(np.mean(notes**2)) + AIR * _air(frames)
    sound *= np.minimum(time_s / 0.02, 1.0) * np.clip((OPENING_S - time_s) / 0.4, 0.0, 1.0)
    rest = np.zeros(round(REST_S * RATE_HZ))
    whole = np.concatenate([sound, rest])
    samples: Samples = (whole * OPENING_PEAK * 32767 / np.abs(whole).max()).astype(np.int16)
    return samples


def _air(frames: int) -> Wave:
    """Pink-ish noise, rms 1; always the same."""
    spectrum = np.fft.rfft(np.random.default_rng(0).standard_normal(frames))
    frequency_hz = np.fft.rfftfreq(frames, 1 / RATE_HZ)
    spectrum *= np.where((frequency_hz > 90) & (frequency_hz < HIGHEST_HZ), 1, 0)
    spectrum /= np.sqrt(np.maximum(frequency_hz, 90.0))
    air = np.fft.irfft(spectrum, frames)
    even: Wave = air / np.sqrt(np.mean(air**2))
    return even

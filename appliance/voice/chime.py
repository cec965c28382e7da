"""The sound before an announcement: two soft notes, a rising fourth, made here."""

from __future__ import annotations

import numpy as np

from appliance.processes import RATE_HZ
from appliance.voice.voice import Samples

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

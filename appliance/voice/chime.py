"""Synthesises the sounds without words: the two notes before an announcement, the ring of a timer,
the opening chord at the start, from which the echo canceller learns the room, and the sweep by
which an owner tests the loudspeaker."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from appliance.messages.speech import Speak
from appliance.pcm import RATE_HZ, Samples

Wave = npt.NDArray[np.float64]

NOTES_HZ = (587.33, 783.99)  # D5 and G5: within the range of a small loudspeaker
NOTE_S = 0.16  # from one note to the next
RING_S = 0.35  # length of a note; it overlaps the next one
DECAY_S = 0.09  # time in which a note falls to 37 %
ATTACK_S = 0.004  # short, but long enough not to click
PEAK = 0.12  # of full scale: as loud as the voice after it, whose rms is 18 dB below full scale
REST_S = 0.12  # of silence before the words


def chime() -> Samples:
    """Shape (n,), int16."""
    return _bell_notes([(note * NOTE_S, pitch_hz) for note, pitch_hz in enumerate(NOTES_HZ)], PEAK)


BELL_HZ = (880.0, 1174.66)  # A5 and D6: audible across a room, and above the pitch of voices
STROKES, STROKE_S, STROKES_IN_A_ROW = 8, 0.13, 4
BETWEEN_S = 0.25  # between the two rows of strokes
BELL_PEAK = 0.2  # as loud as the voice: where echo is strong, a louder one's is detected as speech


def ring() -> Samples:
    """Shape (n,), int16: two rows of quick strokes on a bell, to be played before the words."""
    return _bell_notes(
        [
            (stroke * STROKE_S + stroke // STROKES_IN_A_ROW * BETWEEN_S, BELL_HZ[stroke % 2])
            for stroke in range(STROKES)
        ],
        BELL_PEAK,
    )


def _bell_notes(notes: list[tuple[float, float]], peak: float) -> Samples:
    """Notes, given as (start in seconds, pitch in Hz), that are struck and decay; then a rest."""
    tail = np.arange(round(RING_S * RATE_HZ)) / RATE_HZ
    shape = np.minimum(tail / ATTACK_S, 1.0) * np.exp(-tail / DECAY_S)
    shape *= np.clip((RING_S - tail) / 0.03, 0.0, 1.0)  # ends at zero
    last_s, _ = notes[-1]
    sound = np.zeros(round(last_s * RATE_HZ) + len(tail) + round(REST_S * RATE_HZ))
    for begin_s, pitch_hz in notes:
        begin = round(begin_s * RATE_HZ)
        sound[begin : begin + len(tail)] += shape * np.sin(2 * np.pi * pitch_hz * tail)
    samples: Samples = (sound * peak * 32767 / np.abs(sound).max()).astype(np.int16)
    return samples


OPENING_HZ = (293.66, 440.0, 587.33, 739.99)  # D4, A4, D5, F#5: OPENING_NOTE_S apart
OPENING_S, OPENING_NOTE_S = 1.4, 0.12
OPENING_PEAK = 0.35  # louder than the chime: the echo path must also be valid for a loud voice
NOISE = 0.6  # rms of the noise relative to the notes': it fills the band between the tones
HIGHEST_HZ = 7200.0


def opening() -> Samples:
    """Shape (n,), int16: a spread chord with overtones, and soft noise over the whole band.

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
    sound = notes / np.sqrt(np.mean(notes**2)) + NOISE * _pink_noise(frames)
    sound *= np.minimum(time_s / 0.02, 1.0) * np.clip((OPENING_S - time_s) / 0.4, 0.0, 1.0)
    rest = np.zeros(round(REST_S * RATE_HZ))
    padded = np.concatenate([sound, rest])
    samples: Samples = (padded * OPENING_PEAK * 32767 / np.abs(padded).max()).astype(np.int16)
    return samples


SWEEP_HZ = 100.0, 7200.0  # lowest frequency for a small loudspeaker; upper end of the box's band
SWEEP_S = 6.0
SWEEP_PEAK = 0.2  # as loud as the voice: at this level low tones cannot damage a small loudspeaker


def sweep() -> Samples:
    """Shape (n,), int16: an exponential sine sweep (A. Farina, "Simultaneous measurement of impulse
    response and distortion with a swept-sine technique", 2000). The pitch at which a rattle, a gap
    or a cut-off is heard is its frequency."""
    low_hz, high_hz = SWEEP_HZ
    time_s = np.arange(round(SWEEP_S * RATE_HZ)) / RATE_HZ
    growth = np.log(high_hz / low_hz)
    turns = low_hz * SWEEP_S / growth * np.expm1(time_s / SWEEP_S * growth)
    shape = np.clip(np.minimum(time_s, SWEEP_S - time_s) / 0.05, 0.0, 1.0)
    sound = SWEEP_PEAK * shape * np.sin(2 * np.pi * turns)
    samples: Samples = (32767 * sound).astype(np.int16)
    return samples


def sound_before(order: Speak, recording: Callable[[], Samples]) -> Samples:
    """The sound before the words of `order`. `recording`: returns the owner's test recording."""
    if order.sound:
        return {"sweep": sweep, "opening": opening, "recording": recording}[order.sound]()
    return ring() if order.ring else chime() if order.text else opening()


def _pink_noise(frames: int) -> Wave:
    """Approximately pink noise, rms 1; the same at each call."""
    spectrum = np.fft.rfft(np.random.default_rng(0).standard_normal(frames))
    frequency_hz = np.fft.rfftfreq(frames, 1 / RATE_HZ)
    spectrum *= np.where((frequency_hz > 90) & (frequency_hz < HIGHEST_HZ), 1, 0)
    spectrum /= np.sqrt(np.maximum(frequency_hz, 90.0))
    air = np.fft.irfft(spectrum, frames)
    even: Wave = air / np.sqrt(np.mean(air**2))
    return even

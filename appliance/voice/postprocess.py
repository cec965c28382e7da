"""Converts a synthesiser's sound to the box's: 16 kHz, silence trimmed at both ends, one loudness.

The only user of the resampler. It works on a stream; its state belongs to one sentence.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import soxr

from appliance.pcm import EMPTY, RATE_HZ, Samples

Floats = npt.NDArray[np.float32]  # mono, full scale is 1.0

TARGET_DBFS = -18.0  # rms of the voiced parts: comfortable, with 18 dB left for peaks
QUIET = 10 ** (-50 / 20)  # of full scale; quieter samples at both ends are trimmed
LEAD_FRAMES = RATE_HZ * 15 // 1000  # preserved before the first louder sample: soft consonants
TAIL_FRAMES = RATE_HZ * 30 // 1000  # preserved after the last: the decay of a final vowel
KNEE = 0.6  # of full scale: peaks above it are compressed, never clipped
_FRAME_S = 0.02


def rms_dbfs(samples: npt.NDArray[np.generic], rate_hz: int) -> float:
    """Loudness of the sounding parts: rms over the 20 ms frames within 40 dB of the loudest one.

    `samples` is floating point of full scale 1.0, or int16. Silence is -inf.
    """
    scale = 32768.0 if samples.dtype == np.int16 else 1.0
    frame = max(1, int(rate_hz * _FRAME_S))
    truncated = samples[: max(1, len(samples) // frame) * frame].astype(np.float64) / scale
    if not len(truncated):
        return -np.inf
    power = (truncated.reshape(-1, min(frame, len(truncated))) ** 2).mean(axis=1)
    loud = power[power > power.max() * 1e-4]
    return float(10 * np.log10(loud.mean())) if len(loud) else -np.inf


def gain_for(dbfs: float) -> float:
    """The factor that brings sound of loudness `dbfs` to TARGET_DBFS."""
    return float(10 ** ((TARGET_DBFS - dbfs) / 20)) if np.isfinite(dbfs) else 1.0


class SpeechPostprocessor:
    """Converts the samples of one sentence."""

    def __init__(self, rate_hz: int) -> None:
        """`rate_hz`: of the samples that `process` gets."""
        self._resampler = (
            soxr.ResampleStream(rate_hz, RATE_HZ, 1, dtype="float32")
            if rate_hz != RATE_HZ
            else None
        )
        self._held: Floats = np.empty(0, np.float32)  # quiet end: trimmed if no sound follows
        self._started = False
        self.dropped = 0  # samples of leading silence, at 16 kHz, that were trimmed

    def process(self, samples: Floats, gain: float = 1.0, *, last: bool = False) -> Samples:
        """The next samples, multiplied by `gain`. `last` flushes the resampler."""
        if self._resampler is not None:
            samples = self._resampler.resample_chunk(samples.astype(np.float32), last=last)
        trimmed = self._trim(samples * np.float32(gain), last)
        return _to_int16(trimmed) if len(trimmed) else EMPTY

    def _trim(self, samples: Floats, last: bool) -> Floats:
        joined = np.concatenate([self._held, samples])
        loud = np.flatnonzero(np.abs(joined) >= QUIET)
        if not len(loud):
            # Before the sentence only the lead may be needed; inside it every sample may be.
            self._held = joined if self._started else joined[-LEAD_FRAMES:]
            self.dropped += len(joined) - len(self._held)
            out = joined[:0]
        else:
            start = 0 if self._started else max(0, int(loud[0]) - LEAD_FRAMES)
            end = int(loud[-1]) + 1
            self.dropped += start
            self._started = True
            self._held = joined[end:]
            out = joined[start:end]
        if last and self._started:
            out = np.concatenate([out, self._held[:TAIL_FRAMES]])
        return out


def _to_int16(samples: Floats) -> Samples:
    size = np.abs(samples)
    bent = KNEE + (1 - KNEE) * np.tanh((size - KNEE) / (1 - KNEE))
    limited = np.sign(samples) * np.where(size > KNEE, bent, size)
    pcm: Samples = np.rint(limited * 32767).astype(np.int16)
    return pcm

"""Synthetic rooms: the echo path from loudspeaker to microphone, and background noise.

In: a reverberation time, levels in dBFS rms (0 dBFS: rms 32768), a seed. Out: the taps of an
impulse response, int16 samples. The same seed gives the same room.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from appliance.errors import CardError
from appliance.pcm import FULL_SCALE, Samples, to_int16
from lab.sim.card_memory_layout import MAX_TAPS

NOISES = ("white", "pink", "kitchen")
# Speech from espeak-ng with its peaks at full scale has an rms of -18.8 and -19.1 dBFS.
FULL_SCALE_SPEECH_DB = -19.0
DIRECT_TO_REVERBERANT_DB = 3.0  # microphone and loudspeaker share a box: strong direct sound
FADE_S = 0.005  # at the end of an impulse response that is cut off, so that it does not click


def impulse_response(
    rt60_s: float, *, rate_hz: int, echo_db: float, seed: int = 0
) -> npt.NDArray[np.float32]:
    """The echo path of a room: a direct sound, then noise that decays by 60 dB in `rt60_s`.

    Scaled so that an answer of full-scale speech (its peaks at full scale, `FULL_SCALE_SPEECH_DB`
    rms, the spectrum of `_speech_power`) arrives at the microphone with `echo_db` dBFS rms. An
    answer 6 dB softer arrives 6 dB softer. Shape (taps,), the direct sound first; cut off with a
    fade where it would exceed the card's taps (0.51 s at 16 kHz, 0.17 s at 48 kHz).
    """
    if not 0 < rt60_s <= 10:
        raise CardError(f"A reverberation time of {rt60_s:g} s is not between 0 and 10 s.")
    decay_frames = max(2, round(rt60_s * rate_hz))
    taps = min(decay_frames, MAX_TAPS)
    random = np.random.default_rng(seed)
    h = random.standard_normal(taps) * 10.0 ** (-3.0 * np.arange(taps) / decay_frames)
    h[0] = 0
    h[0] = np.sqrt(np.sum(h**2) * 10 ** (DIRECT_TO_REVERBERANT_DB / 10))
    if taps < decay_frames:
        fade = min(taps, round(FADE_S * rate_hz))
        h[-fade:] *= np.linspace(1, 0, fade)
    bins = 1 << (2 * taps - 1).bit_length()
    weight = _speech_power(np.fft.rfftfreq(bins, 1 / rate_hz))
    gain_power = np.sum(np.abs(np.fft.rfft(h, bins)) ** 2 * weight) / np.sum(weight)
    wanted_power = 10 ** ((echo_db - FULL_SCALE_SPEECH_DB) / 10)
    scaled: npt.NDArray[np.float32] = (h * np.sqrt(wanted_power / gain_power)).astype(np.float32)
    return scaled


def _speech_power(frequency_hz: npt.NDArray[np.floating[Any]]) -> npt.NDArray[np.float64]:
    """The long-term spectrum of speech: flat from 100 to 500 Hz, then 9 dB less each octave.

    A smoothed form of Byrne et al. 1994, "An international comparison of long-term average speech
    spectra".
    """
    power: npt.NDArray[np.float64] = np.maximum(frequency_hz / 500, 1.0) ** -3
    power[frequency_hz < 100] = 0
    return power


def noise(kind: str, frames: int, *, level_db: float, rate_hz: int, seed: int = 0) -> Samples:
    """Noise of `level_db` dBFS rms, shape (frames,). Repeated end to end it has no seam.

    "white"; "pink", 3 dB less each octave above 20 Hz; "kitchen": a fan, a refrigerator's hum and,
    about once a second, the clatter of dishes.
    """
    if kind not in NOISES:
        raise CardError(f"No noise is called {kind!r}.", f"There is {', '.join(NOISES)}.")
    if frames < 1:
        raise CardError("A noise has at least one frame.")
    random = np.random.default_rng(seed)
    if kind == "kitchen":
        wave = _kitchen(random, frames, rate_hz)
    else:
        wave = _shaped(random, frames, rate_hz, slope=0.0 if kind == "white" else -0.5)
    wave *= FULL_SCALE * 10 ** (level_db / 20) / np.sqrt(np.mean(wave**2))
    return to_int16(wave)


def _shaped(
    random: np.random.Generator, frames: int, rate_hz: int, *, slope: float
) -> npt.NDArray[np.float64]:
    """Gaussian noise whose amplitude goes with frequency ** slope; rms 1. Periodic in `frames`."""
    white = random.standard_normal(frames)
    frequency_hz = np.fft.rfftfreq(frames, 1 / rate_hz)
    spectrum = np.fft.rfft(white) * np.maximum(frequency_hz / 20, 1.0) ** slope
    wave: npt.NDArray[np.float64] = np.fft.irfft(spectrum, frames)
    wave /= np.sqrt(np.mean(wave**2))
    return wave


def _kitchen(random: np.random.Generator, frames: int, rate_hz: int) -> npt.NDArray[np.float64]:
    wave = _shaped(random, frames, rate_hz, slope=-0.75)
    time_s = np.arange(frames) / rate_hz
    for overtone in (1, 2, 3, 5):
        # Rounded to whole periods, so that the hum too has no seam.
        periods = max(1, round(50 * overtone * frames / rate_hz))
        phase = random.uniform(0, 2 * np.pi)
        wave += 0.5 / overtone * np.sin(2 * np.pi * periods * time_s * rate_hz / frames + phase)
    for _ in range(random.poisson(frames / rate_hz)):
        wave = _add_clatter(random, wave, rate_hz)
    return wave


def _add_clatter(
    random: np.random.Generator, wave: npt.NDArray[np.float64], rate_hz: int
) -> npt.NDArray[np.float64]:
    """Add the sound of one dish: five inharmonic partials that decay within a tenth of a second."""
    length = min(len(wave), round(0.3 * rate_hz))
    time_s = np.arange(length) / rate_hz
    ring = np.zeros(length)
    for _ in range(5):
        frequency_hz = random.uniform(1000, min(6000, 0.45 * rate_hz))
        ring += np.sin(2 * np.pi * frequency_hz * time_s) * np.exp(
            -time_s / random.uniform(0.01, 0.05)
        )
    places = (random.integers(len(wave)) + np.arange(length)) % len(wave)
    wave[places] += ring * random.uniform(0.5, 3.0)
    return wave

"""Synthesises sounds other than speech: cough, breath, clap, knock, clatter, door, music.

In: a seed. Out: a clip with its onset. The sounds are shaped noise and decaying tones, without any
recording, and simpler than real ones.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from appliance.pcm import RATE_HZ
from lab.sim import speech_source
from lab.sim.corpus import Floats, SoundClip

Wave = npt.NDArray[np.float64]
LEAD_FRAMES = RATE_HZ // 20  # of silence before the sound, as in a recording


def noise(name: str, seed: int) -> SoundClip:
    """The sound `name`; the same seed gives the same sound. Raises KeyError for an unknown name."""
    wave = NOISES[name](np.random.default_rng([seed, len(name)]))
    peak = float(np.abs(wave).max())
    padded: Floats = np.zeros(LEAD_FRAMES + len(wave) + LEAD_FRAMES, np.float32)
    padded[LEAD_FRAMES : LEAD_FRAMES + len(wave)] = 0.5 * wave / peak
    onset, end = speech_source.edges(padded)
    return SoundClip(padded, onset, end, clear=True)


def _cough(rng: np.random.Generator) -> Wave:
    """One to three bursts of 200 to 350 ms, each with rough voicing that decays."""
    barks = []
    for _ in range(rng.integers(1, 4)):
        frames = round(rng.uniform(0.2, 0.35) * RATE_HZ)
        time_s = np.arange(frames) / RATE_HZ
        hiss = _band(rng, frames, rng.uniform(400, 900), rng.uniform(2500, 4500))
        pitch_hz = rng.uniform(90, 220) * (1 - 0.4 * time_s)
        rough = np.sign(np.sin(2 * np.pi * np.cumsum(pitch_hz) / RATE_HZ)) * hiss
        mixed = hiss * np.exp(-time_s / 0.05) + rough * rng.uniform(0.2, 0.7)
        barks.append(mixed * _rise(frames, 0.004) * np.exp(-time_s / rng.uniform(0.05, 0.1)))
        barks.append(np.zeros(round(rng.uniform(0.05, 0.2) * RATE_HZ)))
    return np.concatenate(barks[:-1])


def _breath(rng: np.random.Generator) -> Wave:
    """Filtered noise of 0.35 to 1 s that fades in and out."""
    frames = round(rng.uniform(0.35, 1.0) * RATE_HZ)
    hiss = _band(rng, frames, rng.uniform(300, 900), rng.uniform(3000, 7000))
    return hiss * np.sin(np.linspace(0, np.pi, frames)) ** rng.uniform(0.7, 1.6)


def _clap(rng: np.random.Generator) -> Wave:
    """One to three bursts of 20 to 60 ms."""
    return _bursts(rng, int(rng.integers(1, 4)), (0.02, 0.06), (700, 6000), (0.2, 0.5))


def _knock(rng: np.random.Generator) -> Wave:
    """Two or three low, short bursts."""
    return _bursts(rng, int(rng.integers(2, 4)), (0.03, 0.08), (80, 900), (0.12, 0.3))


def _footsteps(rng: np.random.Generator) -> Wave:
    return _bursts(rng, int(rng.integers(2, 5)), (0.04, 0.1), (60, 1800), (0.35, 0.6))


def _clatter(rng: np.random.Generator) -> Wave:
    """Dishes: inharmonic partials, struck two to eight times."""
    frames = round(rng.uniform(0.4, 1.2) * RATE_HZ)
    wave = np.zeros(frames)
    for _ in range(rng.integers(2, 9)):
        at = int(rng.integers(0, frames // 2))
        time_s = np.arange(frames - at) / RATE_HZ
        ring = np.zeros(frames - at)
        for _ in range(rng.integers(4, 9)):
            pitch_hz, decay_s = rng.uniform(900, 7000), rng.uniform(0.01, 0.12)
            ring += np.sin(2 * np.pi * pitch_hz * time_s) * np.exp(-time_s / decay_s)
        wave[at:] += ring * rng.uniform(0.2, 1.0)
    return wave


def _door(rng: np.random.Generator) -> Wave:
    """A low thud, and sometimes the latch before it."""
    frames = round(rng.uniform(0.3, 0.6) * RATE_HZ)
    time_s = np.arange(frames) / RATE_HZ
    thud = _band(rng, frames, 40, rng.uniform(250, 600)) * np.exp(-time_s / 0.08)
    thud *= _rise(frames, 0.002)
    if rng.random() < 0.5:
        return thud
    latch = _bursts(rng, 1, (0.02, 0.04), (1500, 6000), (0.05, 0.15))
    return np.concatenate([0.3 * latch / np.abs(latch).max(), thud / np.abs(thud).max()])


def _music(rng: np.random.Generator) -> Wave:
    """One to two seconds of plucked notes of a scale, with overtones."""
    seconds = rng.uniform(1.0, 2.0)
    wave = np.zeros(round(seconds * RATE_HZ))
    root_hz, beat_s = rng.uniform(110, 330), rng.uniform(0.12, 0.3)
    for beat in range(int(seconds / beat_s)):
        at = round(beat * beat_s * RATE_HZ)
        time_s = np.arange(len(wave) - at) / RATE_HZ
        pitch_hz = root_hz * 2 ** (rng.choice([0, 2, 4, 5, 7, 9, 11, 12]) / 12)
        for overtone in range(1, 6):
            decay_s = 0.5 / overtone
            tone = np.sin(2 * np.pi * overtone * pitch_hz * time_s) / overtone
            wave[at:] += tone * np.exp(-time_s / decay_s) * np.minimum(time_s / 0.003, 1.0)
    return wave


NOISES: dict[str, Callable[[np.random.Generator], Wave]] = {
    "cough": _cough, "breath": _breath, "clap": _clap, "knock": _knock, "footsteps": _footsteps,
    "clatter": _clatter, "door": _door, "music": _music,
}  # fmt: skip


def _bursts(
    rng: np.random.Generator,
    count: int,
    length_s: tuple[float, float],
    band_hz: tuple[float, float],
    apart_s: tuple[float, float],
) -> Wave:
    """Bursts of band-limited noise, each decaying by 40 dB over its length, with pauses."""
    pieces = []
    for _ in range(count):
        frames = round(rng.uniform(*length_s) * RATE_HZ)
        low, high = band_hz[0] * rng.uniform(0.8, 1.5), band_hz[1] * rng.uniform(0.6, 1.0)
        burst = _band(rng, frames, low, high) * np.geomspace(1, 0.01, frames)
        pieces += [burst, np.zeros(round(rng.uniform(*apart_s) * RATE_HZ))]
    return np.concatenate(pieces[:-1])


def _band(rng: np.random.Generator, frames: int, low_hz: float, high_hz: float) -> Wave:
    """Noise between two frequencies, rms 1."""
    size = max(frames, 512)
    spectrum = np.fft.rfft(rng.standard_normal(size))
    frequency_hz = np.fft.rfftfreq(size, 1 / RATE_HZ)
    spectrum[(frequency_hz < low_hz) | (frequency_hz > high_hz)] = 0
    wave: Wave = np.fft.irfft(spectrum, size)[:frames]
    return wave / (float(np.sqrt(np.mean(wave**2))) or 1.0)


def _rise(frames: int, seconds: float) -> Wave:
    return np.minimum(np.arange(frames) / (seconds * RATE_HZ), 1.0)

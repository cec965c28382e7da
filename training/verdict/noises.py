"""Synthetic noises beside those of the benches: sneeze, laugh, throat, keys, dishes, alarms, water.

In: a seeded generator. Out: a clip (float32 mono, 16 kHz), made of shaped noise, irregular pulses
and decaying tones.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from appliance.pcm import RATE_HZ
from lab.sim import synthetic_noises

Wave = npt.NDArray[np.float32]
Floats = npt.NDArray[np.float64]


def noise(chance: np.random.Generator) -> tuple[str, Wave]:
    """Name and sound of a random noise: 45 % are the benches' kinds with other seeds."""
    if chance.random() < 0.45:
        name = str(chance.choice(sorted(synthetic_noises.NOISES)))
        clip = synthetic_noises.noise(name, int(chance.integers(1_000_000, 2_000_000)))
        wave: Wave = clip.samples[clip.onset : clip.end]
    else:
        name = str(chance.choice(sorted(MORE)))
        made = MORE[name](chance)
        wave = made.astype(np.float32)
    if chance.random() < 0.4:  # two in a row, as of dishes
        pause = np.zeros(int(chance.uniform(0.0, 0.2) * RATE_HZ), np.float32)
        wave = np.concatenate([wave, pause, wave * np.float32(chance.uniform(0.2, 1.0))])
    wave = wave[: int(1.6 * RATE_HZ)]
    return name, wave * np.float32(0.5 / (np.abs(wave).max() or 1.0))


def _band(chance: np.random.Generator, frames: int, low_hz: float, high_hz: float) -> Floats:
    """Noise between two frequencies with soft edges, rms 1."""
    hz = np.fft.rfftfreq(max(frames, 256), 1 / RATE_HZ)
    gain = 1 / (1 + (low_hz / np.maximum(hz, 1)) ** 4) / (1 + (hz / high_hz) ** 4)
    spectrum = np.fft.rfft(chance.standard_normal(max(frames, 256))) * gain
    wave: Floats = np.fft.irfft(spectrum, max(frames, 256))[:frames]
    return wave / (float(np.sqrt(np.mean(wave**2))) or 1.0)


def _swell(chance: np.random.Generator, frames: int, rise: float) -> Floats:
    """An envelope that rises in the share `rise` of the time, then decays."""
    at = max(1, int(rise * frames))
    fall = np.exp(-np.arange(frames - at) / max(1, (frames - at) * chance.uniform(0.15, 0.5)))
    return np.concatenate([np.linspace(0, 1, at) ** chance.uniform(0.5, 2), fall])


def _rough(chance: np.random.Generator, frames: int, pitch_hz: float, jitter: float) -> Floats:
    """Irregular pulses with the resonances of an open mouth, without a melody."""
    period = RATE_HZ / pitch_hz
    pulses = np.zeros(frames)
    at = 0.0
    while at < frames:
        pulses[int(at)] = chance.uniform(0.4, 1.0)
        at += max(20.0, period * (1 + jitter * chance.standard_normal()))
    hz = np.fft.rfftfreq(frames, 1 / RATE_HZ)
    gain = np.zeros(len(hz))
    for middle in (500, 1500, 2500, 3500):
        f = middle * chance.uniform(0.8, 1.25)
        gain += 1 / (1 + ((hz - f) / chance.uniform(120, 300)) ** 2)
    wave: Floats = np.fft.irfft(np.fft.rfft(pulses) * gain, frames)
    return wave / (np.abs(wave).max() or 1.0)


def _cough(chance: np.random.Generator) -> Floats:
    """An explosive burst, then rough voice and air, then often a last voiced grunt."""
    barks: list[Floats] = []
    for _ in range(int(chance.integers(1, 4))):
        frames = int(chance.uniform(0.15, 0.4) * RATE_HZ)
        air = _band(chance, frames, chance.uniform(200, 700), chance.uniform(2000, 6000))
        voice = _rough(chance, frames, chance.uniform(100, 400), chance.uniform(0.1, 0.5))
        bark = air / 3 + voice * chance.uniform(0.2, 1.2)
        barks += [bark * _swell(chance, frames, chance.uniform(0.01, 0.08)),
                  np.zeros(int(chance.uniform(0.03, 0.25) * RATE_HZ))]  # fmt: skip
    return np.concatenate(barks[:-1])


def _throat(chance: np.random.Generator) -> Floats:
    """Throat clearing: low, very irregular pulses up to half a second long, one to three times."""
    pieces: list[Floats] = []
    for _ in range(int(chance.integers(1, 4))):
        frames = int(chance.uniform(0.12, 0.5) * RATE_HZ)
        wave = _rough(chance, frames, chance.uniform(50, 160), chance.uniform(0.2, 0.6))
        air = _band(chance, frames, 300, 4000)
        pieces += [(wave + air * chance.uniform(0.03, 0.3)) * _swell(chance, frames, 0.2),
                   np.zeros(int(chance.uniform(0.02, 0.12) * RATE_HZ))]  # fmt: skip
    return np.concatenate(pieces[:-1])


def _sneeze(chance: np.random.Generator) -> Floats:
    breath = int(chance.uniform(0.1, 0.4) * RATE_HZ)
    inwards = _band(chance, breath, 500, 5000) * np.linspace(0, 0.2, breath)
    frames = int(chance.uniform(0.2, 0.5) * RATE_HZ)
    out = _band(chance, frames, chance.uniform(400, 1500), 7500)
    out += _rough(chance, frames, chance.uniform(150, 400), 0.2) * 2
    return np.concatenate([inwards, out * _swell(chance, frames, 0.04)])


def _laugh(chance: np.random.Generator) -> Floats:
    """Two to six pulses with decreasing level and air between them, at a regular rate."""
    pieces: list[Floats] = []
    pitch_hz = chance.uniform(120, 420)
    for i in range(int(chance.integers(2, 7))):
        frames = int(chance.uniform(0.05, 0.13) * RATE_HZ)
        ha = _rough(chance, frames, pitch_hz * chance.uniform(0.85, 1.1), 0.04)
        ha += _band(chance, frames, 500, 4000) * chance.uniform(0.05, 0.3)
        air = int(chance.uniform(0.05, 0.14) * RATE_HZ)
        pieces += [
            ha * _swell(chance, frames, 0.25) * 0.85**i,
            _band(chance, air, 700, 4000) * 0.04,
        ]
    return np.concatenate(pieces)


def _sigh(chance: np.random.Generator) -> Floats:
    frames = int(chance.uniform(0.3, 1.2) * RATE_HZ)
    return _band(chance, frames, chance.uniform(200, 900), chance.uniform(1500, 6000)) * _swell(
        chance, frames, chance.uniform(0.1, 0.6)
    )


def _keys(chance: np.random.Generator) -> Floats:
    """A keyboard, a pen, a bag: many small clicks."""
    wave = np.zeros(int(chance.uniform(0.3, 1.4) * RATE_HZ))
    for _ in range(int(chance.integers(2, 20))):
        frames = int(chance.uniform(0.004, 0.03) * RATE_HZ)
        at = int(chance.integers(0, max(1, len(wave) - frames)))
        click = _band(chance, frames, chance.uniform(200, 2500), 7800) * np.geomspace(
            1, 0.02, frames
        )
        wave[at : at + frames] += click * chance.uniform(0.2, 1.0)
    return wave


def _dishes(chance: np.random.Generator) -> Floats:
    """Struck glass, metal or china: inharmonic partials, some of them long."""
    wave = np.zeros(int(chance.uniform(0.3, 1.4) * RATE_HZ))
    for _ in range(int(chance.integers(1, 6))):
        at = int(chance.integers(0, len(wave) * 2 // 3))
        seconds = np.arange(len(wave) - at) / RATE_HZ
        root_hz = chance.uniform(300, 3500)
        ring = np.zeros(len(seconds))
        for _ in range(int(chance.integers(3, 9))):
            hz = min(7800.0, root_hz * chance.uniform(1, 4.5))
            ring += chance.uniform(0.2, 1) * np.sin(2 * np.pi * hz * seconds) * np.exp(
                -seconds / chance.uniform(0.01, 0.35))  # fmt: skip
        strike = _band(chance, len(seconds), 1000, 7500) * np.exp(-seconds / 0.004)
        wave[at:] += (ring + strike) * chance.uniform(0.2, 1.0)
    return wave


def _thump(chance: np.random.Generator) -> Floats:
    """A door, a drawer, a box put down: low, followed by a rattle."""
    frames = int(chance.uniform(0.15, 0.7) * RATE_HZ)
    seconds = np.arange(frames) / RATE_HZ
    low = np.sin(2 * np.pi * chance.uniform(50, 180) * seconds) * np.exp(-seconds / 0.05)
    crack = _band(chance, frames, chance.uniform(100, 600), 5000) * np.exp(
        -seconds / chance.uniform(0.01, 0.08)
    )
    rattle = _band(chance, frames, 800, 6000) * (chance.random(frames) < 0.01)
    return low * chance.uniform(0, 2) + crack + rattle * chance.uniform(0, 1)


def _alarm(chance: np.random.Generator) -> Floats:
    """An oven, a telephone, a microwave: beeps, sometimes of several tones."""
    on = int(chance.uniform(0.06, 0.4) * RATE_HZ)
    seconds = np.arange(on) / RATE_HZ
    hz = chance.uniform(400, 3500)
    beep = sum(
        chance.uniform(0.1, 1) * np.sin(2 * np.pi * hz * k * seconds + chance.uniform(0, 6))
        for k in range(1, int(chance.integers(2, 5)))
    ) * np.minimum(1, np.minimum(np.arange(on), np.arange(on)[::-1]) / 60)
    off = np.zeros(int(chance.uniform(0.05, 0.3) * RATE_HZ))
    return np.concatenate([beep, off] * int(chance.integers(1, 5)))


def _whistle(chance: np.random.Generator) -> Floats:
    frames = int(chance.uniform(0.2, 1.2) * RATE_HZ)
    steps = chance.uniform(700, 2800) * np.exp(
        np.cumsum(chance.standard_normal(frames)) * chance.uniform(1e-5, 4e-4)
    )
    tone = np.sin(2 * np.pi * np.cumsum(steps) / RATE_HZ)
    return (tone + _band(chance, frames, 1500, 7000) * 0.05) * _swell(chance, frames, 0.1)


def _chair(chance: np.random.Generator) -> Floats:
    """Wood or rubber over a floor: a rough squeak."""
    frames = int(chance.uniform(0.2, 0.9) * RATE_HZ)
    pulses = _rough(chance, frames, chance.uniform(60, 900), chance.uniform(0.02, 0.3))
    return (pulses + _band(chance, frames, 200, 5000) * chance.uniform(0.02, 0.3)) * _swell(
        chance, frames, 0.3
    )


def _water(chance: np.random.Generator) -> Floats:
    frames = int(chance.uniform(0.4, 1.6) * RATE_HZ)
    flow = _band(chance, frames, chance.uniform(300, 1500), chance.uniform(3000, 7800))
    return flow * np.minimum(1, np.arange(frames) / (chance.uniform(0.005, 0.3) * RATE_HZ))


MORE: dict[str, Callable[[np.random.Generator], Floats]] = {
    "cough 2": _cough, "throat": _throat, "sneeze": _sneeze, "laugh": _laugh, "sigh": _sigh,
    "keys": _keys, "dishes": _dishes, "thump": _thump, "alarm": _alarm, "whistle": _whistle,
    "chair": _chair, "water": _water,
}  # fmt: skip

"""Synthetic backchannels by a source-filter model: mm-hm, uh-huh, mmm.

In: a seeded generator. Out: a clip (float32 mono, 16 kHz). espeak-ng can hum in one voice only;
here size of the vocal tract, pitch, melody, roughness and length of each syllable vary.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from appliance.pcm import RATE_HZ

Wave = npt.NDArray[np.float32]
Floats = npt.NDArray[np.float64]

# Resonances in Hz and their bandwidths, of a middle-sized adult; gain of each against the first.
_NASAL = ((260, 70, 1.0), (1050, 180, 0.12), (2250, 250, 0.08), (3200, 300, 0.03))
_UH = ((620, 90, 1.0), (1180, 120, 0.6), (2450, 200, 0.25), (3400, 280, 0.08))
_AH = ((760, 100, 1.0), (1250, 130, 0.65), (2550, 200, 0.3), (3500, 280, 0.1))
_OH = ((460, 80, 1.0), (850, 110, 0.5), (2400, 220, 0.12), (3300, 280, 0.05))

KINDS = ("mm-hm", "mm", "mhm", "uh-huh", "ah", "oh")


def hum(chance: np.random.Generator) -> tuple[str, Wave]:
    """Kind and sound of a random hum."""
    kind = str(chance.choice(KINDS, p=[0.36, 0.2, 0.14, 0.2, 0.05, 0.05]))
    mouth = {"uh-huh": _UH, "ah": _AH, "oh": _OH}.get(kind, _NASAL)
    size = chance.uniform(0.85, 1.25)
    pitch_hz = float(np.exp(chance.uniform(np.log(75), np.log(280))))
    two = kind in ("mm-hm", "mhm", "uh-huh")
    lengths_s = (
        (chance.uniform(0.06, 0.22), chance.uniform(0.12, 0.42)) if two
        else (chance.uniform(0.18, 0.75),)
    )  # fmt: skip
    tune = chance.choice(["rise", "fall", "flat", "dip"])
    pieces: list[Floats] = []
    for i, seconds in enumerate(lengths_s):
        step = 1.0 if i == 0 else chance.uniform(0.85, 1.45)
        bend = {"rise": 0.25, "fall": -0.3, "flat": 0.0, "dip": 0.15}[str(tune)]
        contour = pitch_hz * step * (1 + bend * chance.uniform(0.3, 1.3) * np.linspace(0, 1, 50))
        voiced = _voice(chance, contour, seconds, mouth, size)
        if i and chance.random() < 0.85:  # the h between the syllables: air through the nose
            pieces.append(_air(chance, chance.uniform(0.02, 0.12), mouth, size))
        pieces.append(voiced * chance.uniform(0.5, 1.0))
    wave = _joined(pieces)
    return kind, (wave * (0.5 / np.abs(wave).max())).astype(np.float32)


def _voice(
    chance: np.random.Generator,
    contour_hz: Floats,
    seconds: float,
    mouth: tuple[tuple[float, float, float], ...],
    size: float,
) -> Floats:
    frames = max(320, int(seconds * RATE_HZ))
    pitch = np.interp(np.linspace(0, 1, frames), np.linspace(0, 1, len(contour_hz)), contour_hz)
    wander = np.convolve(chance.standard_normal(frames), np.ones(800) / 800, "same")
    pitch *= 1 + wander * chance.uniform(0.1, 0.8)
    phase = np.cumsum(pitch / RATE_HZ)
    pulses = np.diff(np.floor(phase), prepend=0.0) * (
        1 + chance.uniform(0, 0.25) * chance.standard_normal(frames)
    )
    source = _tilted(pulses, chance.uniform(0.9, 0.97))
    source += chance.standard_normal(frames) * source.std() * 10 ** (chance.uniform(-40, -15) / 20)
    edge = np.minimum(np.arange(frames), np.arange(frames)[::-1]) / (
        chance.uniform(0.01, 0.06) * RATE_HZ
    )
    return _resonated(source, mouth, size) * np.minimum(edge, 1.0)


def _air(
    chance: np.random.Generator,
    seconds: float,
    mouth: tuple[tuple[float, float, float], ...],
    size: float,
) -> Floats:
    noise = chance.standard_normal(int(seconds * RATE_HZ))
    return _resonated(noise, mouth, size) * 10 ** (chance.uniform(-26, -12) / 20)


def _tilted(pulses: Floats, pole: float) -> Floats:
    """The glottal source: pulses through two poles near zero frequency, -12 dB an octave."""
    bins = np.fft.rfftfreq(len(pulses))
    response = 1 / (1 - pole * np.exp(-2j * np.pi * bins)) ** 2
    out: Floats = np.fft.irfft(np.fft.rfft(pulses) * response, len(pulses))
    out -= out.mean()
    return out


def _resonated(
    source: Floats, mouth: tuple[tuple[float, float, float], ...], size: float
) -> Floats:
    hz = np.fft.rfftfreq(len(source), 1 / RATE_HZ)
    response = np.zeros(len(hz), complex)
    for sign, (middle_hz, width_hz, gain) in zip((1, -1, 1, -1), mouth, strict=True):
        f, b = middle_hz / size, width_hz
        response += sign * gain * (1j * hz * b) / (f**2 - hz**2 + 1j * hz * b)
    out: Floats = np.fft.irfft(np.fft.rfft(source) * response, len(source))
    return out / (np.abs(out).max() or 1.0)


def _joined(pieces: list[Floats]) -> Floats:
    """The pieces concatenated with cross-fades of 8 ms."""
    lap = 128
    out = pieces[0]
    for piece in pieces[1:]:
        lap_now = min(lap, len(out), len(piece))
        fade = np.linspace(0, 1, lap_now)
        out[-lap_now:] *= 1 - fade
        head = piece.copy()
        head[:lap_now] *= fade
        joined = np.zeros(len(out) + len(piece) - lap_now)
        joined[: len(out)] = out
        joined[len(out) - lap_now :] += head
        out = joined
    return out

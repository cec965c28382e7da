"""Augmentation of speech: rooms, noise, level, cuts.

In: a clean clip, other clips for babble and residual echo, a numpy generator.
Out: the clip as the microphone records it, float32 at 16 kHz. All noise is synthetic.
"""

from collections.abc import Callable

import numpy as np
from scipy.signal import fftconvolve, lfilter

from training.pocket.sound import SAMPLE_RATE, Array, at_ratio, fit, rms


def echoes(g: np.random.Generator) -> Array:
    """A room's impulse response: direct sound and a diffuse tail, 0.1 to 0.6 s to -60 dB."""
    decay_s = g.uniform(0.1, 0.6)
    t = np.arange(int(decay_s * SAMPLE_RATE)) / SAMPLE_RATE
    tail = g.standard_normal(len(t)) * 10 ** (-3 * t / decay_s)
    tail[: int(g.uniform(0.001, 0.008) * SAMPLE_RATE)] = 0
    tail *= 10 ** (-g.uniform(0, 15) / 20) / (np.linalg.norm(tail) + 1e-9)
    tail[0] = 1.0
    response: Array = tail.astype(np.float32)
    return response


def in_room(x: Array, room: Array) -> Array:
    wet: Array = fftconvolve(x.astype(np.float32), room)[: len(x)]
    return wet


def tint(x: Array, g: np.random.Generator) -> Array:
    """A microphone's frequency response: a gentle high-pass, and a gentle tilt up or down."""
    x = lfilter([1, -1], [1, -g.uniform(0.9, 0.995)], x)
    tilt = [1, g.uniform(-0.5, 0.5)]
    tinted: Array = lfilter(tilt, [1], x) if g.random() < 0.5 else lfilter([1], tilt, x)
    return tinted


def resized(x: Array, factor: float) -> Array:
    """As from a larger (above 1) or smaller speaker: formants, pitch and speed change together."""
    places = np.arange(0, len(x) - 1, 1 / factor)
    speaker: Array = np.interp(places, np.arange(len(x)), x).astype(np.float32)
    return speaker


def coloured(samples: int, g: np.random.Generator) -> Array:
    """Noise whose power falls by 0 (white) to 6 dB (brown) an octave."""
    spectrum = np.fft.rfft(g.standard_normal(samples))
    return np.fft.irfft(
        spectrum / np.maximum(np.arange(len(spectrum)), 8) ** g.uniform(0, 1.0), samples
    )


def kitchen(samples: int, g: np.random.Generator) -> Array:
    """A fan, mains hum and its harmonics, running water, and the ring of crockery."""
    t = np.arange(samples) / SAMPLE_RATE
    x = at_ratio(np.ones(1), coloured(samples, g), 0)
    if g.random() < 0.4:
        water = lfilter([1, -g.uniform(0, 0.95)], [1], g.standard_normal(samples))
        water *= 1 + 0.7 * np.sin(2 * np.pi * g.uniform(0.2, 4) * t + g.uniform(0, 6.3))
        x += at_ratio(x, water, g.uniform(-12, 12))
    mains_hz = g.choice([50.0, 60.0])
    for k in range(1, 7):
        x += g.uniform(0, 0.5) / k * np.sin(2 * np.pi * mains_hz * k * t + g.uniform(0, 6.3))
    for _ in range(g.poisson(g.uniform(0.3, 4) * samples / SAMPLE_RATE)):
        start, loud = int(g.integers(0, samples)), g.uniform(0.5, 6.0)
        length = min(samples - start, int(g.uniform(0.02, 0.4) * SAMPLE_RATE))
        u = np.arange(length) / SAMPLE_RATE
        ring = 0.5 * g.standard_normal(length)
        for _ in range(g.integers(0, 5)):
            ring += np.sin(2 * np.pi * g.uniform(400, 6500) * u + g.uniform(0, 6.3))
        x[start : start + length] += loud * ring * np.exp(-u / g.uniform(0.005, 0.1))
    return x


RATIOS_DB = {"coloured": (3, 28), "kitchen": (3, 28), "babble": (6, 30), "residue": (10, 35)}


class Surroundings:
    """A stock of rooms and noises, made once, since making them costs more than a training step."""

    def __init__(
        self, clip: Callable[[int], Array], clips: int, g: np.random.Generator, stock: int = 240
    ) -> None:
        """clip(i) returns the samples of clip i, for i < clips."""
        stock = min(stock, clips)
        self.g, self.rooms = g, [echoes(g) for _ in range(stock)]
        long = 6 * SAMPLE_RATE

        def other() -> Array:
            return fit(clip(int(g.integers(clips))), long, g)

        def residue() -> Array:
            """Residual echo of the box's own voice: reverberant and high-passed."""
            x = in_room(other(), self.rooms[g.integers(stock)])
            thin: Array = lfilter([1, -g.uniform(0.3, 0.95)], [1], x)
            return thin

        makers: dict[str, Callable[[], Array]] = {
            "coloured": lambda: coloured(long, g),
            "kitchen": lambda: kitchen(long, g),
            "babble": lambda: np.sum([other() for _ in range(g.integers(2, 6))], 0),
            "residue": residue,
        }
        self.noises = {k: [f().astype(np.float32) for _ in range(stock)] for k, f in makers.items()}

    def noise(self, kind: str, samples: int) -> Array:
        stock = self.noises[kind]
        return fit(stock[self.g.integers(len(stock))], samples, self.g)

    def heard(self, clip: Array) -> Array:
        """The clip in a random room, noise, level, with quiet around it or its first 30 ms cut."""
        g, x = self.g, clip
        if g.random() < 0.6:
            x = clip = resized(clip, g.uniform(0.87, 1.18))
        if g.random() < 0.15:
            x = x[int(g.uniform(0, 0.03) * SAMPLE_RATE) :]
        x = np.pad(x, tuple((g.uniform(0, 0.91, 2) ** 2.5 * SAMPLE_RATE).astype(int)))
        if g.random() < 0.5:
            x = in_room(x, self.rooms[g.integers(len(self.rooms))])
        if g.random() < 0.5:
            x = tint(x, g)
        if g.random() < 0.8:
            kind = str(g.choice(list(self.noises), p=[0.25, 0.35, 0.25, 0.15]))
            ratio_db = g.uniform(*RATIOS_DB[kind])
            x = x + at_ratio(clip, self.noise(kind, len(x)), ratio_db)
        level_db = g.uniform(-45, -8) if g.random() < 0.7 else g.uniform(-26, -18)
        return self.recorded(x, level_db)

    def recorded(self, x: Array, level_db: float) -> Array:
        """x at a level in dBFS with the microphone's own noise, clipped at full scale."""
        hiss = 10 ** self.g.uniform(-5, -3.3) * self.g.standard_normal(len(x), np.float32)
        return np.clip(x * (10 ** (level_db / 20) / (rms(x) + 1e-9)) + hiss, -1, 1).astype(
            np.float32
        )

    def nothing(self) -> Array:
        """No request at all: silence, noise, crockery, babble, coughs or a piece of a word."""
        g, samples = self.g, int(self.g.uniform(0.3, 3.0) * SAMPLE_RATE)
        kind = str(g.choice(["silence", "coloured", "kitchen", "babble", "coughs", "piece"]))
        if kind in self.noises:
            return self.recorded(self.noise(kind, samples), g.uniform(-70, -15))
        x = np.zeros(samples)
        if kind == "piece":
            piece = fit(
                self.noises["residue"][g.integers(len(self.rooms))],
                int(g.uniform(0.06, 0.18) * SAMPLE_RATE),
                g,
            )
            x[: len(piece)] = piece[:samples]
            x = np.roll(x, g.integers(0, samples))
        for _ in range(g.integers(1, 4) if kind == "coughs" else 0):
            start, length = g.integers(0, samples), int(g.uniform(0.05, 0.3) * SAMPLE_RATE)
            burst = (
                lfilter([1], [1, -g.uniform(0, 0.9)], g.standard_normal(length))
                * np.hanning(length) ** 0.5
            )
            x[start : start + length] += burst[: samples - start]
        return self.recorded(x, g.uniform(-45, -15) if kind != "silence" else -90)

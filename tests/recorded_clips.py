"""Recordings for tests: a tone in a clip, written to a file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import soundfile

from appliance.pcm import RATE_HZ


def word(noise: float = 0.0, at: int = 4000, frames: int = RATE_HZ) -> np.ndarray:
    """A tone of a quarter of a second in a clip of a second."""
    clip = np.random.default_rng(1).uniform(-1, 1, frames) * noise
    clip[at : at + 4000] += 0.5 * np.sin(np.arange(4000) * 0.3)
    return clip.astype(np.float32)


def write(path: Path, wave: np.ndarray, rate: int = RATE_HZ) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    subtype = "FLOAT" if path.suffix == ".wav" else None
    soundfile.write(path, wave, rate, subtype=subtype)
    return path

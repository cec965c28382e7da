"""The log-mel spectrum, the input of a Gemma 4's audio encoder: constants and matrices. Pure.

These values are not in a GGUF; they are from llama.cpp's source for the projector "gemma4a".
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from appliance.pcm import RATE_HZ

Matrix = npt.NDArray[np.float32]

HOP_SAMPLES = 160  # 10 ms between two frames
WINDOW_SAMPLES = 320  # 20 ms, a Hann window
FFT_SAMPLES = 512
TOKEN_SAMPLES = 640  # per soft token: 25 tokens a second
TOKEN_FRAMES = TOKEN_SAMPLES // HOP_SAMPLES
BINS = FFT_SAMPLES // 2 + 1
FLOOR = 0.001  # of a band's magnitude, before the natural logarithm


def windowed_dft() -> Matrix:
    """DFT matrix with the window: [2 · BINS, WINDOW_SAMPLES], real parts, then imaginary ones."""
    position = np.arange(WINDOW_SAMPLES)
    window = 0.5 - 0.5 * np.cos(2 * np.pi * position / WINDOW_SAMPLES)
    angles = 2 * np.pi / FFT_SAMPLES * np.outer(np.arange(BINS), position)
    return (np.concatenate([np.cos(angles), -np.sin(angles)]) * window).astype(np.float32)


def filterbank(bands: int) -> Matrix:
    """Mel filters [bands, BINS]: triangles, evenly spaced on HTK's mel scale, not normalised by
    area."""
    top = 2595.0 * np.log10(1.0 + (RATE_HZ / 2) / 700.0)
    edges = 700.0 * (10.0 ** (np.arange(bands + 2) / (bands + 1) * top / 2595.0) - 1.0)
    hz = np.arange(BINS) * (RATE_HZ / FFT_SAMPLES)
    left, centre, right = edges[:-2, None], edges[1:-1, None], edges[2:, None]
    rising = (hz - left) / np.maximum(1e-30, centre - left)
    falling = (right - hz) / np.maximum(1e-30, right - centre)
    rises, falls = (hz >= left) & (hz <= centre), (hz > centre) & (hz <= right)
    return np.where(rises, rising, np.where(falls, falling, 0.0)).astype(np.float32)


def frame_count(samples: int) -> int:
    """Frames of a clip as llama.cpp counts them: a frame is complete one sample after its end."""
    if samples < 2:
        return 0
    return max(1, (samples - WINDOW_SAMPLES // 2 - 1) // HOP_SAMPLES + 1)

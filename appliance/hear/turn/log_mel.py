"""Log-mel features of the newest 8 s of sound, as in Whisper.

In: int16 at 16 kHz. Out: float32[80, 800] for the network of `turn_network.py`. The method is that
of Whisper's feature extractor (openai/whisper, `audio.py`: a periodic Hann window of 25 ms every
10 ms, Slaney's mel scale, 8 decades under the peak), with the waveform normalised first, as
smart-turn was trained. Nearly all of the time is spent in numpy's loops, which release the
interpreter lock.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from appliance.pcm import RATE_HZ, Samples

Floats = npt.NDArray[np.float32]

BANDS = 80
ROWS = 800
WINDOW_FRAMES = 8 * RATE_HZ  # input of the network
_FFT = 400  # 25 ms
_HOP = 160  # 10 ms
_FLOOR = 1e-10
_VARIANCE_FLOOR = 1e-7
_DECADES = 8.0  # below the loudest value; softer values are raised to this
# Slaney's mel scale (Auditory Toolbox): linear below 1 kHz, 27 steps a factor of 6.4 above.
_LINEAR_HZ, _KNEE_HZ, _KNEE_MEL, _LOG_STEP = 200 / 3, 1000.0, 15.0, np.log(6.4) / 27


def log_mel(samples: Samples) -> Floats:
    """Features of the newest 8 s of int16 `samples`, padded with zeros in front if shorter."""
    wave = np.zeros(WINDOW_FRAMES, np.float32)
    newest = samples[-WINDOW_FRAMES:]
    wave[WINDOW_FRAMES - len(newest) :] = newest
    wave /= np.float32(32768)
    wave -= wave.mean()
    wave /= np.sqrt(wave.var() + np.float32(_VARIANCE_FLOOR))
    return scaled_bands(wave, ROWS)


def scaled_bands(wave: Floats, rows: int) -> Floats:
    """Whisper's features, float32[80, rows], of sound at any scale."""
    padded = np.pad(wave, _FFT // 2, mode="reflect")
    windows = np.lib.stride_tricks.sliding_window_view(padded, _FFT)[: rows * _HOP : _HOP]
    spectrum = np.fft.rfft(windows * _WINDOW, axis=-1)
    power = np.square(spectrum.real) + np.square(spectrum.imag)
    bands = np.log10(np.maximum(power.astype(np.float32) @ _FILTERS, np.float32(_FLOOR)))
    bands = np.maximum(bands, bands.max() - np.float32(_DECADES))
    scaled: Floats = np.ascontiguousarray(((bands + 4) / 4).T, np.float32)
    return scaled


def _mel(hz: float) -> float:
    if hz < _KNEE_HZ:
        return hz / _LINEAR_HZ
    return _KNEE_MEL + float(np.log(hz / _KNEE_HZ)) / float(_LOG_STEP)


def _filters() -> Floats:
    """float32[201, 80]: triangles of equal width in mel and of equal area."""
    mels = np.linspace(0.0, _mel(RATE_HZ / 2), BANDS + 2)
    edges = np.where(
        mels < _KNEE_MEL, mels * _LINEAR_HZ, _KNEE_HZ * np.exp(_LOG_STEP * (mels - _KNEE_MEL))
    )
    hz = np.linspace(0.0, RATE_HZ / 2, _FFT // 2 + 1)[:, None]
    rising = (hz - edges[:-2]) / (edges[1:-1] - edges[:-2])
    falling = (edges[2:] - hz) / (edges[2:] - edges[1:-1])
    triangles = np.maximum(0.0, np.minimum(rising, falling))
    filters: Floats = (triangles * (2.0 / (edges[2:] - edges[:-2]))).astype(np.float32)
    return filters


_WINDOW = np.hanning(_FFT + 1)[:-1].astype(np.float32)
_FILTERS = _filters()

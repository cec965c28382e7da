"""Speaker augmentation: vocal tract length, speed, frequency response of the microphone.

In: a clip (float32 mono, 16 kHz) and a seeded generator. Out: another clip, of about the same peak.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import soxr

from appliance.pcm import RATE_HZ

Wave = npt.NDArray[np.float32]
_WINDOW = 480  # 30 ms: two periods of a low voice
_SEARCH = 160  # 10 ms either way for the best fit


def perturbed(wave: Wave, chance: np.random.Generator, sizes: tuple[float, float]) -> Wave:
    """The clip as by another speaker; `sizes`: smallest and largest, 1 is unchanged."""
    if chance.random() < 0.8:
        wave = sized(wave, float(np.exp(chance.uniform(*np.log(sizes)))))
    if chance.random() < 0.6:
        wave = stretched(wave, float(np.exp(chance.uniform(np.log(0.75), np.log(1.35)))))
    if chance.random() < 0.8:
        wave = coloured(wave, chance)
    if chance.random() < 0.15:
        wave = breathy(wave, chance)
    peak = float(np.abs(wave).max())
    return wave * np.float32(0.5 / peak) if peak else wave


def sized(wave: Wave, size: float) -> Wave:
    """A larger speaker: formants and pitch lower, speech slower, all by `size` (resampling)."""
    out: Wave = soxr.resample(wave, RATE_HZ, RATE_HZ * size, quality="MQ")
    return out


def stretched(wave: Wave, by: float) -> Wave:
    """`by` times as long at the same pitch: overlap-add of similar windows (WSOLA, W. Verhelst and
    M. Roelands, 1993)."""
    hop = _WINDOW // 2
    frames = int(len(wave) * by) // hop - 1
    if frames < 3:
        return wave
    padded = np.concatenate([np.zeros(_SEARCH), wave, np.zeros(_WINDOW + 2 * _SEARCH + hop)])
    window = np.hanning(_WINDOW + 1)[:-1]
    out = np.zeros((frames + 1) * hop + _WINDOW)
    wanted = padded[_SEARCH : _SEARCH + _WINDOW]
    for frame in range(frames):
        middle = _SEARCH + int(frame * hop / by)
        around = padded[middle - _SEARCH : middle + _SEARCH + _WINDOW]
        if len(around) < 2 * _SEARCH + _WINDOW:
            break
        fit = np.correlate(around, wanted, "valid")
        at = middle - _SEARCH + int(np.argmax(fit)) if frame else middle
        out[frame * hop : frame * hop + _WINDOW] += window * padded[at : at + _WINDOW]
        wanted = padded[at + hop : at + hop + _WINDOW]
    return out[: int(len(wave) * by)].astype(np.float32)


def coloured(wave: Wave, chance: np.random.Generator) -> Wave:
    """Another microphone: a tilt of up to 3 dB an octave and three smooth peaks or dips."""
    size = 1 << (len(wave) - 1).bit_length()
    octaves = np.log2(np.maximum(np.fft.rfftfreq(size, 1 / RATE_HZ), 50) / 1000)
    gain_db = chance.uniform(-3, 3) * octaves
    for _ in range(3):
        gain_db += chance.uniform(-6, 6) * np.exp(-(((octaves - chance.uniform(-3, 3)) / 0.7) ** 2))
    spectrum = np.fft.rfft(wave, size) * 10 ** (np.clip(gain_db, -18, 12) / 20)
    out: Wave = np.fft.irfft(spectrum, size)[: len(wave)].astype(np.float32)
    return out


def breathy(wave: Wave, chance: np.random.Generator) -> Wave:
    """A breathy voice: adds noise with the clip's envelope, 10 to 25 dB below it."""
    envelope = np.convolve(np.abs(wave), np.ones(160) / 160, "same")
    air = chance.standard_normal(len(wave)) * envelope * 10 ** (chance.uniform(-25, -10) / 20)
    out: Wave = (wave + air).astype(np.float32)
    return out

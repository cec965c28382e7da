"""The Kalman filter's estimate of the echo path: the response and its uncertainty.

In: the spectrum of the sound played, and the microphone's sound. Out: the residue of the latter.
All arrays belong to one window: `length` samples recorded, 2 * `length` played.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]
Spectrum = npt.NDArray[np.complex64]

_FORGETTING = np.float32(0.9999**2)  # of the response's power, per update: rooms change slowly
_MAX_ERROR, _MIN_ERROR = np.float32(100.0), np.float32(1e-9)  # bounds of the error's power
_RESTORED_ERROR = np.float32(0.3)  # error of a restored response, relative to its own power
_DOUBTED_ERROR = np.float32(1.0)  # error of a doubted response, relative to its own power
_BINS = 17  # smoothing of the near-end sound's spectrum: 40 Hz
# The windows of updates overlap, and the same sound must not count in full each time. The near-end
# power is multiplied by this share of the number of updates that use a sample. Less than half was
# best: in double talk more is safer, from a cold start less is faster.
_SHARE = 0.4
_QUIET = np.float32(1e-10)


class EchoPathEstimate:
    """The spectrum of the response, and the power of its error at each frequency."""

    def __init__(self, length: int, coupling: float = 1.0) -> None:
        """`coupling`: the expected power gain of the path. If the path has more, the filter
        converges slowly. If it has much less, a response learned from a few tones adds more echo
        to the next sound than it removes."""
        self._length = length
        self._spectrum: Spectrum = np.zeros(length + 1, np.complex64)
        self._taps = np.zeros(length, np.float32)  # the response in the time domain
        self._error_power: Floats = np.full(length + 1, coupling, np.float32)
        self._unlearned: Floats = np.ones(length + 1, np.float32)  # rest of the first error
        self._padded = np.zeros(2 * length, np.float32)

    @property
    def taps(self) -> Floats:
        """The response, float32[length], a copy."""
        return self._taps.copy()

    @property
    def error(self) -> Floats:
        """The power of the error at each frequency, float32[length + 1]; read-only."""
        return self._error_power

    def expect(self, coupling: float) -> None:
        """Raise the error to what follows from a measured power gain of the path."""
        self._error_power = np.maximum(self._error_power, self.first_error(coupling))

    def first_error(self, coupling: float) -> Floats:
        """The power of the initial error for that power gain, as far as it is not learned yet."""
        return np.float32(min(coupling, float(_MAX_ERROR))) * self._unlearned

    def restore(self, taps: Floats) -> None:
        """Set the response to `taps`, with the uncertainty of a saved response."""
        self._taps = taps.astype(np.float32)
        self._unlearned[:] = 0
        self._spectrum = forward(self._taps, 2 * self._length)
        self._error_power = np.clip(
            _RESTORED_ERROR * _smooth(power_of(self._spectrum)), _MIN_ERROR, _MAX_ERROR
        )

    def doubted(self) -> EchoPathEstimate:
        """A copy with a high uncertainty, which adapts quickly."""
        copy = EchoPathEstimate(self._length)
        copy._spectrum, copy._taps = self._spectrum.copy(), self._taps.copy()
        copy._unlearned[:] = self._unlearned
        copy._error_power = np.clip(
            np.maximum(self._error_power, _DOUBTED_ERROR * _smooth(power_of(self._spectrum))),
            _MIN_ERROR,
            _MAX_ERROR,
        )
        return copy

    def scaled(self, gain: float) -> EchoPathEstimate:
        """A copy with the response multiplied by `gain`."""
        copy = EchoPathEstimate(self._length)
        copy._spectrum = self._spectrum * np.float32(gain)
        copy._taps = self._taps * np.float32(gain)
        copy._unlearned[:] = self._unlearned
        copy._error_power = self._error_power * np.float32(max(gain, 0.1) ** 2)
        return copy

    def predicted_echo(self, far: Spectrum) -> Floats:
        """The echo of the window `far` in the microphone, float32[length]."""
        return back(far * self._spectrum)[self._length :]

    def update(
        self,
        far: Spectrum,
        power: Floats,
        mic: Floats,
        shared: float,
        clipped: Floats | None = None,
    ) -> Floats:
        """Update the estimate. Returns the residue of `mic`, float32[length], before the update.

        `shared`: number of updates that use each sample. `clipped`: as in `unexplained`.
        """
        length = self._length
        residue = unexplained(mic - self.predicted_echo(far), clipped)
        self._padded[length:] = residue
        error = forward(self._padded)
        count = np.float32(max(1.0, _SHARE * shared))
        # The error without the response's part is near-end sound. Taking all of the error for it is
        # too much while the response is wrong, which costs some speed and no stability.
        near_end = count * _smooth(power_of(error))
        # The error fills half of the window of 2 * length, so half of the power is effective.
        gain = self._error_power / (0.5 * power * self._error_power + near_end + _QUIET)
        change = back(gain * np.conj(far) * error)
        change[length:] = 0  # the response has `length` taps, half of the window
        self._taps += change[:length]
        self._spectrum = self._spectrum + forward(change)
        remaining = (1 - 0.5 / count * gain * power).astype(np.float32, copy=False)
        self._unlearned = self._unlearned * remaining
        shrunk = remaining * self._error_power
        process_noise = (1 - _FORGETTING) * power_of(self._spectrum)
        self._error_power = np.clip(_FORGETTING * shrunk + process_noise, _MIN_ERROR, _MAX_ERROR)
        return residue


def unexplained(residue: Floats, clipped: Floats | None) -> Floats:
    """Return `residue`, with 0 where clipping of the microphone explains it: the expected echo is
    beyond the range there. `clipped`: 1 and -1 at the ends of the range, else 0; None: nowhere.
    """
    if clipped is None:
        return residue
    return np.where(residue * clipped < 0, np.float32(0), residue)


def forward(samples: Floats, frames: int | None = None) -> Spectrum:
    """The spectrum of float32[..., n], complex64[..., frames // 2 + 1]. numpy keeps the single
    precision, but its type stubs do not say so."""
    return np.fft.rfft(samples, frames).astype(np.complex64, copy=False)


def back(spectrum: Spectrum) -> Floats:
    """The inverse of `forward`, float32[..., frames]."""
    return np.fft.irfft(spectrum).astype(np.float32, copy=False)


def power_of(spectrum: Spectrum) -> Floats:
    """The power of a spectrum, float32 of the same shape."""
    power: Floats = spectrum.real**2 + spectrum.imag**2
    return power


def _smooth(power: Floats) -> Floats:
    """The mean over `_BINS` neighbouring frequencies."""
    half = _BINS // 2
    padded = np.empty(len(power) + _BINS, power.dtype)
    padded[: half + 1], padded[half + 1 : -half], padded[-half:] = power[0], power, power[-1]
    total = np.cumsum(padded, dtype=np.float64)
    return ((total[_BINS:] - total[:-_BINS]) / _BINS).astype(np.float32)

"""The Kalman filter's estimate of the echo path: the response, and its uncertainty.

In: the spectrum of what was played, and what the microphone heard. Out: what is left of the
latter. All arrays are of one window: `length` samples heard, 2 * `length` played.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]
Spectrum = npt.NDArray[np.complex64]

_KEPT = np.float32(0.9999**2)  # of the response's power, an update: rooms change slowly
_MOST, _LEAST = np.float32(100.0), np.float32(1e-9)
_OLD = np.float32(0.3)  # the same of a response that was true some time ago, of its own power
_DOUBTED = np.float32(1.0)  # and of one that has just failed
_BINS = 17  # over which the near sound's spectrum is smoothed: 40 Hz
# Updates share sound. Were each to count in full, they would be believed as often as it is shared;
# less than half of that was best (in double talk more is safer, from cold less is faster).
_SHARE = 0.4
_QUIET = np.float32(1e-10)


class EchoPathEstimate:
    """The response's spectrum, and for each frequency the power of its error."""

    def __init__(self, length: int, coupling: float = 1.0) -> None:
        """`coupling`: the power that the path is expected to have, heard for played. If it has more
        the filter learns slowly; if it has much less, what a few tones have taught adds more to the
        next sound than it takes away."""
        self._length = length
        self._spectrum: Spectrum = np.zeros(length + 1, np.complex64)
        self._taps = np.zeros(length, np.float32)  # the same in time
        self._unsure: Floats = np.full(length + 1, coupling, np.float32)
        self._unlearned: Floats = np.ones(length + 1, np.float32)  # share of the first error left
        self._padded = np.zeros(2 * length, np.float32)

    @property
    def taps(self) -> Floats:
        """float32[length], a copy."""
        return self._taps.copy()

    @property
    def error(self) -> Floats:
        """The power of its error at each frequency, float32[length + 1]; not to be changed."""
        return self._unsure

    def expect(self, coupling: float) -> None:
        """The path has that power, heard for played, as far as it has been heard by now."""
        self._unsure = np.maximum(self._unsure, self.first_error(coupling))

    def first_error(self, coupling: float) -> Floats:
        """The power of the error where nothing is known of a path but that power."""
        return np.float32(min(coupling, float(_MOST))) * self._unlearned

    def restore(self, taps: Floats) -> None:
        """Take these for true, more or less."""
        self._taps = taps.astype(np.float32)
        self._unlearned[:] = 0
        self._spectrum = forward(self._taps, 2 * self._length)
        self._unsure = np.clip(_OLD * _smooth(power_of(self._spectrum)), _LEAST, _MOST)

    def doubted(self) -> EchoPathEstimate:
        """The same, but ready to become another one quickly."""
        other = EchoPathEstimate(self._length)
        other._spectrum, other._taps = self._spectrum.copy(), self._taps.copy()
        other._unlearned[:] = self._unlearned
        other._unsure = np.clip(
            np.maximum(self._unsure, _DOUBTED * _smooth(power_of(self._spectrum))), _LEAST, _MOST
        )
        return other

    def scaled(self, gain: float) -> EchoPathEstimate:
        """The same, so much louder."""
        other = EchoPathEstimate(self._length)
        other._spectrum = self._spectrum * np.float32(gain)
        other._taps = self._taps * np.float32(gain)
        other._unlearned[:] = self._unlearned
        other._unsure = self._unsure * np.float32(max(gain, 0.1) ** 2)
        return other

    def predicted_echo(self, far: Spectrum) -> Floats:
        """What of the window `far` arrives, float32[length]."""
        return back(far * self._spectrum)[self._length :]

    def update(
        self,
        far: Spectrum,
        power: Floats,
        mic: Floats,
        shared: float,
        clipped: Floats | None = None,
    ) -> Floats:
        """One update. Returns what is left of `mic`, float32[length], before it.

        `shared`: how many updates each sample takes part in. `clipped`: as in `unexplained`.
        """
        length = self._length
        left = unexplained(mic - self.predicted_echo(far), clipped)
        self._padded[length:] = left
        error = forward(self._padded)
        count = np.float32(max(1.0, _SHARE * shared))
        # Whatever of the error is not the response's is everybody else; taking all of it for that
        # is too much while the response is wrong, which costs some speed and no stability.
        others = count * _smooth(power_of(error))
        # The window of 2 * length holds half an error: half of the power meets the response.
        gain = self._unsure / (0.5 * power * self._unsure + others + _QUIET)
        change = back(gain * np.conj(far) * error)
        change[length:] = 0  # a response is as long as the room, not as the window
        self._taps += change[:length]
        self._spectrum = self._spectrum + forward(change)
        kept = (1 - 0.5 / count * gain * power).astype(np.float32, copy=False)
        self._unlearned = self._unlearned * kept
        shrunk = kept * self._unsure
        grown = (1 - _KEPT) * power_of(self._spectrum)
        self._unsure = np.clip(_KEPT * shrunk + grown, _LEAST, _MOST)
        return left


def unexplained(left: Floats, clipped: Floats | None) -> Floats:
    """`left` without what only seems to be left where the microphone was at the end of its range:
    an echo that is louder than that explains it. `clipped`: 1 and -1 there, else 0; None: nowhere.
    """
    if clipped is None:
        return left
    return np.where(left * clipped < 0, np.float32(0), left)


def forward(samples: Floats, frames: int | None = None) -> Spectrum:
    """The spectrum of real float32[..., n], complex64[..., frames // 2 + 1]; numpy keeps the
    precision, which its types do not know."""
    return np.fft.rfft(samples, frames).astype(np.complex64, copy=False)


def back(spectrum: Spectrum) -> Floats:
    """Its inverse, float32[..., frames]."""
    return np.fft.irfft(spectrum).astype(np.float32, copy=False)


def power_of(spectrum: Spectrum) -> Floats:
    """Its power, float32 of the same shape."""
    power: Floats = spectrum.real**2 + spectrum.imag**2
    return power


def _smooth(power: Floats) -> Floats:
    """The mean over `_BINS` neighbouring frequencies."""
    half = _BINS // 2
    padded = np.empty(len(power) + _BINS, power.dtype)
    padded[: half + 1], padded[half + 1 : -half], padded[-half:] = power[0], power, power[-1]
    total = np.cumsum(padded, dtype=np.float64)
    return ((total[_BINS:] - total[:-_BINS]) / _BINS).astype(np.float32)

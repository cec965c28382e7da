"""Echo cancellation by a Kalman filter in the frequency domain: linear, no suppressor, no delay.

In: the signals of microphone and loudspeaker. Out: the microphone's signal without the echo.
G. Enzner and P. Vary, "Frequency-domain adaptive Kalman filter for acoustic echo control in
hands-free telephones", Signal Processing 86 (2006): the step size of each frequency follows from
the uncertainty of the response and the power of the near-end sound, so no double-talk detector is
needed. Their filter updates from blocks; here each update uses a window as long as the response.
"""

from __future__ import annotations

import math
from collections import deque

import numpy as np

from appliance.hear.aec.echo_search import EchoSearch
from appliance.hear.aec.late_reverb import LateReverb
from appliance.hear.aec.misalignment import Misalignment
from appliance.hear.aec.nonlinearity import LoudspeakerNonlinearity, saturation
from appliance.hear.aec.path_change import EchoPathChangeDetector
from appliance.hear.aec.path_estimate import (
    EchoPathEstimate,
    Floats,
    Spectrum,
    back,
    forward,
    power_of,
    unexplained,
)
from appliance.hear.aec.sliding_window import SlidingWindow
from appliance.pcm import RATE_HZ, Samples, from_float

# Blocks between two updates, before and after the filter has converged.
_EAGER_BLOCKS, _CALM_BLOCKS = 3, 14
# While a second estimate is tried, mostly because the owner speaks. With 3 a moved box converged
# 0.2 s sooner, but 2 dB more echo were left in double talk, for a third more CPU.
_DOUBT_BLOCKS = 5
_RESTING_BLOCKS = 40  # without an echo, in case one appears, as when a cable is plugged in
_EARLY_UPDATES = 150  # of 15 ms: with a voice the filter converges within about two seconds
_SPARE_BLOCKS = 64  # between two moves of a sliding window to the start of its memory
_QUIET_FAR = 1e-7  # mean square of the window played: below −70 dBFS there is no update
_SMOOTHING = 0.9  # smoothing of the compared energies from update to update: some 200 ms
_KNOWN_DB = 10.0  # usual attenuation above which the residue can show an echo path change
_DOUBT_DB = 6.0  # attenuation below the usual: the room has changed, or the owner speaks
_BETTER_DB = 3.0  # lower residue at which a second estimate replaces the first
_LEAST_UPDATES, _MOST_UPDATES = 12, 160  # of a second estimate, before it may win or is dropped
_NONLINEARITY_UPDATES = 4  # between two estimates of the loudspeaker's nonlinearity
_LINEAR_UPDATES = 80  # before the first: an unknown part of the response looks nonlinear
_LATE_UPDATES = 16  # between two fits of the late reverberation
_FAINT_DB = -30.0  # gain of the echo path; a loudspeaker beside its microphone has more
_NOTHING_DB = -45.0  # gain of the echo path below which the echo is inaudible
# Power gain of a path that is not measured yet. The filter learns with the lowest; the expected
# residual echo is computed with the highest, at which the echo overdrives the microphone.
_FAINTEST, _LOUDEST = 1e-3, 100.0
_LOUD_FAR = 0.25  # share of the loudest window played from which the path is measured
_UNEVEN = 4.0  # power gain of a single band, relative to the measured one of the path
_USUAL_RISE, _USUAL_FALL = 0.1, 0.003  # share of the difference, an update


class KalmanCanceller:
    """Removes the box's own voice from the microphone's sound, one block at a time.

    Two estimates of the path (K. Ochiai et al., "Echo canceller with two echo path models", 1977),
    the second only in doubt. When the attenuation is far below the usual, the second is a copy of
    the first with a high uncertainty; when there is no attenuation, an empty one is tried from time
    to time (echo_search.py). In double talk it is no better and is dropped; after an echo path
    change it is soon better and replaces the first.
    """

    def __init__(self, *, tail_ms: int, frames: int, rate_hz: int, may_rest: bool = False) -> None:
        """`may_rest`: update rarely while there is no echo."""
        self._may_rest = may_rest
        self._frames = frames
        self._partitions = -(-tail_ms * rate_hz // 1000 // frames)
        self._length = self._partitions * frames
        spare = _SPARE_BLOCKS * frames
        self._far = SlidingWindow(np.zeros(2 * self._length, np.float32), spare)
        self._mic = SlidingWindow(np.zeros(self._length, np.float32), spare)
        self._clipped: deque[Floats | None] = deque([None] * self._partitions, self._partitions)
        self._unclipped = np.zeros(frames, np.float32)
        self._off_blocks = 0  # until the window contains no block of a muted microphone
        self._nonlinearity = LoudspeakerNonlinearity()
        self._spectra = SlidingWindow(
            np.zeros((self._partitions, frames + 1), np.complex64), _SPARE_BLOCKS
        )
        self._weights = np.zeros((self._partitions, frames + 1), np.complex64)
        self._main = EchoPathEstimate(self._length, _FAINTEST)
        self._path_change = EchoPathChangeDetector()
        self._late = LateReverb(frames)
        self._misalignment = Misalignment(frames)
        # Of the two spectra of each block, which are computed at once: it takes half of the time.
        self._windows = np.ones((2, 2 * frames), np.float32)
        self._windows[1] = self._misalignment.window
        self._coupling = self._loudest_far = 0.0
        self._measured = 0  # updates that measured the coupling
        self._second: EchoPathEstimate | None = None
        self._search = EchoSearch()
        self._updates = self._second_updates = 0
        self._blocks = 0
        self._mic_energy = self._residue_energy = self._second_energy = 1e-12
        self._echo_energy = self._played_energy = 1e-12
        self._usual_attenuation_db = 0.0
        self._silent_blocks = 2 * self._partitions
        self._apply()
        self.path_changes = 0  # number of echo path changes detected

    @property
    def active(self) -> bool:
        return self._silent_blocks < 2 * self._partitions

    @property
    def converged(self) -> bool:
        """Whether it has had enough updates since its start or the last echo path change."""
        return self._updates >= _EARLY_UPDATES

    @property
    def helps(self) -> bool:
        """Whether it usually attenuates the echo, so that its estimate is worth saving."""
        return self._usual_attenuation_db > _BETTER_DB

    @property
    def _attenuates(self) -> bool:
        return self._usual_attenuation_db > _KNOWN_DB

    @property
    def gain_db(self) -> float:
        """Recent gain of the echo path, by the estimated response."""
        return _db(self._echo_energy / self._played_energy)

    @property
    def resting(self) -> bool:
        """Whether updates are rare because there is no echo: the card cancels it, or none reaches
        the microphone."""
        return self._may_rest and self.converged and self.gain_db < _NOTHING_DB

    @property
    def knows_echo(self) -> bool:
        """Whether the residual echo can be predicted from the echo estimate. Not where the card
        cancels, too: what the card leaves is no linear copy of what was played."""
        return self.converged and self.gain_db > _FAINT_DB

    @property
    def late_reverb_db(self) -> float:
        """Expected level of the echo after the end of the response, dB full scale."""
        return self._late.db

    @property
    def misalignment_db(self) -> float:
        """Expected level of the residual echo due to the error of the response, dB full scale."""
        return self._misalignment.db if self.active else -100.0

    @property
    def taps(self) -> Floats:
        """The response of the echo path, float32[tail]: int16 recorded per int16 played."""
        return self._main.taps

    def restore(self, taps: Floats) -> None:
        """Start with a response that was saved earlier. Raises ValueError for a wrong size."""
        if taps.shape != (self._length,):
            raise ValueError(f"A response has {self._length} taps here, not {taps.shape}.")
        self._main.restore(taps)
        self._apply()
        self._late.set_echo_path(taps)

    def cancel_echo(
        self, mic: Samples, played: Samples, clipped: Floats | None = None, *, mic_off: bool = False
    ) -> Samples:
        """Return `mic`, int16[frames], without the echo of `played`, int16[frames].

        `clipped`: 1 where the microphone was at the upper end of its range and -1 at the lower,
        else 0, float32[frames]; None: nowhere. `mic_off`: the microphone is muted, so there is no
        update from its zeros.
        """
        self._silent_blocks = 0 if np.count_nonzero(played) else self._silent_blocks + 1
        if not self.active:
            return mic
        n, recorded = self._frames, mic * np.float32(1 / 32768)
        self._far.push(self._nonlinearity.apply(played * np.float32(1 / 32768)))
        self._mic.push(recorded)
        self._clipped.append(clipped)
        self._late.process(self._far.rows[-self._length - n : -self._length])
        plain, windowed = forward(self._windows * self._far.rows[-2 * n :])
        self._spectra.push(plain[None])
        self._misalignment.process(windowed)
        echo = back(np.einsum("pk,pk->k", self._spectra.rows, self._weights))[n:]
        self._off_blocks = self._partitions if mic_off else self._off_blocks - 1
        if self._off_blocks > 0:  # an update would use blocks of the muted microphone
            self._blocks = 0
            return mic if mic_off else from_float(recorded - echo)
        residue = unexplained(recorded - echo, clipped)
        if self.converged and self._attenuates and self._path_change.process(residue, echo):
            self._restart(self._path_change.gain)
        self._blocks += 1
        if self._blocks >= self._due_blocks:
            self._learn()
            self._blocks = 0
        return from_float(residue)

    @property
    def _due_blocks(self) -> int:
        if not self.converged:
            return _EAGER_BLOCKS
        if self._second is not None:
            return _DOUBT_BLOCKS
        return _RESTING_BLOCKS if self.resting else _CALM_BLOCKS

    def _restart(self, gain: float | None) -> None:
        """Restart after an echo path change, or after a change of the volume by `gain`."""
        if gain is None:
            self._main = EchoPathEstimate(self._length, _FAINTEST)
        else:
            self._main = self._main.scaled(gain).doubted()
        self._apply()
        self._second, self._updates, self._usual_attenuation_db = None, 1, 0.0
        self.path_changes += 1

    def _learn(self) -> None:
        """Update the estimates from the last `length` samples, of which `fresh` are new."""
        far, mic = self._far.rows, self._mic.rows
        if float(far @ far) < _QUIET_FAR * len(far):
            return
        self._updates += 1
        fresh = self._blocks * self._frames
        spectrum = forward(far)
        power = power_of(spectrum)
        shared = self._length / fresh
        clipped = self._clipped_lately()
        if not self.converged:
            self._main.expect(self._measure_coupling(far, mic))
        residue = self._main.update(spectrum, power, mic, shared, clipped)[-fresh:]
        if self._updates % _NONLINEARITY_UPDATES == 0 and self._updates > _LINEAR_UPDATES:
            self._update_nonlinearity(spectrum, clipped)
        recorded = mic[-fresh:]
        echo = recorded - residue
        self._echo_energy += (1 - _SMOOTHING) * (float(echo @ echo) / fresh - self._echo_energy)
        played_power = float(far @ far) / len(far)
        self._played_energy += (1 - _SMOOTHING) * (played_power - self._played_energy)
        self._mic_energy += (1 - _SMOOTHING) * (
            float(recorded @ recorded) / fresh - self._mic_energy
        )
        self._residue_energy += (1 - _SMOOTHING) * (
            float(residue @ residue) / fresh - self._residue_energy
        )
        attenuation_db = _db(self._mic_energy / self._residue_energy)
        rate = _USUAL_RISE if attenuation_db > self._usual_attenuation_db else _USUAL_FALL
        self._usual_attenuation_db = max(
            0.0, self._usual_attenuation_db + rate * (attenuation_db - self._usual_attenuation_db)
        )
        if self._second is not None:
            residue = self._second.update(spectrum, power, mic, shared, clipped)[-fresh:]
            self._second_energy += (1 - _SMOOTHING) * (
                float(residue @ residue) / fresh - self._second_energy
            )
            self._compare()
        elif (
            attenuation_db < self._usual_attenuation_db - _DOUBT_DB
            and self._updates > _EARLY_UPDATES
        ):
            self._try_second(self._main.doubted())
        if self.converged and not self._attenuates and self._is_search_due(mic, played_power):
            coupling = min(max(_power(mic) / played_power, _FAINTEST), _LOUDEST)
            self._try_second(EchoPathEstimate(self._length, coupling))
        self._apply()
        if self._updates % _LATE_UPDATES == 0:
            self._late.set_echo_path(self._main.taps)

    def _measure_coupling(self, far: Floats, mic: Floats) -> float:
        """Measure the power gain of the path. It is an upper bound: near-end sound only adds to the
        power of the microphone."""
        power = _power(far)
        self._measured += 1
        self._loudest_far = max(self._loudest_far, power)
        if power >= _LOUD_FAR * self._loudest_far:  # else the room's noise would dominate
            self._coupling = max(self._coupling, _power(mic) / power)
        return self._coupling

    def _clipped_lately(self) -> Floats | None:
        """`clipped` of the whole window, as `cancel_echo` gets it for a block."""
        if not any(block is not None for block in self._clipped):
            return None
        return np.concatenate([self._unclipped if s is None else s for s in self._clipped])

    def _update_nonlinearity(self, spectrum: Spectrum, clipped: Floats | None) -> None:
        linear = self._main.predicted_echo(spectrum)
        branch = self._main.predicted_echo(forward(saturation(self._far.rows)))
        residue = unexplained(self._mic.rows - linear, clipped)
        self._nonlinearity.learn(residue, linear, branch)

    def _is_search_due(self, mic: Floats, played_power: float) -> bool:
        seconds = self._blocks * self._frames / RATE_HZ
        return self._search.is_due(_power(mic), played_power, seconds, resting=self.resting)

    def _try_second(self, estimate: EchoPathEstimate) -> None:
        self._second, self._second_updates, self._second_energy = estimate, 0, self._residue_energy

    def _compare(self) -> None:
        """Let the second estimate win if it has the lower residue on new sound, or drop it."""
        self._second_updates += 1
        better_db = _db(self._residue_energy / self._second_energy)
        if self._second_updates >= _LEAST_UPDATES and better_db > _BETTER_DB:
            assert self._second is not None
            self._main, self._second = self._second, None
            self._residue_energy, self._usual_attenuation_db = self._second_energy, 0.0
            self._updates = 1  # not converged: update often again
            self.path_changes += 1
        elif self._second_updates >= _MOST_UPDATES:
            self._second = None

    def _apply(self) -> None:
        """Use the first estimate for cancelling, and its error for the expected residual echo."""
        self._weights = self._partitioned(self._main.taps)
        # The coupling is valid once it was measured over the longest delay of the path.
        valid = self._measured * _EAGER_BLOCKS >= self._partitions
        coupling = self._coupling if valid else _LOUDEST
        self._misalignment.set_error(
            np.maximum(self._main.error, self._main.first_error(_UNEVEN * coupling))
        )

    def _partitioned(self, taps: Floats) -> Spectrum:
        """Spectra of the response's partitions, the latest first, to match `_spectra`."""
        parts = taps.reshape(self._partitions, self._frames)[::-1]
        return forward(parts, 2 * self._frames)


def _power(samples: Floats) -> float:
    return float(samples @ samples) / len(samples)


def _db(ratio: float) -> float:
    return 10 * math.log10(ratio + 1e-12)

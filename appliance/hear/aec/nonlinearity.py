"""A memoryless model of the loudspeaker's saturation, in front of the linear echo canceller.

In: the sound played, and the canceller's residue. Out: the sound played with the loudspeaker's
distortion, as input of the canceller's linear response: a Hammerstein model with one learned number
(branches are added as in F. Kuech et al., "State-space architecture of the partitioned-block-based
acoustic echo controller", 2014, here with one saturating branch).
"""

from __future__ import annotations

import numpy as np

from appliance.hear.aec.path_estimate import Floats

_SOFTNESS = np.float32(2.0)  # s in x / √(1 + (s·x)²), which saturates from half of full scale on
_SMOOTHING = 0.97  # of the earlier correlations, per update
_STEP_SHARE = 0.2  # share of the step, per update
_MIN, _MAX = 0.0, 1.5  # bounds of the branch's share; a steeper saturation needs more than 1
_SPURIOUS = 0.08  # found even without saturation, and therefore ignored


class LoudspeakerNonlinearity:
    """Learns the `share` of the saturating branch; 0: the loudspeaker is linear."""

    def __init__(self) -> None:
        self._share = 0.0
        self._correlation = 0.0
        self._power = 1e-9

    @property
    def share(self) -> float:
        return self._share if self._share > _SPURIOUS else 0.0

    def apply(self, played: Floats) -> Floats:
        """The loudspeaker's output for `played`, full scale 1."""
        if self.share == 0.0:
            return played
        distorted: Floats = played + np.float32(self.share) * saturation(played)
        return distorted

    def learn(self, residue: Floats, linear_echo: Floats, branch_echo: Floats) -> None:
        """Update from the canceller's residue and the echoes of the sound played and of its
        saturating branch. What a linear response explains of the latter is ignored."""
        power = float(linear_echo @ linear_echo) + 1e-9
        nonlinear_echo = (
            branch_echo - np.float32(float(branch_echo @ linear_echo) / power) * linear_echo
        )
        self._correlation = _SMOOTHING * self._correlation + float(residue @ nonlinear_echo)
        self._power = _SMOOTHING * self._power + float(nonlinear_echo @ nonlinear_echo)
        step = self._correlation / self._power
        self._correlation *= 1 - _STEP_SHARE  # the share was changed by that part of the step
        self._share = min(max(self._share + _STEP_SHARE * step, _MIN), _MAX)


def saturation(played: Floats) -> Floats:
    """The change by the saturating branch, 0 for soft sounds."""
    change = played / np.sqrt(1 + np.square(_SOFTNESS * played)) - played
    return np.asarray(change, np.float32)

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
_KEPT = 0.97  # of the earlier correlations, per update
_PACE = 0.2  # share of the step, per update
_LEAST, _MOST = 0.0, 1.5  # bounds of the branch's share; a steeper saturation needs more than 1
_SEEMING = 0.08  # found even without saturation, and therefore ignored


class LoudspeakerNonlinearity:
    """Learns the `share` of the saturating branch; 0: the loudspeaker is linear."""

    def __init__(self) -> None:
        self._found = 0.0
        self._agrees = 0.0
        self._power = 1e-9

    @property
    def share(self) -> float:
        return self._found if self._found > _SEEMING else 0.0

    def apply(self, played: Floats) -> Floats:
        """The loudspeaker's output for `played`, full scale 1."""
        if self.share == 0.0:
            return played
        bent: Floats = played + np.float32(self.share) * saturation(played)
        return bent

    def learn(self, left: Floats, straight: Floats, piece_heard: Floats) -> None:
        """Update from the residue `left` and the echoes of the sound played (`straight`) and of its
        saturating branch. What a linear response explains of the latter is ignored."""
        power = float(straight @ straight) + 1e-9
        extra = piece_heard - np.float32(float(piece_heard @ straight) / power) * straight
        self._agrees = _KEPT * self._agrees + float(left @ extra)
        self._power = _KEPT * self._power + float(extra @ extra)
        step = self._agrees / self._power
        self._agrees *= 1 - _PACE  # the share was changed by that part of the step
        self._found = min(max(self._found + _PACE * step, _LEAST), _MOST)


def saturation(played: Floats) -> Floats:
    """The change by the saturating branch, 0 for soft sounds."""
    bent = played / np.sqrt(1 + np.square(_SOFTNESS * played)) - played
    return np.asarray(bent, np.float32)

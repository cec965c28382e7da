"""A memoryless model of the loudspeaker's saturation, in front of the linear echo canceller.

In: what was played, and what the canceller left. Out: the played sound as the loudspeaker distorts
it, as input of the canceller's linear response: a Hammerstein model with one number to be learned
(the pieces add up as in F. Kuech et al., "State-space architecture of the partitioned-block-based
acoustic echo controller", 2014, here with one saturating piece).
"""

from __future__ import annotations

import numpy as np

from appliance.hear.aec.path_estimate import Floats

_SOFTNESS = np.float32(2.0)  # of the piece x / √(1 + (s·x)²): saturates from half of full scale on
_KEPT = 0.97  # of what was found before, an update
_PACE = 0.2  # of the way to what is found now
_LEAST, _MOST = 0.0, 1.5  # of the piece; 1 is all of it, and a steeper saturation needs more
_SEEMING = 0.08  # so much is found where nothing saturates: it is ignored


class LoudspeakerNonlinearity:
    """`share` of the saturating piece; 0: the loudspeaker is linear."""

    def __init__(self) -> None:
        self._found = 0.0
        self._agrees = 0.0
        self._power = 1e-9

    @property
    def share(self) -> float:
        return self._found if self._found > _SEEMING else 0.0

    def apply(self, played: Floats) -> Floats:
        """What left the cone for `played`, full scale 1."""
        if self.share == 0.0:
            return played
        bent: Floats = played + np.float32(self.share) * saturation(played)
        return bent

    def learn(self, left: Floats, straight: Floats, piece_heard: Floats) -> None:
        """`left` of the microphone; and what the response makes of the sound played (`straight`)
        and of its saturating piece. Only what no other response could explain is learned from."""
        power = float(straight @ straight) + 1e-9
        extra = piece_heard - np.float32(float(piece_heard @ straight) / power) * straight
        self._agrees = _KEPT * self._agrees + float(left @ extra)
        self._power = _KEPT * self._power + float(extra @ extra)
        step = self._agrees / self._power
        self._agrees *= 1 - _PACE  # what is acted on has been answered
        self._found = min(max(self._found + _PACE * step, _LEAST), _MOST)


def saturation(played: Floats) -> Floats:
    """What saturation takes away, 0 for soft sounds."""
    bent = played / np.sqrt(1 + np.square(_SOFTNESS * played)) - played
    return np.asarray(bent, np.float32)

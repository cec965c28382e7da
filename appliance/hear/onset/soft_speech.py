"""Detects speech that is too soft for the onset gate, by the VAD's probability.

In: blocks. Out: whether there is speech for certain.
"""

from __future__ import annotations

from appliance.hear.onset.frontend import AudioBlock
from appliance.settings import HearingSettings

_SURE_HOPS = 3  # 48 ms of speech: while the box speaks, the VAD suffices only after so long


class SoftSpeechDetector:
    """Detects by the VAD alone while the box is silent. While the box speaks, the energy must stand
    out, too: the residual echo is speech as well."""

    def __init__(self, settings: HearingSettings) -> None:
        self._threshold = settings.turn.probability
        self._least_db = -settings.onset.above_echo_db / 2
        self._hops = 0

    def process(self, block: AudioBlock) -> bool:
        if block.probability is None:
            return False
        if block.probability < self._threshold:
            self._hops = 0
            return False
        self._hops += 1
        stands_out = self._hops >= _SURE_HOPS and block.excess_db > self._least_db
        return stands_out or not block.sounding

    def reset(self) -> None:
        self._hops = 0

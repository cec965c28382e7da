"""Detects speech that is too soft for the onset gate, by the VAD's probability.

In: blocks. Out: whether it is certain.
"""

from __future__ import annotations

from appliance.hear.onset.frontend import AudioBlock
from appliance.settings import HearingSettings

_SURE_HOPS = 3  # of speech over the box, 48 ms, to trust the network where the gate is in doubt


class SoftSpeechDetector:
    """Over the box the VAD alone confirms nothing: its residual echo is speech, too."""

    def __init__(self, settings: HearingSettings) -> None:
        self._enough = settings.turn.probability
        self._least_db = -settings.onset.above_echo_db / 2
        self._hops = 0

    def process(self, block: AudioBlock) -> bool:
        if block.probability is None:
            return False
        if block.probability < self._enough:
            self._hops = 0
            return False
        self._hops += 1
        stands_out = self._hops >= _SURE_HOPS and block.excess_db > self._least_db
        return stands_out or not block.sounding

    def reset(self) -> None:
        self._hops = 0

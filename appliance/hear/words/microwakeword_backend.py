"""Detects the wake word by microWakeWord. The only import of pymicro-wakeword and its models.

It has four phrases, each with a network of its own, and takes about 0.3 % of a core.
"""

from __future__ import annotations

import math

from pymicro_wakeword import MicroWakeWord, MicroWakeWordFeatures, Model

from appliance.pcm import RATE_HZ, Samples

PHRASES = {model.value.replace("_", " "): model for model in Model}
_SENSITIVE = 6.0  # log odds from sensitivity 0 to 1; the model's own threshold is at 0.5
_REFRACTORY_FRAMES = RATE_HZ  # after a detection, so that the same phrase is not detected twice


class MicroWakeWordSpotter:
    """Detects one of PHRASES. Raises KeyError for another phrase."""

    name = "microWakeWord"
    late_frames = RATE_HZ // 5  # measured with synthetic voices: 50 to 270 ms, by phrase and voice

    def __init__(self, phrase: str, sensitivity: float = 0.5) -> None:
        self.phrase = phrase
        self._network = MicroWakeWord.from_builtin(PHRASES[phrase])
        own = math.log(self._network.probability_cutoff / (1 - self._network.probability_cutoff))
        self.score = 0.0
        self.threshold = 1 / (1 + math.exp(_SENSITIVE * (sensitivity - 0.5) - own))
        self._features = MicroWakeWordFeatures()
        self._refractory = 0

    def process(self, samples: Samples) -> float | None:
        self._refractory = max(0, self._refractory - len(samples))
        detected = None
        for features in self._features.process_streaming(samples.tobytes()):
            score = self._network.process_streaming_prob(features)
            self.score = self.score if score is None else float(score)
            if score is not None and score > self.threshold and not self._refractory:
                self._refractory = _REFRACTORY_FRAMES
                detected = min(1.0, float(score))
        return detected

    def reset(self) -> None:
        self._features.reset()
        self._network.reset()
        self._refractory = 0

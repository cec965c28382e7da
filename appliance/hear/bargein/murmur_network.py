"""Runs the network that tells a murmur from a call by a speech encoder. The only file that does.

In: the sound over the box since shortly before its onset. Out: a probability. The encoder is that
of Whisper tiny.en with a small output network that we trained; its card is `models/murmur.md`.
"""

from __future__ import annotations

import logging
import math
import re
from pathlib import Path

import numpy as np

from appliance.errors import ModelError
from appliance.hear.bargein.classifier import IN_NETWORK
from appliance.hear.network_judge import BackgroundJudge
from appliance.hear.turn.log_mel import BANDS, scaled_bands
from appliance.onnx_session import open_session
from appliance.pcm import RATE_HZ, Samples
from appliance.settings.language import ANY

MODEL = Path(__file__).parents[2] / "models" / "murmur.onnx"
BEFORE_MS = 140  # of sound before the onset, as in training
_AFTER_FRAMES = RATE_HZ * 60 // 1000  # zeros after it, as in training
_PEAK = np.float32(0.5)  # as in training: the level says how far away the owner is, and no more
_HOP_FRAMES = RATE_HZ // 100
_INPUT, _OUTPUT = "mel", "log_odds"
_THRESHOLD = re.compile(r"threshold (\d+) ms")  # of the age, in the file's metadata
# At the threshold, where of the training's calls 2 % are resumed over, the probability is such that
# the deadline's rule just resumes (`DecisionSchedule.last_doubt`).
_AT_THRESHOLD = math.log((1 - IN_NETWORK.last_doubt) / IN_NETWORK.last_doubt)


class MurmurNetwork:
    """The network on one thread; a question takes about 4 ms of one x86-64 core."""

    def __init__(self, model: Path = MODEL) -> None:
        """Raises ModelError for a file that is missing or is not this network."""
        self._session = open_session(model, "the network that tells murmurs from calls")
        inputs = [(node.name, tuple(node.shape[1:2])) for node in self._session.get_inputs()]
        outputs = [node.name for node in self._session.get_outputs()]
        if inputs != [(_INPUT, (BANDS,))] or outputs != [_OUTPUT]:
            raise ModelError(f"{model}: is a network, but not that of murmurs.")
        found = self._session.get_modelmeta().custom_metadata_map.items()
        self._thresholds = {
            int(name[1]): float(value) for key, value in found if (name := _THRESHOLD.match(key))
        } or {0: 0.0}

    def probability(self, samples: Samples) -> float:
        """The probability that int16 `samples` (16 kHz), from `BEFORE_MS` before the onset on, are
        a murmur and no call, given that they are one of these. Its scale is that of the verdict:
        what resumes at the deadline, not a share of cases."""
        wave = samples.astype(np.float32) / np.float32(32768)
        wave = np.pad(wave * (_PEAK / max(float(np.abs(wave).max()), 1e-6)), (0, _AFTER_FRAMES))
        mel = scaled_bands(wave, len(wave) // _HOP_FRAMES // 2 * 2)
        (log_odds,) = self._session.run([_OUTPUT], {_INPUT: mel[None]})
        age_ms = len(samples) * 1000 // RATE_HZ - BEFORE_MS
        nearest = min(self._thresholds, key=lambda age: abs(age - age_ms))
        score = float(log_odds.item()) - self._thresholds[nearest] + _AT_THRESHOLD
        return 1 / (1 + math.exp(-min(max(score, -30.0), 30.0)))


def make_judge(language: str, log: logging.Logger, model: Path = MODEL) -> BackgroundJudge | None:
    """The judge of murmurs; None if the small network decides alone, and the log says why.
    `language`: of the settings."""
    if language not in (ANY, "en"):
        log.info("murmurs are judged by the small network alone: the other one knows English only")
        return None
    try:
        return BackgroundJudge(MurmurNetwork(model), "murmurs")
    except ModelError as error:
        log.warning("murmurs are judged by the small network alone: %s", error)
        return None

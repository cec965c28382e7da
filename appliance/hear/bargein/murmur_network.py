"""Runs the network that tells a murmur from a call by a speech encoder. The only file that does.

In: the sound over the box since shortly before its onset. Out: scores. The encoder is that of
Whisper tiny.en with a small output network that we trained; its card is `models/murmur.md`.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

import numpy as np

from appliance.errors import ModelError
from appliance.hear.turn.log_mel import BANDS, scaled_bands
from appliance.onnx_session import open_session
from appliance.pcm import RATE_HZ, Samples

MODEL = Path(__file__).parents[2] / "models" / "murmur.onnx"
AGES_MS = (300, 480, 650)  # after the onset: by then it has heard a "yeah", a hum, and most of both
WHOLE = "whole"
_AFTER_FRAMES = RATE_HZ * 60 // 1000  # zeros after it, as in training
_PEAK = np.float32(0.5)  # as in training: the level says how far away the owner is, and no more
_HOP_FRAMES = RATE_HZ // 100
_INPUT, _OUTPUT = "mel", "log_odds"
_THRESHOLD = re.compile(r"threshold (\w+)")  # of the moment, in the file's metadata


class MurmurScores(NamedTuple):
    """Log odds: murmur against call, and noise against voice."""

    murmur: float
    noise: float


class MurmurNetwork:
    """The network on one thread; a question takes about 4 ms of one x86-64 core.

    thresholds  of the score of a murmur, by the moment of the question: an age in ms, or `WHOLE` if
                the sound has ended. Over them 2 % of the tuning's calls are resumed, 1.5 %
                of those that have ended
    """

    def __init__(self, model: Path = MODEL) -> None:
        """Raises ModelError for a file that is missing or is not this network."""
        self._session = open_session(model, "the network that tells murmurs from calls")
        inputs = [(node.name, tuple(node.shape[1:2])) for node in self._session.get_inputs()]
        outputs = [(node.name, tuple(node.shape)) for node in self._session.get_outputs()]
        if inputs != [(_INPUT, (BANDS,))] or outputs != [(_OUTPUT, (2,))]:
            raise ModelError(f"{model}: is a network, but not that of murmurs.")
        found = self._session.get_modelmeta().custom_metadata_map.items()
        try:
            thresholds = {
                name[1]: float(value) for key, value in found if (name := _THRESHOLD.match(key))
            }
            self.thresholds = {moment: thresholds[moment] for moment in (*map(str, AGES_MS), WHOLE)}
        except (KeyError, ValueError) as error:
            raise ModelError(f"{model}: the network of murmurs has no thresholds.") from error

    def scores(self, samples: Samples) -> MurmurScores:
        """The scores of int16 `samples` (16 kHz), from 140 ms before the onset on."""
        wave = samples.astype(np.float32) / np.float32(32768)
        wave = np.pad(wave * (_PEAK / max(float(np.abs(wave).max()), 1e-6)), (0, _AFTER_FRAMES))
        mel = scaled_bands(wave, len(wave) // _HOP_FRAMES // 2 * 2)
        [[murmur, noise]] = self._session.run([_OUTPUT], {_INPUT: mel[None]})
        return MurmurScores(float(murmur), float(noise))

"""Asks the network of murmurs about a sound over an answer: at some ages, and when it has ended.

In: the age of the sound, how long it has been quiet, its samples. Out: the network's newest
opinion, which comes some 10 ms after a question, and, of what the answer has given way to, whether
it was a murmur after all.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from appliance.errors import ModelError
from appliance.hear.bargein.murmur_network import (
    AGES_MS,
    MODEL,
    WHOLE,
    MurmurNetwork,
    MurmurScores,
)
from appliance.hear.network_judge import BackgroundJudge, NetworkJudge
from appliance.pcm import RATE_HZ, Samples
from appliance.settings.language import ANY

# A sound has ended after so much quiet; it is longer than the closure of a "t" or "p", 50 to
# 100 ms. What an answer has given way to has ended later, when nothing follows.
_ENDED_MS, _GIVEN_WAY_ENDED_MS = 120, 250
# Log odds over the threshold of a whole sound at which an answer that has given way goes on: a call
# that is then taken for a murmur has to be said again. What spoke for a call before counts half.
_AFTER_ALL, _BEFORE_WEIGHT = 0.9, 0.5
_MS = RATE_HZ // 1000
BEFORE_MS = 140  # of sound before the onset, as in training
_AFTER_END_MS = 60  # of the room after a sound that has ended, as in training


class MurmurOpinion(NamedTuple):
    """Log odds: murmur against call, relative to the threshold; noise against voice."""

    murmur: float
    noise: float


class MurmurJudge:
    """Follows one sound after another."""

    def __init__(
        self, network: NetworkJudge[MurmurScores], thresholds: Mapping[str, float]
    ) -> None:
        self._network = network
        self._thresholds = thresholds
        self._question = 0  # the newest
        self.start()

    def start(self) -> None:
        """Start with a new sound."""
        self.opinion: MurmurOpinion | None = None  # the newest
        self._moments: dict[int, str] = {}  # of the questions about this sound
        self._whole = 0  # the question about the sound as a whole; 0: none since it last went on
        self._answered = 0  # the question to which `opinion` is the answer
        self._worst = 0.0  # the lowest score of a murmur at one of the ages, if below its threshold

    @property
    def knows_whole(self) -> bool:
        """Whether `opinion` is about the whole sound, which has ended."""
        return self._whole > 0 and self._answered == self._whole

    def process(self, age_ms: int, quiet_ms: int, sound: Callable[[], Samples]) -> None:
        """Ask what is due `age_ms` after the onset, and take answers. `sound` returns the samples
        from `BEFORE_MS` before the onset to now, of which the last `quiet_ms` are quiet."""
        self._take_answers()
        if quiet_ms >= _ENDED_MS:
            self._ask_whole(quiet_ms, sound)
            return
        self._whole = 0
        asked = sum(moment != WHOLE for moment in self._moments.values())
        if asked < len(AGES_MS) and age_ms >= AGES_MS[asked]:
            self._ask(str(AGES_MS[asked]), sound())

    def was_murmur(self, silent_ms: int, quiet_ms: int, sound: Callable[[], Samples]) -> bool:
        """Whether what an answer has given way to was a murmur. It was over `silent_ms` ago; the
        last `quiet_ms` of `sound` are quiet."""
        if silent_ms < _GIVEN_WAY_ENDED_MS:
            self._whole = 0  # it goes on
            return False
        self._ask_whole(quiet_ms, sound)
        self._take_answers()
        if not self.knows_whole or self.opinion is None:
            return False
        return self.opinion.murmur + _BEFORE_WEIGHT * self._worst >= _AFTER_ALL

    def _ask_whole(self, quiet_ms: int, sound: Callable[[], Samples]) -> None:
        if not self._whole:
            samples = sound()
            last = len(samples) - max(0, quiet_ms - _AFTER_END_MS) * _MS
            self._whole = self._ask(WHOLE, samples[:last])

    def _ask(self, moment: str, samples: Samples) -> int:
        self._question += 1
        self._moments[self._question] = moment
        self._network.ask(self._question, samples)
        return self._question

    def _take_answers(self) -> None:
        while (answer := self._network.pop_answer()) is not None:
            moment = self._moments.get(answer.number)
            if moment is not None:
                self._answered, scores = answer.number, answer.opinion
                self.opinion = None
                if scores is not None and all(map(math.isfinite, scores)):
                    murmur = scores.murmur - self._thresholds[moment]
                    self.opinion = MurmurOpinion(murmur, scores.noise)
                    if moment != WHOLE:
                        self._worst = min(self._worst, murmur)

    def close(self) -> None:
        """End the network's thread."""
        if isinstance(self._network, BackgroundJudge):
            self._network.close()


def make_judge(language: str, log: logging.Logger, model: Path = MODEL) -> MurmurJudge | None:
    """The judge of murmurs; None if the small network decides alone, and the log says why.
    `language`: of the settings."""
    if language not in (ANY, "en"):
        log.info("murmurs are judged by the small network alone: the other one knows English only")
        return None
    try:
        network = MurmurNetwork(model)
    except ModelError as error:
        log.warning("murmurs are judged by the small network alone: %s", error)
        return None
    return MurmurJudge(BackgroundJudge(network.scores, "murmurs"), network.thresholds)

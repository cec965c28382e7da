"""How long the owner's silence must last before the turn is over. Pure: no clock and no thread.

In: the length of the silence, and the judge's answers. Out: whether the turn is over; the log says
which rule decides. Without a judge, or without an answer in time, `hearing.turn.end_ms` decides.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Callable

from appliance.hear.network_judge import NetworkAnswer, NetworkJudge
from appliance.pcm import RATE_HZ, Samples
from appliance.settings import TurnSettings

log = logging.getLogger("listener")


class EndOfTurn:
    """Detects the end of one utterance after another; the judge is asked anew in each pause."""

    def __init__(self, settings: TurnSettings, judge: NetworkJudge[float] | None) -> None:
        self._settings = settings
        self._judge = judge
        self._number = 0  # of the newest question to the judge
        self._first_number = 1  # of this pause; answers to older questions are for other pauses
        self._asked = 0  # questions in this pause
        self._probability: float | None = None
        self._silent_frames = 0
        self._last_judged = True  # whether the last end of a turn was judged; to log changes only

    def _begin_pause(self) -> None:
        self._first_number = self._number + 1
        self._asked = 0
        self._probability = None

    def update(self, silent_frames: int, sound: Callable[[], Samples]) -> bool:
        """Whether the turn is over after `silent_frames` of silence.

        `sound` returns the newest 8 s of the turn, int16; it is called once per question.
        """
        if silent_frames < self._silent_frames:  # the owner has spoken meanwhile
            self._begin_pause()
        self._silent_frames = silent_frames
        silent_ms = silent_frames * 1000 / RATE_HZ
        if self._judge is not None:
            self._pop_answers(self._judge)
            moments = self._settings.ask_ms
            if self._asked < len(moments) and silent_ms >= moments[self._asked]:
                self._asked += 1
                self._number += 1
                self._judge.ask(self._number, sound())
        over = silent_ms >= wait_ms(self._settings, self._probability)
        if over:
            self._log_rule()
            self._begin_pause()
        return over

    def _pop_answers(self, judge: NetworkJudge[float]) -> None:
        while (answer := judge.pop_answer()) is not None:
            if answer.number >= self._first_number:
                self._probability = _usable(answer)

    def _log_rule(self) -> None:
        if self._judge is None or (judged := self._probability is not None) == self._last_judged:
            return
        self._last_judged = judged
        if judged:
            log.info("the end of a turn is judged again")
        else:
            log.warning("no judgement of the end of a turn within %d ms: silence alone decides",
                        self._settings.end_ms)  # fmt: skip


def wait_ms(settings: TurnSettings, probability: float | None) -> int:
    """How long a pause must last to end the turn, given the probability that the turn is over.

    None: there is no judgement.
    """
    if probability is None:
        return settings.end_ms
    if probability >= settings.sure:
        return settings.sure_ms
    return settings.unsure_ms if probability >= settings.likely else settings.unlikely_ms


def _usable(answer: NetworkAnswer[float]) -> float | None:
    probability = answer.opinion
    return probability if probability is not None and math.isfinite(probability) else None

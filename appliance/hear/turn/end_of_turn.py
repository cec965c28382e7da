"""How long the owner's silence must last before the turn is over. Pure: no clock and no thread.

In: how long the silence has lasted, and the judge's answers. Out: over, or not yet; and which rule
decided. Without a judge, or an answer in time, `hearing.turn.end_ms` decides.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Callable

from appliance.hear.turn.turn_judge import TurnAnswer, TurnJudge
from appliance.pcm import RATE_HZ, Samples
from appliance.settings import TurnSettings

log = logging.getLogger("listener")


class EndOfTurn:
    """Of one utterance after the other; each pause in it is judged anew."""

    def __init__(self, settings: TurnSettings, judge: TurnJudge | None) -> None:
        self._settings = settings
        self._judge = judge
        self._number = 0  # of the newest question
        self._first_number = 1  # of this pause: answers to older questions are for other pauses
        self._asked = 0  # questions in this pause
        self._probability: float | None = None
        self._silent_frames = 0
        self._judged = True  # the newest pause that ended a turn; to log on the edge

    def _begin_pause(self) -> None:
        self._first_number = self._number + 1
        self._asked = 0
        self._probability = None

    def update(self, silent_frames: int, sound: Callable[[], Samples]) -> bool:
        """Whether the turn is over after `silent_frames` of silence.

        `sound` gives the int16 of the turn up to now, the newest 8 s; called once a question.
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

    def _pop_answers(self, judge: TurnJudge) -> None:
        while (answer := judge.pop_answer()) is not None:
            if answer.number >= self._first_number:
                self._probability = _usable(answer)

    def _log_rule(self) -> None:
        if self._judge is None or (judged := self._probability is not None) == self._judged:
            return
        self._judged = judged
        if judged:
            log.info("the end of a turn is judged again")
        else:
            log.warning("no judgement of the end of a turn within %d ms: silence alone decides",
                        self._settings.end_ms)  # fmt: skip


def wait_ms(settings: TurnSettings, probability: float | None) -> int:
    """How long a pause must last to end the turn, if the turn is over with that probability.

    None: nobody has judged it.
    """
    if probability is None:
        return settings.end_ms
    if probability >= settings.sure:
        return settings.sure_ms
    return settings.unsure_ms if probability >= settings.likely else settings.unlikely_ms


def _usable(answer: TurnAnswer) -> float | None:
    known = answer.probability
    return known if known is not None and math.isfinite(known) else None

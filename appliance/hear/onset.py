"""The fast gate: does somebody begin to speak? Energies of 5 ms steps in dB, no network.

It may be wrong: what it fires at must be confirmed, or the pause is taken back.
"""

from __future__ import annotations

import math

from appliance.settings import Onset

_AUDIBLE_DB = -60.0  # of what the box plays: below it there is no echo to speak of
_BIAS_DB = 1.0  # steps of mere noise lie about the floor: half of them over it
_DECAY_DB = 0.3  # a step: what a filter of 200 ms leaves lasts as long as the filter
_WARY_DB = 4.0  # added to the margin for each false alarm
_WARIEST_DB = 16.0
_CALM_DB = 0.004  # a step: 4 dB of wariness are forgotten in 5 s


class ExpectedEcho:
    """How much of the box's own voice the canceller is expected to leave, in dB full scale.

    Two predictions, the higher counts: the canceller's own echo estimate less what it has lately
    taken away; and what was played less what lately remained of it, which holds while the filter
    is cold and estimates nothing.
    """

    def __init__(self) -> None:
        self.db = -100.0
        self._estimate = -100.0
        self._played = -100.0
        self._taken_db = 6.0  # echo estimate over residue
        self._loss_db = 0.0  # played over residue: at first, as loud as what is played
        self._path_db = 0.0  # played over echo estimate: the way through the room

    @property
    def audible(self) -> bool:
        return self._played > _AUDIBLE_DB

    def feed(
        self,
        played_db: float,
        estimate_db: float,
        residue_db: float,
        learn: bool,
        floor_db: float = -100.0,
    ) -> None:
        """One step; learn while nobody but the box speaks.

        What remains in a quiet room is mostly the room's noise `floor_db`: taken for echo, it
        would be expected to grow with the voice, and soft words would go unheard over loud ones.
        Nor is an estimate believed that is far louder than the room has lately let through: then
        the canceller is fitting its filter to the owner's voice.
        """
        self._played = max(played_db, self._played - _DECAY_DB)
        estimate_db = min(estimate_db, self._played - self._path_db + _SUDDEN_DB)
        self._estimate = max(estimate_db, self._estimate - _DECAY_DB)
        if not self.audible:
            self.db = -100.0
            return
        if learn:
            residue_db = _without(floor_db, residue_db)
            self._path_db = _follow(self._path_db, self._played - self._estimate, 0.0, 60.0)
            self._taken_db = _follow(self._taken_db, self._estimate - residue_db, 3.0, 30.0)
            self._loss_db = _follow(self._loss_db, self._played - residue_db, 0.0, 60.0)
        self.db = max(self._estimate - self._taken_db, self._played - self._loss_db)


_SUDDEN_DB = 9.0  # of an echo estimate over the usual: the peaks of a voice need about that much
_UNDER_NOISE_DB = 12.0  # how far under the noise a residue is still believed


def _without(noise_db: float, level_db: float) -> float:
    """The level, in dB, less the noise in it."""
    left = 10 ** (level_db / 10) - 10 ** ((noise_db + _BIAS_DB) / 10)
    return 10 * math.log10(max(left, 10 ** ((noise_db - _UNDER_NOISE_DB) / 10)))


_RISE, _FALL = 0.005, 0.02  # of the way a step: believe less at once, more only in time


def _follow(value: float, seen: float, lowest: float, highest: float) -> float:
    value += (_RISE if seen > value else _FALL) * (seen - value)
    return min(max(value, lowest), highest)


class Gate:
    """Fires when the energy stands out: by the full margin for `steps` steps, or less for longer.

    A sequential test (Page's cumulative sum, 1954): steps above half the margin add up, steps
    below it take away, and no step counts for more than the full margin, so that one click is not
    enough. After a false alarm it is wary for some seconds: its margin grows, so that a clatter
    does not pause the box again and again. The network, which is not wary, still hears a word.
    """

    def __init__(self, settings: Onset) -> None:
        self._settings = settings
        self._half_db = settings.above_noise_db / 2
        self._enough_db = settings.steps * self._half_db
        self._sum_db = 0.0
        self._wary_db = 0.0
        self.excess_db = -100.0

    def feed(self, energy_db: float, floor_db: float, echo: ExpectedEcho) -> bool:
        """One step. `excess_db` is how far it stands above all that is expected."""
        half_db = self._half_db
        self._wary_db = max(0.0, self._wary_db - _CALM_DB)
        excess_db = energy_db - floor_db - self._settings.above_noise_db
        counts_db = excess_db - self._wary_db + half_db
        if echo.audible:  # what is left of a voice has peaks: here only the full margin counts
            over_echo_db = energy_db - echo.db - self._settings.above_echo_db
            excess_db = min(excess_db, over_echo_db)
            counts_db = min(counts_db, over_echo_db if over_echo_db < 0 else half_db)
        self.excess_db = excess_db
        self._sum_db = max(0.0, self._sum_db + min(max(counts_db, -half_db), half_db))
        return self._sum_db >= self._enough_db

    def false_alarm(self) -> None:
        """What it fired at was no voice."""
        self._wary_db = min(_WARIEST_DB, self._wary_db + _WARY_DB)

    def right(self) -> None:
        """What it fired at was a voice."""
        self._wary_db /= 2

    def reset(self) -> None:
        """Forget the steps so far, not the wariness."""
        self._sum_db = 0.0

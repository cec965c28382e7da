"""The onset gate: detects the beginning of a sound by the energies of 5 ms blocks, in dB.

It runs no network, and may be wrong: what it fires at is confirmed, or the pause is taken back.
"""

from __future__ import annotations

import math

from appliance.hear.onset.background import LevelQuantile
from appliance.messages.hearing import Judgement
from appliance.settings import OnsetSettings

_TAKEN_DB = 6.0  # of what a canceller takes away, before it is known
_AUDIBLE_DB = -60.0  # of what the box plays: below it there is no echo to speak of
_BIAS_DB = 1.0  # blocks of mere noise lie about the floor: half of them over it
_SOFT_DB, _PEAK_DECAY_DB = 20.0, 0.01  # under its peak the echo says nothing, and the room is heard
_ROOM_SHARE, _ROOM_BLOCKS = 0.8, 2400
_DECAY_DB = 0.3  # a block: what a filter of 200 ms leaves lasts as long as the filter
_GUARDED_BLOCKS = 6000  # 30 s after the last of several false alarms, or what would have been one
_FIRST_ALARM_BLOCKS = 800  # 4 s of guard time after one false alarm: impact noises come in groups
_REPEATED_ALARM_BLOCKS = 12_000  # another one within a minute is no single one
_SAME_ALARM_BLOCKS = 300  # unless it goes on from the first: 1.5 s of knocking
_TRIED = 5  # 6 s of the box's voice in which nothing stands out tell as much of a new room as 30
_CONFIRM_BLOCKS = 30  # 150 ms: for so long the voice band may confirm what the gate has detected


class ResidualEcho:
    """How much of the box's own voice the canceller is expected to leave, in dB full scale.

    Three predictions, the highest counts: the canceller's own echo estimate less what it has lately
    taken away; what follows from the error of its response, frequency by frequency, which holds for
    sounds that are new to it; and what was played less what lately remained of it, which holds for
    a canceller that knows of no error.
    """

    def __init__(self) -> None:
        self.db = -100.0
        self._estimate = -100.0
        self._played = -100.0
        self._taken_db = _TAKEN_DB  # echo estimate over residue
        self._loss_db = 0.0  # played over residue: at first, as loud as what is played
        self._path_db = 0.0  # played over echo estimate: the way through the room
        self._peak = -100.0  # of the estimate lately
        self._learned_blocks = 0
        self._room = LevelQuantile(_ROOM_SHARE, _ROOM_BLOCKS)  # without the box, clatter and all

    @property
    def audible(self) -> bool:
        return self._played > _AUDIBLE_DB

    def reset(self) -> None:
        """The room has changed."""
        self._taken_db, self._loss_db, self._path_db = _TAKEN_DB, 0.0, 0.0
        self._learned_blocks = 0

    @property
    def unlearned(self) -> bool:
        """The box speaks, and has not yet spoken long enough to know what is left of its voice."""
        return self.audible and self._learned_blocks < _NEW_BLOCKS

    def update(
        self,
        played_db: float,
        estimate_db: float,
        residue_db: float,
        learn: bool,
        floor_db: float = -100.0,
        late_db: float = -100.0,
        known: bool = False,
        misalignment_db: float = -100.0,
    ) -> None:
        """One block; learn while nobody but the box speaks.

        What remains in a quiet room is mostly the room's noise `floor_db`: taken for echo, it
        would be expected to grow with the voice, and soft words would go unheard over loud ones.
        Nor is an estimate believed that is far louder than the room has lately let through: then
        the canceller is fitting its filter to the owner's voice. `late_db`: of what arrives after
        the filter's end. `known`: the filter is not cold, and its own estimate will do; what
        remains beside a noisy sink would pass for echo. `misalignment_db`: of what the canceller
        leaves by the error of its response.
        """
        self._played = max(played_db, self._played - _DECAY_DB)
        estimate_db = min(estimate_db, self._played - self._path_db + _SUDDEN_DB)
        self._estimate = max(estimate_db, self._estimate - _DECAY_DB)
        if not self.audible:
            self.db = -100.0
            return
        self._peak = max(estimate_db, self._peak - _PEAK_DECAY_DB)
        if learn:
            if estimate_db < self._peak - _SOFT_DB:
                self._room.update(residue_db, False)
            residue_db = _without(max(floor_db, self._room.db, late_db), residue_db)
            self._path_db = _follow(self._path_db, self._played - self._estimate, 0.0, 60.0)
            new = self.unlearned
            self._learned_blocks += 1
            taken_db, loss_db = self._estimate - residue_db, self._played - residue_db
            self._taken_db = _usual(self._taken_db, taken_db, 3.0, 30.0, new)
            self._loss_db = _usual(self._loss_db, loss_db, 0.0, 60.0, new)
        self.db = max(self._estimate - self._taken_db, late_db + _VOWEL_DB, misalignment_db)
        if not known:
            self.db = max(self.db, self._played - self._loss_db)


_SUDDEN_DB = 9.0  # of an echo estimate over the usual: the peaks of a voice need about that much
_VOWEL_DB = 3.0  # of few frequencies the late echo may pass on more than of all sound on average
_UNDER_NOISE_DB = 12.0  # how far under the noise a residue is still believed


def _without(noise_db: float, level_db: float) -> float:
    """The level, in dB, less the noise in it."""
    left = 10 ** (level_db / 10) - 10 ** ((noise_db + _BIAS_DB) / 10)
    return 10 * math.log10(max(left, 10 ** ((noise_db - _UNDER_NOISE_DB) / 10)))


_RISE, _FALL = 0.005, 0.02  # of the way a block: believe less at once, more only in time


def _follow(value: float, seen: float, lowest: float, highest: float) -> float:
    value += (_RISE if seen > value else _FALL) * (seen - value)
    return min(max(value, lowest), highest)


_LESS_DB, _MORE_DB = 0.16, 0.04  # a block: in one of five it may be less than is expected
_NEW_BLOCKS = 300  # 1.5 s of the box's voice: until then nothing is usual, and what is seen counts
_NEW_RISE = 0.02  # of the way a block


def _usual(value: float, seen: float, lowest: float, highest: float, new: bool) -> float:
    """A level that four of five blocks reach. How far the fifth falls short does not count: impact
    noise, of which the canceller is no worse. `new`: the room is just becoming known."""
    if seen > value:
        value += max(_MORE_DB, _NEW_RISE * (seen - value)) if new else _MORE_DB
    else:
        value -= _LESS_DB
    return min(max(value, lowest), highest)


class OnsetGate:
    """Fires when the energy stands out: by the full margin for `steps` blocks, or less for longer.

    A sequential test (Page's cumulative sum, 1954): blocks above half the margin add up, blocks
    below it take away, and no block counts for more than the full margin, so that one click is not
    enough. After a false alarm it is guarded: what stands out must be confirmed as a voice
    (voice_band.py), now or within 150 ms. Impact noise that continues keeps it guarded, and does
    not pause the box.
    """

    def __init__(self, settings: OnsetSettings) -> None:
        self._settings = settings
        self._half_db = settings.above_noise_db / 2
        self._enough_db = settings.blocks * self._half_db
        self._sum_db = 0.0
        self._guarded_blocks = self._confirm_blocks = 0
        self._alarm_blocks = self._unconfirmed_blocks = 0
        self._untried = False
        self.excess_db = -100.0

    @property
    def guarded(self) -> bool:
        return self._guarded_blocks > 0

    def process(
        self,
        energy_db: float,
        floor_db: float,
        echo: ResidualEcho,
        speaks: bool = False,
        followed: bool = False,
    ) -> bool:
        """One block. `excess_db` is how far it stands above all that is expected.

        `speaks`: whether the voice band confirms. `followed`: a sound that stood out is under way,
        of which others decide what it is."""
        stands_out = self._stands_out(energy_db, floor_db, echo)
        self._alarm_blocks = max(0, self._alarm_blocks - 1)
        if not self.guarded:
            return stands_out
        well = self._untried and echo.audible and not stands_out
        self._guarded_blocks = max(0, self._guarded_blocks - (_TRIED if well else 1))
        self._doubt(stands_out, speaks or followed)
        self._confirm_blocks = _CONFIRM_BLOCKS if stands_out else self._confirm_blocks - 1
        # Behind a dish the box itself may go on louder: what is confirmed must not be that.
        other = energy_db > echo.db + self._settings.above_echo_db / 2
        speaks = speaks and other
        return self._confirm_blocks > 0 and speaks  # guarded until confirm_voice()

    def _doubt(self, stands_out: bool, cleared: bool) -> None:
        """What stands out and is not confirmed in time would have been a false alarm."""
        if cleared:
            self._unconfirmed_blocks = 0
        elif stands_out:
            self._unconfirmed_blocks = _CONFIRM_BLOCKS
        elif self._unconfirmed_blocks:
            self._unconfirmed_blocks -= 1
            if not self._unconfirmed_blocks:
                self._alarm()

    def _stands_out(self, energy_db: float, floor_db: float, echo: ResidualEcho) -> bool:
        half_db = self._half_db
        excess_db = energy_db - floor_db - self._settings.above_noise_db
        counts_db = excess_db + half_db
        if echo.audible:  # what is left of a voice has peaks: here only the full margin counts
            over_echo_db = energy_db - echo.db - self._settings.above_echo_db
            excess_db = min(excess_db, over_echo_db)
            counts_db = min(counts_db, over_echo_db if over_echo_db < 0 else half_db)
        self.excess_db = excess_db
        summed_db = self._sum_db + min(max(counts_db, -half_db), half_db)
        # What is enough, and no more: what stood out for long is over with its first silent block.
        self._sum_db = min(max(0.0, summed_db), self._enough_db)
        return self._sum_db >= self._enough_db

    def enter_guarded(self) -> None:
        """Nothing is known of the room yet."""
        self._guarded_blocks, self._untried = _GUARDED_BLOCKS, True

    def false_alarm(self) -> None:
        """What it fired at was no voice."""
        self._alarm()

    def on_verdict(self, kind: Judgement) -> None:
        """What it fired at over the box was that. A noise in guarded mode starts that anew."""
        if kind == "noise" and self.guarded:
            self._alarm()

    def confirm_voice(self) -> None:
        """What it fired at was a voice."""
        self._guarded_blocks //= 2

    def _alarm(self) -> None:
        self._untried = False
        often = 0 < self._alarm_blocks < _REPEATED_ALARM_BLOCKS - _SAME_ALARM_BLOCKS
        blocks = _GUARDED_BLOCKS if often else _FIRST_ALARM_BLOCKS
        self._guarded_blocks = max(self._guarded_blocks, blocks)
        if often or not self._alarm_blocks:
            self._alarm_blocks = _REPEATED_ALARM_BLOCKS

    def reset(self) -> None:
        """Forget the blocks so far, and stay in guarded mode."""
        self._sum_db = 0.0
        self._confirm_blocks = 0

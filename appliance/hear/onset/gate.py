"""The onset gate: detects the beginning of a sound by the energies of 5 ms blocks, in dB.

It runs no network and may be wrong: a later stage confirms the onset or takes the pause back.
"""

from __future__ import annotations

import math

from appliance.hear.onset.background import LevelQuantile
from appliance.messages.hearing import Judgement
from appliance.settings import OnsetSettings

_ATTENUATION_DB = 6.0  # attenuation by the canceller that is assumed until it is measured
_AUDIBLE_DB = -60.0  # of the loudspeaker signal; below it the echo is negligible
_BIAS_DB = 1.0  # blocks of noise scatter about the floor, half of them above it
# So far below its recent peak, in dB, the echo is negligible and the residue is the room's sound;
# the peak decays by so many dB a block.
_SOFT_DB, _PEAK_DECAY_DB = 20.0, 0.01
_ROOM_SHARE, _ROOM_BLOCKS = 0.8, 2400
_DECAY_DB = 0.3  # a block: the residue of a filter of 200 ms lasts as long as the filter
_GUARDED_BLOCKS = 6000  # 30 s after the last of several false alarms, suppressed ones included
_FIRST_ALARM_BLOCKS = 800  # 4 s of guard time after one false alarm: impact noises come in groups
_REPEATED_ALARM_BLOCKS = 12_000  # a false alarm within a minute of another counts as repeated
_SAME_ALARM_BLOCKS = 300  # except within 1.5 s of the first, such as continued knocking
# In a new room, 6 s of the box's voice with nothing standing out count as 30 s.
_NEW_ROOM_SPEEDUP = 5
_CONFIRM_BLOCKS = 30  # 150 ms, within which the voice band may confirm a detection


class ResidualEcho:
    """How much of the box's own voice the canceller is expected to leave, in dB full scale.

    The highest of three predictions: the canceller's echo estimate less its recent attenuation; the
    level that follows from the error of its response at each frequency, which holds for sounds that
    are new to it; and the level played less the recent loss from there to the residue, which holds
    for a canceller that does not estimate its error.
    """

    def __init__(self) -> None:
        self.db = -100.0
        self._estimate = -100.0
        self._played = -100.0
        self._attenuation_db = _ATTENUATION_DB  # echo estimate to residue
        self._loss_db = 0.0  # played to residue; at first the residue is assumed as loud as played
        self._path_db = 0.0  # played to echo estimate: the loss of the echo path
        self._peak = -100.0  # recent peak of the echo estimate
        self._learned_blocks = 0
        # Of the room without echo, impact noise included.
        self._room_level = LevelQuantile(_ROOM_SHARE, _ROOM_BLOCKS)

    @property
    def audible(self) -> bool:
        return self._played > _AUDIBLE_DB

    def reset(self) -> None:
        """Forget the learned levels; call after an echo path change."""
        self._attenuation_db, self._loss_db, self._path_db = _ATTENUATION_DB, 0.0, 0.0
        self._learned_blocks = 0

    @property
    def unlearned(self) -> bool:
        """Whether the box is audible and has not spoken long enough for its residue to be known."""
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
        """Process one block; `learn` only while nobody but the box speaks.

        In a quiet room the residue is mostly the room's noise `floor_db`, which is subtracted:
        taken for echo, it would be expected to grow with the voice, and soft words over a loud
        answer would be missed. An echo estimate far above the recent gain of the echo path is
        limited, since then the canceller is adapting to the owner's voice. `late_db`: level of the
        echo after the filter's end. `known`: the filter has converged and its own estimate
        suffices; otherwise the residue beside a noisy sink would pass for echo. `misalignment_db`:
        level of the residual echo that follows from the error of the response.
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
                self._room_level.update(residue_db, False)
            residue_db = _subtract_noise(max(floor_db, self._room_level.db, late_db), residue_db)
            self._path_db = _follow(self._path_db, self._played - self._estimate, 0.0, 60.0)
            new = self.unlearned
            self._learned_blocks += 1
            attenuation_db, loss_db = self._estimate - residue_db, self._played - residue_db
            self._attenuation_db = _follow_quantile(
                self._attenuation_db, attenuation_db, 3.0, 30.0, new
            )
            self._loss_db = _follow_quantile(self._loss_db, loss_db, 0.0, 60.0, new)
        self.db = max(self._estimate - self._attenuation_db, late_db + _VOWEL_DB, misalignment_db)
        if not known:
            self.db = max(self.db, self._played - self._loss_db)


_SUDDEN_DB = 9.0  # limit of an echo estimate above the usual; peaks of a voice need about that
_VOWEL_DB = 3.0  # a vowel's few frequencies may have more late echo than sound on average
_UNDER_NOISE_DB = 12.0  # lowest result below the noise: a residue below it is not measurable


def _subtract_noise(noise_db: float, level_db: float) -> float:
    """The level in dB after the noise's power is subtracted."""
    power = 10 ** (level_db / 10) - 10 ** ((noise_db + _BIAS_DB) / 10)
    return 10 * math.log10(max(power, 10 ** ((noise_db - _UNDER_NOISE_DB) / 10)))


_RISE, _FALL = 0.005, 0.02  # share of the difference a block; falls faster than it rises


def _follow(value: float, measured: float, lowest: float, highest: float) -> float:
    value += (_RISE if measured > value else _FALL) * (measured - value)
    return min(max(value, lowest), highest)


_LESS_DB, _MORE_DB = 0.16, 0.04  # a block; in balance if one block of five is below the level
_NEW_BLOCKS = 300  # 1.5 s of the box's voice, in which the level rises faster
_NEW_RISE = 0.02  # share of the difference a block


def _follow_quantile(
    value: float, measured: float, lowest: float, highest: float, new: bool
) -> float:
    """Follow the level that four of five blocks reach. By how much the fifth falls short does not
    count: impact noise does not make the canceller worse. `new`: the room is not known yet."""
    if measured > value:
        value += max(_MORE_DB, _NEW_RISE * (measured - value)) if new else _MORE_DB
    else:
        value -= _LESS_DB
    return min(max(value, lowest), highest)


class OnsetGate:
    """Fires when the energy stands out: by the full margin for `blocks` blocks, or less for longer.

    A sequential test (Page's cumulative sum, 1954): blocks above half the margin add to the sum,
    blocks below it subtract, and no block counts for more than the full margin, so that one click
    is not enough. After a false alarm it is in guarded mode: what stands out must be confirmed as a
    voice (voice_band.py), at once or within 150 ms. Continuing impact noise keeps it in guarded
    mode and does not pause the box.
    """

    def __init__(self, settings: OnsetSettings) -> None:
        self._settings = settings
        self._half_db = settings.above_noise_db / 2
        self._enough_db = settings.blocks * self._half_db
        self._sum_db = 0.0
        self._guarded_blocks = self._confirm_blocks = 0
        self._alarm_blocks = self._unconfirmed_blocks = 0
        self._new_room = False
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
        """Process one block; returns whether the gate fires. `excess_db` is set to the energy
        above everything that is expected.

        `speaks`: the voice band confirms a voice. `followed`: a detected sound is under way, which
        the pipeline classifies."""
        stands_out = self._stands_out(energy_db, floor_db, echo)
        self._alarm_blocks = max(0, self._alarm_blocks - 1)
        if not self.guarded:
            return stands_out
        fast = self._new_room and echo.audible and not stands_out
        self._guarded_blocks = max(0, self._guarded_blocks - (_NEW_ROOM_SPEEDUP if fast else 1))
        self._track_unconfirmed(stands_out, speaks or followed)
        self._confirm_blocks = _CONFIRM_BLOCKS if stands_out else self._confirm_blocks - 1
        # After an impact noise the box may get louder; its own voice must not be the confirmation.
        above_echo = energy_db > echo.db + self._settings.above_echo_db / 2
        speaks = speaks and above_echo
        return self._confirm_blocks > 0 and speaks  # guarded until confirm_voice()

    def _track_unconfirmed(self, stands_out: bool, confirmed: bool) -> None:
        """Count a detection that is not confirmed in time as a false alarm."""
        if confirmed:
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
        if echo.audible:  # residual echo of a voice has peaks, so only the full margin counts
            over_echo_db = energy_db - echo.db - self._settings.above_echo_db
            excess_db = min(excess_db, over_echo_db)
            counts_db = min(counts_db, over_echo_db if over_echo_db < 0 else half_db)
        self.excess_db = excess_db
        summed_db = self._sum_db + min(max(counts_db, -half_db), half_db)
        # Limited, so that a long loud sound is over with its first silent block.
        self._sum_db = min(max(0.0, summed_db), self._enough_db)
        return self._sum_db >= self._enough_db

    def enter_guarded(self) -> None:
        """Enter guarded mode: nothing is known of the room yet."""
        self._guarded_blocks, self._new_room = _GUARDED_BLOCKS, True

    def false_alarm(self) -> None:
        """The sound that it fired at was no voice: enter or extend guarded mode."""
        self._alarm()

    def on_verdict(self, kind: Judgement) -> None:
        """Take the verdict on a detection over an answer: noise in guarded mode restarts it."""
        if kind == "noise" and self.guarded:
            self._alarm()

    def confirm_voice(self) -> None:
        """The sound that it fired at was a voice: halve the rest of guarded mode."""
        self._guarded_blocks //= 2

    def _alarm(self) -> None:
        self._new_room = False
        repeated = 0 < self._alarm_blocks < _REPEATED_ALARM_BLOCKS - _SAME_ALARM_BLOCKS
        blocks = _GUARDED_BLOCKS if repeated else _FIRST_ALARM_BLOCKS
        self._guarded_blocks = max(self._guarded_blocks, blocks)
        if repeated or not self._alarm_blocks:
            self._alarm_blocks = _REPEATED_ALARM_BLOCKS

    def reset(self) -> None:
        """Reset the sum over past blocks; guarded mode continues."""
        self._sum_db = 0.0
        self._confirm_blocks = 0

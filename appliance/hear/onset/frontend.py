"""The front end: computes levels, noise floor, residual echo and speech probability of a block.

In: one block, 5 ms, of the microphone and of the loudspeaker. Out: an `AudioBlock`. The pipeline
decides what follows from it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from appliance.hear.aec.factory import EchoCanceller, make_canceller
from appliance.hear.aec.path_estimate import Floats
from appliance.hear.onset.background import BackgroundSpeech
from appliance.hear.onset.gate import OnsetGate, ResidualEcho
from appliance.hear.onset.highpass import HighPass
from appliance.hear.onset.noise_floor import NoiseFloor
from appliance.hear.onset.vad import VoiceActivityDetector
from appliance.hear.onset.voice_band import VoiceBandDetector
from appliance.pcm import BLOCK_FRAMES, RATE_HZ, Samples, level_db, to_int16
from appliance.settings import HearingSettings

_OFFSET_HZ = 20.0  # corner; removes the constant offset of cheap microphones, and nothing audible
_HUM_HZ = 120.0  # corner; removes mains hum and rumble from what the gate measures
# The VAD is not run after 0.5 s without a block this far above the floor: that is only room noise.
# It is two thirds of hearing's CPU time in a silent room.
_CALM_DB, _CALM_BLOCKS = 3.0, 100
_OWN_OVER_DB = 4.5  # above the expected residual echo; its peaks reach that far
_FULL = 32_700  # of 32767: converters clip at slightly different values
_LONG_SILENCE_BLOCKS = 200  # 1 s of zeros: a muted microphone, for which the VAD is not run


class AudioBlock(NamedTuple):
    """5 ms of sound.

    samples      int16[80] without echo and offset, for the VAD, the verdict and the utterance
    high_passed  float64[80] of the same above 120 Hz, full scale 1.0
    energy_db    of `high_passed`, dB full scale; floor_db is the room's noise on the same scale
    excess_db    energy above everything expected (noise, residual echo, margins)
    gate         the gate fires
    probability  of speech, if a hop of the VAD ends in this block; else None
    sounding     the box is audible, or was a moment ago
    changed      the echo path changed here; what stands out is the box's own voice
    """

    samples: Samples
    high_passed: npt.NDArray[np.float64]
    energy_db: float
    floor_db: float
    excess_db: float
    gate: bool
    probability: float | None
    sounding: bool
    changed: bool = False


class AudioFrontEnd:
    """Runs echo canceller, noise floor, gate and VAD on one stream of blocks."""

    def __init__(
        self,
        settings: HearingSettings,
        canceller: EchoCanceller | None = None,
        *,
        again: bool = False,
    ) -> None:
        """`canceller`: replaces the canceller that the settings name. `again`: an earlier listener
        of this box has ended."""
        self.canceller = canceller or make_canceller(settings.echo, BLOCK_FRAMES)
        self._path_changes = self.canceller.path_changes
        self._offset = HighPass(_OFFSET_HZ, order=2, rate_hz=RATE_HZ, frames=BLOCK_FRAMES)
        self._hum = HighPass(_HUM_HZ, order=4, rate_hz=RATE_HZ, frames=BLOCK_FRAMES, channels=2)
        self._pair = np.zeros((BLOCK_FRAMES, 2))
        self._column = np.zeros((BLOCK_FRAMES, 1))
        self._zeros = self._calm_blocks = 0
        self.speech = VoiceActivityDetector()
        self._last_probability = 0.0
        self.floor = NoiseFloor()
        self.background = BackgroundSpeech(again=again)
        self.voice_band = VoiceBandDetector(BLOCK_FRAMES)
        self.echo = ResidualEcho()
        self.gate = OnsetGate(settings.onset)
        self.gate.enter_guarded()

    def process(
        self, mic: Samples, played: Samples, somebody_speaks: bool, *, mic_off: bool = False
    ) -> AudioBlock:
        """Process the next block. While `somebody_speaks`, or with `mic_off`, the estimates of
        room and echo are not updated."""
        self._column[:, 0] = mic
        without_offset = self._offset(self._column)[:, 0]
        clean = to_int16(without_offset)
        residue = self.canceller.cancel_echo(clean, played, clipped(mic), mic_off=mic_off)
        changed = self.canceller.path_changes != self._path_changes
        if changed:
            self._path_changes = self.canceller.path_changes
            self.echo.reset()
            self.gate.enter_guarded()

        pair = self._pair
        np.multiply(residue, 1 / 32768, out=pair[:, 0])
        if self.canceller.active:
            np.multiply(clean, 1 / 32768, out=pair[:, 1])
            pair[:, 1] -= pair[:, 0]
        else:
            pair[:, 1] = 0.0
        filtered = self._hum(pair)
        high_passed = filtered[:, 0]
        # A canceller that adapted to the owner's voice adds energy; then use the level before it.
        energy_db = min(level_db(high_passed), level_db(filtered[:, 0] + filtered[:, 1]))
        # count_nonzero takes a fifth of the time of any() here.
        played_db = level_db(played / 32768) if np.count_nonzero(played) else -100.0
        learn = not (somebody_speaks or mic_off)
        self.echo.update(
            played_db, level_db(filtered[:, 1]), energy_db, learn, self.floor.db,
            self.canceller.late_reverb_db, self.canceller.knows_echo,
            self.canceller.misalignment_db,
        )  # fmt: skip
        sounding = self.echo.audible
        self.floor.update(energy_db, frozen=sounding or not learn)
        self._calm_blocks = 0 if energy_db > self.floor.db + _CALM_DB else self._calm_blocks + 1
        probability = self._probability(residue, sounding or somebody_speaks)
        if probability is not None:
            self._last_probability = probability
        own_voice = self.echo.unlearned and energy_db < self.echo.db + _OWN_OVER_DB
        self.background.update(energy_db, self._last_probability, somebody_speaks, own_voice)
        expected_db = max(self.floor.db, self.background.db) if sounding else self.floor.db
        speaks = self.voice_band.process(high_passed, self._last_probability, somebody_speaks)
        fires = self.gate.process(energy_db, expected_db, self.echo, speaks, somebody_speaks)
        return AudioBlock(
            residue, high_passed, energy_db, self.floor.db, self.gate.excess_db, fires, probability,
            sounding, changed,
        )  # fmt: skip

    def _probability(self, residue: Samples, needed: bool) -> float | None:
        self._zeros = 0 if np.count_nonzero(residue) else self._zeros + 1
        if self._zeros <= _LONG_SILENCE_BLOCKS:
            calm = self._calm_blocks > _CALM_BLOCKS and not needed
            return self.speech.process(residue, calm)
        if self._zeros == _LONG_SILENCE_BLOCKS + 1:
            self.speech.reset()
        return 0.0  # at every block, so that the endpointing detects silence


def clipped(mic: Samples) -> Floats | None:
    """1 and -1 where a sample is at the ends of the range, else 0; None if there is none."""
    if mic[mic.argmax()] < _FULL and mic[mic.argmin()] > -_FULL:  # a third of the time of max()
        return None
    return (mic >= _FULL).astype(np.float32) - (mic <= -_FULL)

"""After a restart of the service the learned echo path is used at once."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from appliance.hear.aec import store
from appliance.messages.commands import Say
from appliance.messages.hearing import Verdict
from appliance.messages.playback import PlaybackStarted
from appliance.pcm import RATE_HZ, Samples
from appliance.runtime.ipc.ring import RingReader
from lab.bench.harness import TALK, WITHOUT_THINKER, BenchHarness
from lab.sim.rehearsal import WATCHER
from lab.sim.rehearsal_cli import load_over
from lab.sim.scene import Room
from lab.sim.speech_source import SPEECH_DB
from tests.english import ENGLISH
from tests.lab.sim.test_modes import wait_for

pytestmark = [pytest.mark.process, pytest.mark.usefixtures("simcard_library")]

ECHO = Room(noise="white", noise_db=-70.0, echo_db=SPEECH_DB, rt60_s=0.4, seed=1003)
# In this mode the ring `near` carries the microphone after echo cancellation, also during speech.
LISTEN_ALWAYS: dict[str, object] = {"mode": "wake_word", "hearing": {"wake": {"barge_in": False}}}
LEARNS_S = 4.0  # of playback, until the canceller has converged


class BoxRun:
    """One run of the box, as long as `act` lasts; its state stays in the folder."""

    def __init__(self, folder: Path, changes: dict[str, object], seconds: float) -> None:
        self.attenuation_db = float("nan")
        self.verdicts: list[str] = []
        self._seconds = seconds
        loud = load_over(ENGLISH, {"speaking": {"volume": 1.0}, **changes})
        parts = (*WITHOUT_THINKER, "words")
        BenchHarness(ECHO, loud, self._act, parts=parts, state=folder).play()

    def _act(self, stage: BenchHarness) -> None:
        near = RingReader(stage.supervisor.rings["near"], WATCHER)
        at = stage.card.now()
        stage.send(Say(TALK))
        began = stage.index(wait_for(stage, PlaybackStarted, at).index)
        near_blocks: dict[int, Samples] = {}
        while stage.card.now() < began + self._seconds * RATE_HZ:
            stage.wait(0.1)
            near_blocks |= {stage.index(slot.index): slot.samples for slot in near.read_all()}
        self.verdicts = [verdict.kind for verdict in stage.messages_since(Verdict, at)]
        first = {i: samples for i, samples in near_blocks.items() if began <= i < began + RATE_HZ}
        if first:
            mic_blocks = [stage.card.microphone(i, len(samples)) for i, samples in first.items()]
            self.attenuation_db = _db(mic_blocks) - _db(list(first.values()))


def _db(pieces: list[Samples]) -> float:
    return float(10 * np.log10(np.mean(np.concatenate(pieces).astype(np.float64) ** 2)))


def test_after_a_restart_the_echo_is_cancelled_from_the_first_second_on(
    tmp_path: Path,
) -> None:
    cold = BoxRun(tmp_path, LISTEN_ALWAYS, LEARNS_S)
    assert (tmp_path / store.FILE).is_file()
    warm = BoxRun(tmp_path, LISTEN_ALWAYS, 1.5)
    assert warm.attenuation_db > 15
    assert warm.attenuation_db > cold.attenuation_db + 6
    first_answer = BoxRun(tmp_path, {"mode": "open"}, 4.0)
    assert "interruption" not in first_answer.verdicts

"""The article's recipe: its hysteresis, its queue, and a stop on a simulated card."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from appliance.pcm import RATE_HZ
from lab.bench.article import CHUNK_FRAMES, OutputController, VADIterator
from lab.sim.alsa_plugin import alsa_environment
from lab.sim.scene import Scene, ScriptedUtterance
from lab.sim.script_sounds import make
from lab.sim.simulated_card import SoundCard

SHM = Path("/dev/shm")  # noqa: S108  # a tmpfs; the file name contains our process id


def test_speech_starts_at_half_and_ends_after_half_a_second_below() -> None:
    vad = VADIterator()
    assert [vad.process(p) for p in (0.49, 0.5, 0.9)] == [None, "start", None]
    quiet = [vad.process(0.1) for _ in range(17)]
    assert quiet == [None] * 16 + ["end"]


def test_speech_does_not_end_between_the_two_thresholds_nor_in_a_short_pause() -> None:
    vad = VADIterator()
    vad.process(0.9)
    assert {vad.process(0.4) for _ in range(40)} == {None}
    assert {vad.process(0.1) for _ in range(10)} | {vad.process(0.6)} == {None}
    assert {vad.process(0.1) for _ in range(16)} == {None}


def test_an_answer_is_queued_in_chunks_of_50_ms_and_flushed_completely() -> None:
    output = OutputController()
    output.play(np.zeros(CHUNK_FRAMES * 3 + 7, np.int16))
    assert output.playback_queue.qsize() == 4
    output.flush()
    assert output.playback_queue.empty()


@pytest.mark.process
@pytest.mark.timeout(60)
def test_the_recipe_plays_on_a_card_and_stops_at_a_word(tmp_path: Path) -> None:
    tone = 8000 * np.sin(np.arange(20 * RATE_HZ) * 0.2)
    tone.astype(np.int16).tofile(tmp_path / "answer")
    with SoundCard.create(SHM / f"interlude-test-{os.getpid()}-article", RATE_HZ) as card:
        environment = {**os.environ, **alsa_environment(tmp_path, {"sim": card.path})}
        command = [sys.executable, "-m", "lab.bench.article", "sim"]
        child = subprocess.Popen(
            [*command, str(tmp_path / "answer")], env=environment, stdin=subprocess.PIPE
        )
        try:
            _until(lambda: _loud(card, RATE_HZ // 4))
            word = make(Scene(), ScriptedUtterance(say="please stop that now"))
            card.add_sound(card.now() + RATE_HZ // 4, word.samples)
            _until(lambda: not _loud(card, RATE_HZ // 10))
        finally:
            child.kill()
            child.wait()


def _loud(card: SoundCard, frames: int) -> bool:
    first = max(0, card.now() - frames)
    return bool(np.abs(card.loudspeaker(first, card.now() - first).astype(int)).max(initial=0) > 33)


def _until(condition: Callable[[], bool], timeout_s: float = 20.0) -> None:
    end = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)

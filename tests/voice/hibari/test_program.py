"""The voice as the speaker runs it: a program in its sandbox that is stopped, killed and given
unsayable text."""

from __future__ import annotations

import itertools
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from appliance.errors import UnsayableText, VoiceError
from appliance.pcm import RATE_HZ
from appliance.voice.hibari import engine
from appliance.voice.postprocess import TARGET_DBFS, rms_dbfs
from appliance.voice.program import START_S, ProgramVoice
from tests.voice.programs import until
from tests.voice.test_espeak import all_of

pytestmark = pytest.mark.process
SENTENCE = "The weather will be mild, with some rain in the afternoon and a little sun."
PROGRAM = Path(engine.__file__).with_name("program.py")


@pytest.fixture(scope="module")
def hibari() -> Iterator[ProgramVoice]:
    loaded = ProgramVoice(engine.NAME, engine.command(165))
    until(loaded, lambda: loaded.ready, START_S)
    yield loaded
    loaded.close()


def test_the_program_needs_no_environment_and_no_working_folder(tmp_path: Path) -> None:
    """As in a release on the box: without the variables of a virtual environment, in any folder."""
    done = subprocess.run(
        [sys.executable, "-P", PROGRAM, "--check"], cwd=tmp_path, env={}, check=False, timeout=60,
        capture_output=True, text=True,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")


def test_a_sentence_has_the_target_loudness_and_no_silence_before_it(
    hibari: ProgramVoice,
) -> None:
    sound = all_of(hibari.synthesise(SENTENCE))
    assert 3 * RATE_HZ < len(sound) < 6 * RATE_HZ
    assert rms_dbfs(sound, RATE_HZ) == pytest.approx(TARGET_DBFS, abs=1.5)
    assert np.flatnonzero(np.abs(sound.astype(int)) > 200)[0] < 0.020 * RATE_HZ


def test_every_word_has_its_position_in_the_sound(hibari: ProgramVoice) -> None:
    speech = hibari.synthesise(SENTENCE)
    length = len(all_of(speech))
    words = speech.words
    assert [SENTENCE[word.begin : word.end] for word in words] == SENTENCE.split()
    assert words[0].at < 0.05 * RATE_HZ
    for word, following in itertools.pairwise(words):
        assert word.at < word.over <= following.at
    assert words[-1].at < length - 0.1 * RATE_HZ
    assert abs(words[-1].over - length) < 0.3 * RATE_HZ  # a part of its decay is trimmed


def test_an_unsayable_text_does_not_end_the_program(hibari: ProgramVoice) -> None:
    before = hibari.pid
    speech = hibari.synthesise("Это дом.")
    with pytest.raises(UnsayableText, match=r"The voice hibari cannot say a sentence: .*script"):
        all_of(speech)
    assert len(all_of(hibari.synthesise("Yes.")))
    assert hibari.pid == before


def test_a_sentence_after_cancelled_ones_is_complete(hibari: ProgramVoice) -> None:
    wanted = len(all_of(hibari.synthesise("The moon.")))
    for _ in range(5):
        hibari.synthesise(SENTENCE * 5).cancel()
    assert len(all_of(hibari.synthesise("The moon."))) == pytest.approx(wanted, rel=0.02)


def test_a_program_killed_in_mid_sentence_fails_it_and_restarts(hibari: ProgramVoice) -> None:
    speech = hibari.synthesise(SENTENCE * 8)
    assert hibari.pid is not None
    os.kill(hibari.pid, signal.SIGKILL)
    with pytest.raises(VoiceError, match="hibari failed: it ended") as error:
        all_of(speech)
    assert not isinstance(error.value, UnsayableText)
    until(hibari, lambda: hibari.ready, START_S)
    assert len(all_of(hibari.synthesise("Yes.")))


def test_the_memory_after_a_long_sentence_is_within_its_budget(hibari: ProgramVoice) -> None:
    all_of(hibari.synthesise("It is a long sentence, with many clauses, " * 12))
    status = Path(f"/proc/{hibari.pid}/status").read_text()
    (peak,) = (int(line.split()[1]) >> 10 for line in status.splitlines() if "VmHWM" in line)
    assert peak < 280


def test_a_cancelled_sentence_leaves_no_pending_reply(hibari: ProgramVoice) -> None:
    """Two threads write to the pipe: a stop is answered only once."""
    speech = hibari.synthesise(SENTENCE)
    speech.cancel()
    limit = time.monotonic() + 10
    while hibari._stopped:
        assert time.monotonic() < limit
        hibari.poll()
        time.sleep(0.005)
    assert hibari.ready

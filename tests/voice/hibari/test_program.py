"""The voice as the speaker has it: a program in its sandbox, that is stopped, killed and asked for
what it cannot say."""

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


def test_it_needs_nothing_of_the_environment_and_no_folder(tmp_path: Path) -> None:
    """As a card has it: a release without a virtual environment's variables, and another folder."""
    done = subprocess.run(
        [sys.executable, "-P", PROGRAM, "--check"], cwd=tmp_path, env={}, check=False, timeout=60,
        capture_output=True, text=True,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")


def test_a_sentence_becomes_sound_of_the_boxs_loudness_without_silence_before(
    hibari: ProgramVoice,
) -> None:
    sound = all_of(hibari.synthesise(SENTENCE))
    assert 3 * RATE_HZ < len(sound) < 6 * RATE_HZ
    assert rms_dbfs(sound, RATE_HZ) == pytest.approx(TARGET_DBFS, abs=1.5)
    assert np.flatnonzero(np.abs(sound.astype(int)) > 200)[0] < 0.020 * RATE_HZ


def test_every_word_has_the_sample_at_which_it_begins(hibari: ProgramVoice) -> None:
    speech = hibari.synthesise(SENTENCE)
    length = len(all_of(speech))
    words = speech.words
    assert [SENTENCE[word.begin : word.end] for word in words] == SENTENCE.split()
    assert words[0].at < 0.05 * RATE_HZ
    for word, following in itertools.pairwise(words):
        assert word.at < word.over <= following.at
    assert words[-1].at < length - 0.1 * RATE_HZ
    assert abs(words[-1].over - length) < 0.3 * RATE_HZ  # of its decay some is left out


def test_what_it_cannot_read_is_the_texts_fault_and_it_stays(hibari: ProgramVoice) -> None:
    before = hibari.pid
    speech = hibari.synthesise("Это дом.")
    with pytest.raises(UnsayableText, match=r"The voice hibari cannot say a sentence: .*script"):
        all_of(speech)
    assert len(all_of(hibari.synthesise("Yes.")))
    assert hibari.pid == before


def test_a_sentence_after_stopped_ones_is_spoken_whole(hibari: ProgramVoice) -> None:
    wanted = len(all_of(hibari.synthesise("The moon.")))
    for _ in range(5):
        hibari.synthesise(SENTENCE * 5).cancel()
    assert len(all_of(hibari.synthesise("The moon."))) == pytest.approx(wanted, rel=0.02)


def test_killed_in_mid_sentence_it_fails_that_one_and_comes_back(hibari: ProgramVoice) -> None:
    speech = hibari.synthesise(SENTENCE * 8)
    assert hibari.pid is not None
    os.kill(hibari.pid, signal.SIGKILL)
    with pytest.raises(VoiceError, match="hibari failed: it ended") as error:
        all_of(speech)
    assert not isinstance(error.value, UnsayableText)
    until(hibari, lambda: hibari.ready, START_S)
    assert len(all_of(hibari.synthesise("Yes.")))


def test_its_memory_after_a_long_sentence_is_within_its_budget(hibari: ProgramVoice) -> None:
    all_of(hibari.synthesise("It is a long sentence, with many clauses, " * 20))
    status = Path(f"/proc/{hibari.pid}/status").read_text()
    (peak,) = (int(line.split()[1]) >> 10 for line in status.splitlines() if "VmHWM" in line)
    assert peak < 280


def test_it_says_nothing_that_nobody_waits_for(hibari: ProgramVoice) -> None:
    """Its end of the pipe is written to from two threads: a stop is answered once."""
    speech = hibari.synthesise(SENTENCE)
    speech.cancel()
    limit = time.monotonic() + 10
    while hibari._stopped:
        assert time.monotonic() < limit
        hibari.poll()
        time.sleep(0.005)
    assert hibari.ready

"""The real espeak-ng: sound, loudness, speed, cancellation."""

from __future__ import annotations

import select
import time

import numpy as np
import pytest

from appliance.errors import VoiceError
from appliance.pcm import Samples
from appliance.voice.espeak import EspeakVoice
from appliance.voice.interface import Speech
from appliance.voice.postprocess import TARGET_DBFS, rms_dbfs

SENTENCES = (
    "Yes.",
    "Hello there, how are you today?",
    "The moon is our nearest neighbour in space, and it moves around us once a month.",
    "First you mix flour, water, yeast and a little salt.",
)


def all_of(speech: Speech, within_s: float = 10.0) -> Samples:
    """All samples of a sentence."""
    parts: list[Samples] = []
    until = time.monotonic() + within_s
    while time.monotonic() < until:
        samples = speech.read()
        if samples is None:
            return np.concatenate(parts)
        parts.append(samples)
        if not len(samples):  # it may hold samples without the pipe being readable
            select.select([speech.fileno()], [], [], 1.0)
    raise AssertionError("the sentence did not end")


@pytest.mark.parametrize("text", SENTENCES)
def test_a_sentence_has_the_target_loudness_and_no_silence_around_it(text: str) -> None:
    sound = all_of(EspeakVoice(165).synthesise(text))
    assert len(sound) / 16000 == pytest.approx(len(text) / 15, abs=1.0)
    assert rms_dbfs(sound, 16000) == pytest.approx(TARGET_DBFS, abs=1.5)
    loud = np.flatnonzero(np.abs(sound.astype(int)) > 200)
    assert loud[0] < 0.020 * 16000
    assert len(sound) - loud[-1] < 0.060 * 16000


def test_words_per_minute_make_it_faster() -> None:
    slow, fast = (len(all_of(EspeakVoice(wpm).synthesise(SENTENCES[2]))) for wpm in (120, 240))
    assert fast < 0.7 * slow


def test_text_is_never_interpreted_as_an_option_or_a_command() -> None:
    for text in ("--version", "-f /etc/passwd", "$(id); `id`", "-v nonsense hello"):
        assert len(all_of(EspeakVoice(165).synthesise(text))) > 1600


def test_cancelling_is_immediate_and_leaves_no_process() -> None:
    voice = EspeakVoice(165)
    speech = voice.synthesise("A very long sentence. " * 500)
    select.select([speech.fileno()], [], [], 5.0)
    speech.read()
    started_s = time.perf_counter()
    speech.cancel()
    assert time.perf_counter() - started_s < 0.05
    voice.close()
    assert voice._dying == []


def test_a_missing_program_is_an_error_with_a_remedy() -> None:
    with pytest.raises(VoiceError, match=r"not installed.*Install"):
        EspeakVoice(165, program="no-such-espeak")


@pytest.mark.process
@pytest.mark.parametrize("program", ["false", "true", "cat"])
def test_a_program_without_a_wav_header_is_an_error_or_silence(program: str) -> None:
    voice = EspeakVoice(165, program=program)
    voice._command = (program,)
    speech = voice.synthesise("This is not a WAV header, but it is longer than forty-four bytes.")
    if program == "true":
        _end(speech)
    else:
        with pytest.raises(VoiceError, match="espeak-ng"):
            _end(speech)


def _end(speech: Speech) -> None:
    while (samples := speech.read()) is not None:
        assert not len(samples)
        select.select([speech.fileno()], [], [], 1.0)

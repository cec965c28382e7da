"""Synthesis of a sentence before it is requested."""

from __future__ import annotations

import numpy as np
import pytest

from appliance.errors import VoiceError
from appliance.pcm import RATE_HZ
from appliance.voice.interface import Speech
from appliance.voice.prepared_speech import MOST_FRAMES, SpeechPreparation
from tests.voice.fakes import FakeVoice


def all_of(speech: Speech | None) -> np.ndarray:
    assert speech is not None
    made = []
    while (samples := speech.read()) is not None and len(samples):
        made.append(samples)
    return np.concatenate(made)


def polled(preparation: SpeechPreparation) -> bool:
    return preparation.waits_for is not None


def prepared(voice: FakeVoice, text: str = "It is far.") -> SpeechPreparation:
    preparation = SpeechPreparation()
    preparation.begin(text, voice)
    return preparation


@pytest.mark.parametrize("collected", [0, 1, 3])
def test_the_sound_is_the_same_however_much_was_prepared(collected: int) -> None:
    voice = FakeVoice()
    preparation = prepared(voice)
    for _ in range(collected):
        preparation.collect()
    np.testing.assert_array_equal(all_of(preparation.take("It is far.", voice)), voice.sound(0))
    assert voice.said == ["It is far."]


@pytest.mark.parametrize(("text", "same"), [("It is near.", True), ("It is far.", False)])
def test_another_sentence_or_voice_cancels_the_prepared_one(text: str, same: bool) -> None:
    voice = FakeVoice()
    preparation = prepared(voice)
    assert preparation.take(text, voice if same else FakeVoice()) is None
    assert voice.speeches[0].cancelled
    assert preparation.take("It is far.", voice) is None  # it was dropped


def test_preparation_stops_at_the_end_or_at_its_limit() -> None:
    voice = FakeVoice()
    preparation = SpeechPreparation()
    assert not polled(preparation)
    preparation.begin("It is far.", voice)
    assert polled(preparation)
    preparation.collect()
    assert not polled(preparation)
    long = FakeVoice(frames=2 * MOST_FRAMES, piece=RATE_HZ)
    preparation.begin("A long one.", long)
    preparation.collect()
    assert not polled(preparation)
    assert len(long.speeches[0].give) > 1
    assert len(all_of(preparation.take("A long one.", long))) == 2 * MOST_FRAMES


def test_a_newer_preparation_replaces_the_older_one() -> None:
    voice = FakeVoice()
    preparation = prepared(voice)
    preparation.begin("It is near.", voice)
    assert voice.speeches[0].cancelled
    np.testing.assert_array_equal(all_of(preparation.take("It is near.", voice)), voice.sound(1))


def test_a_failed_preparation_gives_none() -> None:
    voice = FakeVoice()
    voice.refuses = VoiceError("It is hoarse.", "Wait.")
    assert prepared(voice).take("It is far.", voice) is None
    broken = FakeVoice()
    broken.script = [[VoiceError("It broke.", "Wait.")]]
    preparation = prepared(broken)
    preparation.collect()
    assert preparation.take("It is far.", broken) is None

"""The synthesiser: the sound of sentences and the positions of their words."""

from __future__ import annotations

import functools
import threading
import time

import numpy as np
import pytest

from appliance.errors import UnsayableText
from appliance.voice.hibari.synthesiser import (
    LOUDNESS_DBFS,
    RATE_HZ,
    Cancellation,
    Stretch,
    Synthesiser,
)
from appliance.voice.postprocess import rms_dbfs

SENTENCES = (
    "The weather will be mild, with some rain in the afternoon and a little sun.",
    "I have set a timer for ten minutes.",
    "It is half past nine.",
    "The capital of France is Paris, which lies on the river Seine.",
    "There are two lights on in the kitchen.",
    "Would you like me to turn the heating down before you go to bed?",
)


@functools.cache  # several tests look at the same sentences
def synthesise(voice: Synthesiser, text: str) -> list[Stretch]:
    return list(voice.synthesise(text, Cancellation()))


def seconds(stretches: list[Stretch]) -> float:
    return sum(len(stretch.sound) for stretch in stretches) / RATE_HZ


def positions(stretches: list[Stretch]) -> list[tuple[int, int, int]]:
    """Each word with the sample of the sentence at which it begins."""
    found, position = [], 0
    for stretch in stretches:
        assert all(0 <= at < len(stretch.sound) and at < over for *_, at, over in stretch.words)
        found += [(begin, end, position + at) for begin, end, at, _ in stretch.words]
        position += len(stretch.sound)
    return found


@pytest.mark.long
def test_the_loudness_is_the_declared_one(voice: Synthesiser) -> None:
    loud = [
        rms_dbfs(np.concatenate([stretch.sound for stretch in synthesise(voice, text)]), RATE_HZ)
        for text in SENTENCES
    ]
    assert np.mean(loud) == pytest.approx(LOUDNESS_DBFS, abs=0.5)
    assert max(loud) - min(loud) < 2.5


@pytest.mark.parametrize("text", SENTENCES)
def test_every_word_has_a_position_in_order(voice: Synthesiser, text: str) -> None:
    found = positions(synthesise(voice, text))
    assert [text[begin:end] for begin, end, _ in found] == text.split()
    begins = [at for *_, at in found]
    assert begins == sorted(set(begins))


def test_after_a_pause_a_word_begins_with_the_onset_of_sound(voice: Synthesiser) -> None:
    made = synthesise(voice, "Paris. Rome. Yes. No. Tea. Go. Cat. Moon. Sun. Ask.")
    sound = np.abs(np.concatenate([stretch.sound for stretch in made]))
    for begin, _, at in positions(made):
        near = sound[at - RATE_HZ // 10 : at + RATE_HZ // 4]
        onset_s = np.flatnonzero(near > 0.1 * near.max())[0] / RATE_HZ - 0.1
        assert abs(onset_s) <= 0.03, begin


@pytest.mark.long
def test_a_slower_pace_takes_longer(voice: Synthesiser) -> None:
    slow, fast = (Synthesiser(speed, voice._reader) for speed in (0.7, 1.4))
    text = SENTENCES[0]
    own = seconds(synthesise(voice, text))
    assert seconds(synthesise(slow, text)) > 1.15 * own
    assert seconds(synthesise(fast, text)) < 0.9 * own


@pytest.mark.long
def test_all_words_of_many_sentences_have_positions(voice: Synthesiser) -> None:
    text = " ".join(SENTENCES)
    found = positions(synthesise(voice, text))
    assert [text[begin:end] for begin, end, _ in found] == text.split()


@pytest.mark.parametrize("text", ["Это дом.", "The word is дом.", "今日は", "नमस्ते"])
def test_an_unsayable_text_is_refused_before_any_sound(voice: Synthesiser, text: str) -> None:
    with pytest.raises(UnsayableText, match="another script"):
        next(voice.synthesise(f"Hello there. {text}", Cancellation()))


def test_punctuation_alone_gives_no_sound(voice: Synthesiser) -> None:
    assert synthesise(voice, "") == synthesise(voice, " … ") == []


@pytest.mark.process
def test_a_sentence_that_is_cancelled_ends_within_50_ms(voice: Synthesiser) -> None:
    text = "A long sentence, with a clause in it, " * 6
    started_s = time.monotonic()
    synthesise(voice, text)
    whole_s = time.monotonic() - started_s
    took_ms = []
    for share in np.linspace(0.1, 0.9, 5):
        cancellation = Cancellation()
        cancelled_s: list[float] = []

        def cancel(which: Cancellation = cancellation, at: list[float] = cancelled_s) -> None:
            at.append(time.monotonic())
            which.cancel()

        timer = threading.Timer(share * whole_s, cancel)
        timer.start()
        try:
            list(voice.synthesise(text, cancellation))
        except Exception:  # noqa: BLE001  # onnxruntime's, for a run that was terminated
            assert cancellation.cancelled
        ended_s = time.monotonic()
        timer.join()
        took_ms.append(1000 * (ended_s - cancelled_s[0]))
    assert np.median(took_ms) < 50, took_ms

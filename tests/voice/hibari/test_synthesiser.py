"""Sentences become sound with the places of their words."""

from __future__ import annotations

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


def said(voice: Synthesiser, text: str) -> list[Stretch]:
    return list(voice.synthesise(text, Cancellation()))


def seconds(stretches: list[Stretch]) -> float:
    return sum(len(each.sound) for each in stretches) / RATE_HZ


def places(stretches: list[Stretch]) -> list[tuple[int, int, int]]:
    """Each word with the sample of the whole at which it begins."""
    found, position = [], 0
    for each in stretches:
        assert all(0 <= at < len(each.sound) and at < over for *_, at, over in each.words)
        found += [(begin, end, position + at) for begin, end, at, _ in each.words]
        position += len(each.sound)
    return found


@pytest.mark.long
def test_its_loudness_is_what_is_told_of_it(voice: Synthesiser) -> None:
    loud = [
        rms_dbfs(np.concatenate([each.sound for each in said(voice, text)]), RATE_HZ)
        for text in SENTENCES
    ]
    assert np.mean(loud) == pytest.approx(LOUDNESS_DBFS, abs=0.5)
    assert max(loud) - min(loud) < 2.5


@pytest.mark.parametrize("text", SENTENCES)
def test_every_word_has_its_place_in_order(voice: Synthesiser, text: str) -> None:
    found = places(said(voice, text))
    assert [text[begin:end] for begin, end, _ in found] == text.split()
    begins = [at for *_, at in found]
    assert begins == sorted(set(begins))


def test_a_word_begins_where_sound_does_after_a_pause(voice: Synthesiser) -> None:
    made = said(voice, "Paris. Rome. Yes. No. Tea. Go. Cat. Moon. Sun. Ask.")
    sound = np.abs(np.concatenate([each.sound for each in made]))
    for begin, _, at in places(made):
        near = sound[at - RATE_HZ // 10 : at + RATE_HZ // 4]
        onset_s = np.flatnonzero(near > 0.1 * near.max())[0] / RATE_HZ - 0.1
        assert abs(onset_s) <= 0.03, begin


@pytest.mark.long
def test_a_slower_pace_takes_longer(voice: Synthesiser) -> None:
    slow, fast = Synthesiser(0.7), Synthesiser(1.4)
    text = SENTENCES[0]
    own = seconds(said(voice, text))
    assert seconds(said(slow, text)) > 1.15 * own
    assert seconds(said(fast, text)) < 0.9 * own


@pytest.mark.long
def test_a_text_of_many_sentences_is_said_in_parts(voice: Synthesiser) -> None:
    text = " ".join(SENTENCES * 3)
    found = places(said(voice, text))
    assert [text[begin:end] for begin, end, _ in found] == text.split()


@pytest.mark.parametrize("text", ["Это дом.", "The word is дом.", "今日は", "नमस्ते"])
def test_what_it_has_no_sounds_for_it_does_not_begin(voice: Synthesiser, text: str) -> None:
    with pytest.raises(UnsayableText, match="another script"):
        next(voice.synthesise(f"Hello there. {text}", Cancellation()))


def test_a_text_of_marks_alone_is_silence(voice: Synthesiser) -> None:
    assert said(voice, "") == said(voice, " … ") == []


@pytest.mark.process
def test_a_sentence_that_is_cancelled_ends_within_50_ms(voice: Synthesiser) -> None:
    text = "A long sentence, with a clause in it, " * 6
    begun_s = time.monotonic()
    said(voice, text)
    whole_s = time.monotonic() - begun_s
    took_ms = []
    for share in np.linspace(0.1, 0.9, 9):
        cancellation = Cancellation()
        cancelled_s: list[float] = []

        def cancel(which: Cancellation = cancellation, at: list[float] = cancelled_s) -> None:
            at.append(time.monotonic())
            which.cancel()

        timer = threading.Timer(share * whole_s, cancel)
        timer.start()
        try:
            list(voice.synthesise(text, cancellation))
        except Exception:  # noqa: BLE001  # onnxruntime's, of a run that was ended
            assert cancellation.cancelled
        ended_s = time.monotonic()
        timer.join()
        took_ms.append(1000 * (ended_s - cancelled_s[0]))
    assert np.median(took_ms) < 50, took_ms

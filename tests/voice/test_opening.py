"""The opening sound is short, does not click, and trains the echo canceller before any word."""

from __future__ import annotations

import numpy as np

from appliance.hear.aec.kalman import KalmanCanceller
from appliance.messages.speech import Speak, SpeakFailed, Spoken
from appliance.pcm import RATE_HZ
from appliance.voice.chime import HIGHEST_HZ, OPENING_S, chime, opening
from appliance.voice.speech_queue import SpeechQueue
from tests.hear.aec.test_kalman import answer, echo_of, left_of, room, taken_db
from tests.voice.fakes import FakeVoice


def test_the_opening_is_short_and_does_not_click() -> None:
    sound = opening()
    assert len(sound) <= 1.6 * RATE_HZ
    assert abs(int(sound[0])) < 50
    assert not sound[-500:].any()
    assert np.abs(sound).max() < 16_000
    assert np.array_equal(sound, opening())


def test_every_third_octave_band_has_energy() -> None:
    power = np.abs(np.fft.rfft(opening()[: round(OPENING_S * RATE_HZ)])) ** 2
    frequency_hz = np.fft.rfftfreq(round(OPENING_S * RATE_HZ), 1 / RATE_HZ)
    low_hz = 100.0
    while low_hz * 1.26 < HIGHEST_HZ:
        band = (frequency_hz >= low_hz) & (frequency_hz < low_hz * 1.26)
        assert power[band].sum() > 1e-4 * power.sum()
        low_hz *= 1.26


def test_after_the_opening_the_first_second_of_speech_is_cancelled() -> None:
    sound = np.concatenate([opening(), np.zeros(RATE_HZ, np.int16)])
    sound = sound[: len(sound) // 80 * 80]
    words = answer(2)
    for before, least_db, most_db in ((sound, 17.0, 99.0), (np.zeros_like(sound), -9.0, 15.0)):
        played = np.concatenate([before, words])
        mic = echo_of(played, room(7))
        left = left_of(KalmanCanceller(tail_ms=200, frames=80, rate_hz=RATE_HZ), mic, played)
        begins_s = len(sound) / RATE_HZ
        assert least_db < taken_db(mic, left, begins_s, begins_s + 1) < most_db


def test_a_chime_without_words_is_the_opening_and_with_words_is_not() -> None:
    for text, expected in (("", opening()), ("Dinner is ready.", chime())):
        reports: list[Spoken | SpeakFailed] = []
        queue = SpeechQueue([FakeVoice()], reports.append)
        queue.push(Speak(1, 0, text, chime=True), 0.0)
        pieces = queue.pop_slots(1, 1000, 0.0)
        sound = np.concatenate([piece.samples for piece in pieces])
        np.testing.assert_array_equal(sound[: len(expected)], expected)

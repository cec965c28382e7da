"""The sounds before an announcement: chime, bell, sweep and the owner's recording."""

from __future__ import annotations

import numpy as np

from appliance.errors import VoiceError
from appliance.messages.speech import EndAnswer, Speak, SpeakFailed, Spoken
from appliance.pcm import RATE_HZ
from appliance.voice.chime import (
    SWEEP_PEAK,
    SWEEP_S,
    chime,
    opening,
    ring,
    sound_before,
    sweep,
)
from appliance.voice.speech_queue import SpeechQueue
from tests.voice.fakes import FakeVoice

DINNER = Speak(1, 0, "Dinner is ready.", chime=True)


def speak(
    *voices: FakeVoice, order: Speak = DINNER
) -> tuple[np.ndarray, list[Spoken | SpeakFailed]]:
    reports: list[Spoken | SpeakFailed] = []
    queue = SpeechQueue(list(voices), reports.append)
    queue.push(order, 0.0)
    queue.push(EndAnswer(1), 0.0)
    pieces = queue.pop_slots(1, 1000, 0.0)
    return np.concatenate([piece.samples for piece in pieces]), reports


def test_the_chime_is_short_and_soft_and_does_not_click() -> None:
    sound = chime()
    assert 0.3 * RATE_HZ < len(sound) < RATE_HZ
    assert 2000 < np.abs(sound).max() < 8000
    assert max(np.abs(np.diff(sound.astype(int)))) < 1500
    assert abs(int(sound[0])) < 50
    assert not sound[-500:].any()


def test_an_announcement_is_the_chime_and_then_the_words() -> None:
    voice = FakeVoice()
    sound, reports = speak(voice)
    np.testing.assert_array_equal(sound[: len(chime())], chime())
    np.testing.assert_array_equal(sound[len(chime()) :], voice.sound(0))
    assert reports == [Spoken(1, 0, 0, len(chime()) + voice.frames, 0.0, voice="fake")]


def test_a_voice_that_fails_after_the_chime_is_replaced() -> None:
    broken, other = FakeVoice("broken"), FakeVoice("other")
    broken.script.append([VoiceError("It broke.")])
    sound, _ = speak(broken, other)
    np.testing.assert_array_equal(sound[len(chime()) :], other.sound(0))


def test_an_answer_has_no_chime() -> None:
    queue = SpeechQueue([FakeVoice()], lambda _: None)
    queue.push(Speak(1, 0, "Hello."), 0.0)
    assert sum(len(piece.samples) for piece in queue.pop_slots(1, 1000, 0.0)) == 1000


def test_a_ringing_timer_is_the_bell_and_then_the_words() -> None:
    voice = FakeVoice()
    sound, _ = speak(voice, order=Speak(1, 0, "Your timer is done.", ring=True))
    np.testing.assert_array_equal(sound[: len(ring())], ring())
    np.testing.assert_array_equal(sound[len(ring()) :], voice.sound(0))


def test_the_bell_is_louder_than_the_chime_and_ends_without_a_click() -> None:
    sound = ring().astype(float)
    assert 1.0 < len(sound) / 16_000 < 2.5
    assert np.abs(sound).max() > 1.5 * np.abs(chime()).max()
    assert np.abs(np.diff(sound)).max() < 0.6 * np.abs(sound).max()
    assert abs(sound[0]) < 100
    assert not sound[-1000:].any()


def test_the_sweep_rises_over_the_whole_band_at_a_constant_level() -> None:
    sound = sweep().astype(float)
    assert abs(sound[0]) < 4
    assert abs(sound[-1]) < 40
    assert np.abs(sound).max() <= SWEEP_PEAK * 32_768
    pitch_hz, rms = [], []
    for at in np.linspace(0.2, SWEEP_S - 0.3, 8):
        piece = sound[int(at * RATE_HZ) :][:1600]
        rms.append(np.sqrt(np.mean(piece**2)))
        spectrum = np.abs(np.fft.rfft(piece * np.hanning(1600)))
        pitch_hz.append(np.argmax(spectrum) * RATE_HZ / 1600)
    assert pitch_hz == sorted(pitch_hz)
    assert pitch_hz[0] < 200
    assert pitch_hz[-1] > 5000
    assert max(rms) / min(rms) < 1.1


def test_an_order_is_preceded_by_the_sound_that_it_names() -> None:
    for order, sound in (
        (Speak(1, 0, "", sound="sweep"), sweep()),
        (Speak(1, 0, "Tea.", chime=True), chime()),
        (Speak(1, 0, "Tea.", ring=True), ring()),
        (Speak(1, 0, "", chime=True), opening()),
        (Speak(1, 0, "Tea.", sound="opening"), opening()),
    ):
        np.testing.assert_array_equal(sound_before(order, lambda: chime()[:5]), sound)


def test_an_order_can_play_the_owners_recording() -> None:
    order, recording = Speak(1, 0, "", sound="recording"), np.arange(1, 900, dtype=np.int16)
    reports: list[Spoken | SpeakFailed] = []
    queue = SpeechQueue([FakeVoice()], reports.append)
    queue.recording = lambda: recording
    queue.push(order, 0.0)
    queue.push(EndAnswer(1), 0.0)
    sound = np.concatenate([piece.samples for piece in queue.pop_slots(1, 100, 0.0)])
    np.testing.assert_array_equal(sound, recording)
    assert reports == [Spoken(1, 0, 0, len(recording), 0.0)]

"""The voice-band detector tells a word from the clatter of a kitchen."""

from __future__ import annotations

import numpy as np

from appliance.hear.onset.voice_band import VoiceBandDetector
from appliance.pcm import RATE_HZ
from tests.hear.arena import Wave, at_level, say

FRAMES = 80


def dish(seed: int, level: float = 0.05) -> Wave:
    """200 ms of ringing above the voice's band."""
    rng = np.random.default_rng(seed)
    t = np.arange(RATE_HZ // 5) / RATE_HZ
    ring = sum(np.sin(2 * np.pi * rng.uniform(3000, 7000) * t) for _ in range(5))
    return np.asarray(level * ring * np.exp(-t / 0.03) * np.minimum(t / 0.003, 1))


def kitchen(seconds: int, seed: int) -> Wave:
    rng = np.random.default_rng(seed)
    sound = rng.normal(0, 1e-3, seconds * RATE_HZ)
    for second in range(seconds):
        at = second * RATE_HZ + int(rng.integers(0, RATE_HZ // 2))
        ring = dish(seed + second)
        sound[at : at + len(ring)] += ring
    return sound


def detected(voice_band: VoiceBandDetector, sound: Wave) -> list[bool]:
    return [
        voice_band.process(sound[at : at + FRAMES], 0.0, followed=False)
        for at in range(0, len(sound) - FRAMES + 1, FRAMES)
    ]


def test_dishes_are_not_a_voice() -> None:
    voice_band = VoiceBandDetector(FRAMES)
    detected(voice_band, kitchen(10, 1))
    assert not any(detected(voice_band, kitchen(10, 50)))


def test_a_word_among_the_dishes_is_detected_without_the_network() -> None:
    voice_band = VoiceBandDetector(FRAMES)
    detected(voice_band, kitchen(10, 1))
    word = at_level(say("right", "en-gb+f3"), -26)
    sound = kitchen(2, 50)
    sound[RATE_HZ : RATE_HZ + len(word)] += word
    heard = detected(voice_band, sound)
    assert not any(heard[: RATE_HZ // FRAMES])
    assert any(heard[RATE_HZ // FRAMES : (RATE_HZ + len(word)) // FRAMES])


def test_frequent_words_do_not_become_background() -> None:
    voice_band = VoiceBandDetector(FRAMES)
    word = at_level(say("right", "en-gb+f3"), -26)
    sound = kitchen(30, 1)
    for at in range(0, len(sound) - len(word), 2 * RATE_HZ):
        sound[at : at + len(word)] += word
    detected(voice_band, sound)
    assert any(detected(voice_band, word))


def test_a_high_speech_probability_is_enough() -> None:
    voice_band = VoiceBandDetector(FRAMES)
    assert not voice_band.process(np.zeros(FRAMES), 0.5, followed=False)
    assert voice_band.process(np.zeros(FRAMES), 0.8, followed=False)


def test_15_ms_are_a_click_unless_the_sound_lasts_or_is_loud() -> None:
    rng = np.random.default_rng(3)
    for level, blocks, expected in ((0.005, 3, False), (0.005, 20, True), (0.1, 3, True)):
        voice_band = VoiceBandDetector(FRAMES)
        detected(voice_band, rng.normal(0, 1e-3, 5 * RATE_HZ))
        assert any(detected(voice_band, rng.normal(0, level, blocks * FRAMES))) == expected


def test_one_block_is_a_click_however_loud() -> None:
    voice_band = VoiceBandDetector(FRAMES)
    rng = np.random.default_rng(3)
    detected(voice_band, rng.normal(0, 1e-3, 5 * RATE_HZ))
    assert not voice_band.process(rng.normal(0, 0.1, FRAMES), 0.0, followed=False)

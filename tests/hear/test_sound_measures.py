"""The levels of a recording show each fault separately, and its playback is audible."""

from __future__ import annotations

import numpy as np
import pytest

from appliance.hear.sound_measures import made_audible, measure, play_gain_db
from appliance.pcm import RATE_HZ, Samples, from_float


def recording(
    speech: float = 0.1, noise: float = 0.001, offset: float = 0.0, seconds: float = 3.0
) -> Samples:
    """Bursts of a tone of amplitude `speech` for half of the time, over noise, and an offset."""
    time_s = np.arange(round(seconds * RATE_HZ)) / RATE_HZ
    wave = noise * np.random.default_rng(1).standard_normal(len(time_s)) + offset
    wave += speech * np.sin(2 * np.pi * 300 * time_s) * (time_s % 0.6 < 0.3)
    return from_float(wave)


def test_speech_and_the_noise_between_words_are_measured_separately() -> None:
    found = measure(recording())
    assert found.speech_db == pytest.approx(-23, abs=0.5)
    assert found.noise_db == pytest.approx(-60, abs=1)
    assert found.peak_db == pytest.approx(-20, abs=0.5)
    assert found.clipped == 0
    assert found.offset_db < -60


def test_an_offset_is_measured_and_does_not_count_as_sound() -> None:
    found = measure(recording(speech=0.0, offset=0.1))
    assert found.offset_db == pytest.approx(-20, abs=0.1)
    assert found.speech_db < -55


def test_clipped_samples_are_counted() -> None:
    found = measure(recording(speech=1.5))
    assert found.clipped > 1000
    assert found.peak_db == pytest.approx(0, abs=0.1)


def test_zeros_have_finite_levels() -> None:
    found = measure(np.zeros(48_000, np.int16))
    assert found[:4] == pytest.approx((-100, -100, -100, -100), abs=0.1)


@pytest.mark.parametrize(("speech", "peak"), [(0.01, 0.05), (0.1, 0.1), (0.9, 1.0)])
def test_playback_is_normalised_to_the_voices_level_and_never_clips(
    speech: float, peak: float
) -> None:
    sound = recording(speech)
    sound[100] = round(32_767 * peak)
    played = made_audible(sound, play_gain_db(measure(sound)))
    assert np.abs(played.astype(int)).max() <= 32_767 * 10 ** (-3 / 20) + 2
    assert measure(played).speech_db == pytest.approx(-20, abs=4.5)


def test_the_gain_for_a_recording_of_noise_is_limited() -> None:
    assert play_gain_db(measure(recording(speech=0.0, noise=1e-4))) == 30.0


def test_playback_starts_and_ends_without_a_click_or_an_offset() -> None:
    played = made_audible(recording(offset=0.3), 0.0)
    assert abs(int(played[0])) < 5
    assert abs(int(played[-1])) < 5
    assert abs(played.mean()) < 50

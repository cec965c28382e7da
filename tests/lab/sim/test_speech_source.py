"""The owner's sounds: onset and end, level, and errors of the synthesis."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import soundfile
from hypothesis import given
from hypothesis import strategies as st

from appliance.errors import SceneError
from appliance.pcm import RATE_HZ
from lab.sim.speech_source import HUM, at_level, edges, recorded, scaled, spoken


def tone(before: int, frames: int, after: int) -> np.ndarray:
    """A tone at half full scale between two silences."""
    sound = 0.5 * np.sign(np.sin(np.arange(frames) * 0.3 + 0.1))
    return np.concatenate([np.zeros(before), sound, np.zeros(after)]).astype(np.float32)


@given(st.integers(0, 500), st.integers(1, 500), st.integers(0, 500))
def test_a_sound_begins_and_ends_with_its_first_and_last_loud_sample(
    before: int, frames: int, after: int
) -> None:
    assert edges(tone(before, frames, after)) == (before, before + frames)


def test_samples_40_db_below_the_peak_are_outside_the_sound() -> None:
    wave = tone(100, 200, 100)
    wave[:50] = 0.5 * 10 ** (-45 / 20)
    wave[-50:] = 0.5 * 10 ** (-35 / 20)
    assert edges(wave) == (100, len(wave))


@pytest.mark.parametrize("level_db", [-60.0, -26.0, -10.0])
def test_the_level_is_measured_without_the_silences(level_db: float) -> None:
    sound = at_level(tone(4000, 8000, 12_000), level_db)
    body = sound.samples[sound.onset : sound.end] / 32768
    assert 20 * np.log10(np.sqrt(np.mean(body**2))) == pytest.approx(level_db, abs=0.3)
    assert (sound.onset, sound.end) == (4000, 12_000)


def test_silence_stays_silent_and_loud_sound_is_clipped() -> None:
    assert not scaled(np.zeros(100, np.float32), 0, 100, -26.0).any()
    loud = at_level(tone(0, 1000, 0), 20.0)
    assert np.abs(loud.samples.astype(int)).max() in (32767, 32768)


def test_a_recording_keeps_its_own_level_unless_it_is_given_one(tmp_path: Path) -> None:
    path = tmp_path / "x.wav"
    soundfile.write(path, tone(1000, 4000, 1000), RATE_HZ, "FLOAT")
    as_it_is = recorded(path)
    assert np.abs(as_it_is.samples.astype(int)).max() == pytest.approx(16_384, abs=2)
    softer = recorded(path, -40.0)
    assert np.abs(softer.samples.astype(int)).max() == pytest.approx(328, abs=3)


def test_words_are_synthesised_at_our_rate_and_at_the_requested_speed() -> None:
    slow, fast = (spoken("tell me about the moon", "en-gb", speed, 50) for speed in (120, 190))
    assert 0.5 < len(fast) / RATE_HZ < len(slow) / RATE_HZ < 4.0
    assert np.abs(slow).max() > 0.1


@pytest.mark.parametrize(
    ("text", "hummed"),
    [("mm-hm", True), ("Mhm, yes", True), ("MM-HMM", True), ("rhythm", False), ("hm", False)],
)
def test_a_hum_is_distinguished_from_words_with_its_letters(text: str, hummed: bool) -> None:
    assert bool(HUM.search(text)) == hummed


def test_an_unknown_voice_is_a_scene_error() -> None:
    with pytest.raises(SceneError, match="espeak-ng cannot say 'hello' as 'xx-nobody'"):
        spoken("hello", "xx-nobody", 160, 50)

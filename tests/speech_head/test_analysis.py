"""The codec's analysis of sound: pitch, level and share of noise."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests import skips

torch = pytest.importorskip("torch", reason=skips.TRAINING)
pytest.importorskip("scipy", reason=skips.TRAINING)
pytestmark = pytest.mark.process  # takes seconds of CPU time

RATE, HOP = 24_000, 240
TEXT = "The sun rises in the east and sets behind the old town."


def harmonics(hz: Any, amplitude: float = 0.02) -> Any:
    """All harmonics below 8 kHz of a pitch given for each sample."""
    turns = 2 * np.pi * np.cumsum(hz) / RATE
    count = int(8000 / hz.max())
    return amplitude * sum(np.cos(k * turns) for k in range(1, count + 1))


def white(seconds: float, rms: float) -> Any:
    return np.random.default_rng(0).normal(0, rms, int(seconds * RATE))


def inner(found: Any) -> Any:
    """The hops away from the borders."""
    return found[20:-20]


@pytest.mark.parametrize("hz", [95.0, 140.0, 210.0, 330.0])
def test_a_steady_pitch_is_measured(hz: float) -> None:
    from training.speech_head.pitch import pitch

    sound = harmonics(np.full(RATE, hz))
    assert inner(pitch(sound.astype(np.float32))) == pytest.approx(hz, rel=0.005)


def test_a_changing_pitch_is_followed() -> None:
    from training.speech_head.pitch import pitch

    true = np.geomspace(150, 300, 2 * RATE)
    found = inner(pitch(harmonics(true).astype(np.float32)))
    assert np.abs(np.log2(found / inner(true[::HOP]))).max() < 0.03


@pytest.mark.parametrize("sound", ["noise", "silence"])
def test_noise_and_silence_have_no_pitch(sound: str) -> None:
    from training.speech_head.pitch import pitch

    x = white(1.0, 0.05) if sound == "noise" else np.zeros(RATE)
    assert (pitch(x.astype(np.float32)) > 0).mean() < 0.03


def test_the_level_of_noise_is_its_power_per_hertz() -> None:
    from training.speech_head.analysis import parameters

    found = inner(parameters(white(3.0, 0.05).astype(np.float32)))
    level = 0.5 * np.log(np.exp(2 * found[:, 2:66]).mean(0))  # mean power
    assert level[4:60] == pytest.approx(0.5 * np.log(0.05**2 / (RATE / 2)), abs=0.15)


@pytest.mark.parametrize("hz", [120.0, 220.0])
def test_the_level_of_harmonics_does_not_depend_on_their_pitch(hz: float) -> None:
    from training.speech_head.analysis import parameters
    from training.speech_head.bands import centres

    # Harmonics of amplitude a every hz hertz have a power of a² / 2 / hz per hertz.
    sound = harmonics(np.full(2 * RATE, hz), 0.3 * np.sqrt(hz) / 200)
    found = inner(parameters(sound.astype(np.float32)))
    heard = (centres(64) > 1.5 * hz) & (centres(64) < 6500)
    assert found[:, 1].mean() == 1
    expected = 0.5 * np.log((0.3 / 200) ** 2 / 2)
    assert found[:, 2:66][:, heard].mean(0) == pytest.approx(expected, abs=0.1)


@pytest.mark.parametrize("noise_over_harmonics", [0.05, 0.3, 1.0])
def test_the_share_of_noise_is_measured_beside_harmonics(noise_over_harmonics: float) -> None:
    from training.speech_head.analysis import parameters
    from training.speech_head.bands import centres

    hz, amplitude = 200.0, 0.02
    power = amplitude**2 / 2 / hz * noise_over_harmonics
    sound = harmonics(np.full(3 * RATE, hz), amplitude) + white(3.0, np.sqrt(power * RATE / 2))
    found = inner(parameters(sound.astype(np.float32)))[:, 66:]
    heard = (centres(16) > 600) & (centres(16) < 6000)
    assert np.median(found[:, heard]) == pytest.approx(np.log(noise_over_harmonics), abs=0.5)


def test_a_resynthesised_tone_keeps_its_pitch_level_and_noise() -> None:
    """Synthesise with the vocoder and analyse the result."""
    from training.speech_head.analysis import parameters
    from training.speech_head.bands import PARAMETERS
    from training.speech_head.vocoder import DELAY, Vocoder

    p = torch.full((300, PARAMETERS), -9.0)
    p[:, 0], p[:, 1], p[:, 66:] = np.log2(180 / 200), 1.0, -1.5
    p[:, 2:40] += torch.linspace(1.0, 0.0, 38)
    with torch.no_grad():
        sound, _ = Vocoder()(p, Vocoder().start())
    found = inner(parameters(sound.numpy()[DELAY:]))
    assert found[:, 1].mean() > 0.98
    assert np.median(found[:, 0]) == pytest.approx(float(p[0, 0]), abs=0.01)
    off = np.median(found[:, 7:50], 0) - p[0, 7:50].numpy()
    assert np.abs(off).max() < 0.4
    assert np.median(found[:, 70:76]) == pytest.approx(-1.5, abs=0.6)


def test_the_analysis_of_the_teachers_speech_matches_its_parameters() -> None:
    """Compare the teacher's own pitch and noise with the analysis of its sound."""
    from training.speech_head.analysis import parameters
    from training.speech_head.corpus import sound_of
    from training.speech_head.teacher import Teacher

    said = Teacher().say(TEXT)
    assert said is not None
    known, sound = sound_of([said])
    heard = parameters(sound)
    assert ((known[:, 1] > 0.5) == (heard[:, 1] > 0.5)).mean() > 0.95
    voiced = (known[:, 1] > 0.5) & (heard[:, 1] > 0.5)
    assert voiced.mean() > 0.3
    assert np.abs(known[voiced, 0] - heard[voiced, 0]).mean() < 0.02  # octaves
    loud = known[:, 2:66] > -12.0
    assert np.abs(known[:, 2:66] - heard[:, 2:66])[loud].mean() < 0.35  # nepers

"""The parts of the training pipeline that need no torch: sounds, roles, rendering and metrics."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest

from appliance.hear.bargein.features import WIDTH
from appliance.pcm import RATE_HZ
from lab.sim import corpus, synthetic_phrases
from tests import skips
from training.verdict import hums, metrics, noises, perturb, sounds, voices

CHANCE = 5


def rng() -> np.random.Generator:
    return np.random.default_rng(CHANCE)


def test_no_voice_of_the_benches_is_used_for_training() -> None:
    assert not set(voices.VARIANTS) & set(synthetic_phrases.HELD_OUT)
    assert not any(corpus.held_out(variant) for variant in voices.VARIANTS)


def test_held_out_speakers_have_only_that_role() -> None:
    names = [f"{random.Random(i).getrandbits(32):08x}" for i in range(500)]
    for name in names:
        assert (corpus.role_of(name) == "held-out") == corpus.held_out(name)
    shares = {
        role: sum(corpus.role_of(n) == role for n in names) for role in ("training", "tuning")
    }
    assert shares["training"] > 5 * shares["tuning"] > 0


def test_every_phrase_is_in_one_class_only() -> None:
    table = voices.table()
    said = {kind: {*group["often"], *group["sometimes"]} for kind, group in table.items()}
    assert not said["backchannel"] & said["interruption"]


@pytest.mark.parametrize("make", [hums.hum, noises.noise])
def test_synthetic_sounds_have_a_sane_level_and_length(make: object) -> None:
    assert callable(make)
    for seed in range(40):
        _, wave = make(np.random.default_rng(seed))
        assert np.isfinite(wave).all()
        assert 0.4 < np.abs(wave).max() <= 0.51
        assert 0.03 < len(wave) / RATE_HZ < 3


def test_every_noise_can_be_synthesised() -> None:
    for make in noises.MORE.values():
        wave = make(rng())
        assert np.isfinite(wave).all()
        assert np.abs(wave).max() > 0


def tone(seconds: float = 0.5) -> perturb.Wave:
    time_s = np.arange(int(seconds * RATE_HZ)) / RATE_HZ
    return (0.5 * np.sin(2 * np.pi * 200 * time_s)).astype(np.float32)


def pitch_hz(wave: perturb.Wave) -> float:
    middle = wave[len(wave) // 4 : len(wave) * 3 // 4]
    return float(np.argmax(np.abs(np.fft.rfft(middle, 1 << 16)))) * RATE_HZ / (1 << 16)


def test_a_larger_speaker_has_a_lower_pitch_and_is_slower() -> None:
    larger = perturb.sized(tone(), 1.25)
    assert len(larger) == pytest.approx(1.25 * len(tone()), rel=0.01)
    assert pitch_hz(larger) == pytest.approx(160, rel=0.03)


@pytest.mark.parametrize("factor", [0.75, 1.35])
def test_slower_speech_has_the_same_pitch(factor: float) -> None:
    slower = perturb.stretched(tone(), factor)
    assert len(slower) == pytest.approx(factor * len(tone()), rel=0.06)
    assert pitch_hz(slower) == pytest.approx(200, rel=0.03)


def test_the_temperature_measures_overconfidence() -> None:
    chance = rng()
    kind = chance.integers(0, 3, 4000)
    honest = chance.normal(0, 1, (4000, 3))
    honest[np.arange(4000), kind] += 1.0
    assert metrics.temperature(3 * honest, kind) == pytest.approx(
        3 * metrics.temperature(honest, kind), rel=0.1
    )


def test_balanced_accuracy_counts_rare_classes_equally() -> None:
    kind = np.array([0] * 90 + [1] * 10)
    assert metrics.balanced(np.zeros(100, int), kind) == 0.5


def test_a_confidence_interval_over_few_speakers_is_wide() -> None:
    chance = rng()
    kind = chance.integers(0, 2, 400)
    guess = np.where(chance.random(400) < 0.9, kind, 1 - kind)
    many = metrics.interval(guess, kind, [str(i) for i in range(400)])
    same = np.where(np.arange(400) < 200, kind, 1 - kind)
    few = metrics.interval(same, kind, [str(i // 100) for i in range(400)])
    assert many[1] - many[0] < 0.1 < few[1] - few[0]


@pytest.mark.process
def test_a_rendered_burst_keeps_its_word_and_kind(tmp_path: Path, recordings: Path) -> None:
    """Render one scene through the real listener, save it and load it."""
    from training.verdict import dataset, render

    said = [voices.Said(k, k, "en-us+m2", tone(0.4)) for k in ("backchannel", "interruption")] * 4
    some = sounds.Sounds("training", recordings, None, said)
    heard = render.scene(some, 3, events=4)
    assert heard
    assert {each.kind for each in heard} <= {"backchannel", "interruption", "noise"}
    dataset.keep(tmp_path / "training-000.npz", heard)
    back = dataset.load(tmp_path, "training")
    assert [a["word"] for a in back.about] == [each.word for each in heard]
    assert back.sound.shape[0] == len(back.steps) == len(heard)
    assert WIDTH == 50  # the width that the shipped network was trained with


@pytest.fixture
def recordings() -> Path:
    if not (skips.RECORDINGS_FOLDER / "words").is_dir():
        pytest.skip(skips.RECORDINGS)
    return skips.RECORDINGS_FOLDER

"""The vocoder gives the same sound at once and in stretches."""

from __future__ import annotations

import numpy as np
import pytest
from hibari import dsp

from appliance.voice.hibari.vocoder import HOP, STRETCH_FRAMES, Floats, Spectrum, waveform


def spectrum(frames: int, *, noise: float = -100.0) -> Spectrum:
    """Voiced at 120 Hz except for every tenth frame. `noise`: logarithm of its amplitude."""
    rng = np.random.default_rng(frames)
    size, angle, free, phase = (
        rng.standard_normal((601, frames), dtype=np.float32) for _ in range(4)
    )
    f0_hz = np.where(np.arange(frames) % 10 == 9, 0, 120).astype(np.float32)
    return Spectrum(size - 3, angle, np.full_like(size, noise), free - 5, phase, f0_hz)


def synth_at_once(made: Spectrum) -> Floats:
    sound: Floats = dsp.synth(*made, np.random.default_rng(0))
    return sound


@pytest.mark.parametrize(
    "frames", [3, 4, STRETCH_FRAMES - 1, STRETCH_FRAMES, STRETCH_FRAMES + 1, 5 * STRETCH_FRAMES + 2]
)
def test_the_stretches_equal_the_sentence_made_by_hibari_at_once(frames: int) -> None:
    made = spectrum(frames)
    stretches = list(waveform(made, np.random.default_rng(1)))
    sound = np.concatenate(stretches)
    assert len(sound) == frames * HOP
    np.testing.assert_allclose(sound, synth_at_once(made), atol=2e-6)
    assert all(len(stretch) <= (STRETCH_FRAMES + 2) * HOP for stretch in stretches)


def test_the_sound_is_not_silent_and_depends_on_every_input() -> None:
    made = spectrum(50)
    assert np.abs(synth_at_once(made)).max() > 0.01
    for name in ("harmonic", "angle", "noise", "free", "phase", "f0_hz"):
        other = made._replace(**{name: getattr(made, name) + np.float32(97)})
        changed = np.concatenate(list(waveform(other, np.random.default_rng(1))))
        assert np.abs(changed - synth_at_once(made)).max() > 1e-3, name


def test_the_noise_is_as_loud_as_hibaris() -> None:
    made = spectrum(200, noise=-1.0)._replace(harmonic=np.full((601, 200), -100, np.float32))
    sound = np.concatenate(list(waveform(made, np.random.default_rng(1))))
    assert np.std(sound) == pytest.approx(np.std(synth_at_once(made)), rel=0.02)

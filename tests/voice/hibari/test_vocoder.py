"""The network's numbers become the same sound, whether at once or in stretches."""

from __future__ import annotations

import numpy as np
import pytest
from hibari import dsp

from appliance.voice.hibari.vocoder import HOP, STRETCH_FRAMES, Floats, Spectrum, waveform


def spectrum(frames: int, *, noise: float = -100.0) -> Spectrum:
    """Voiced at 120 Hz, but for every tenth frame. `noise`: logarithm of its size."""
    rng = np.random.default_rng(frames)
    size, angle, free, phase = (
        rng.standard_normal((601, frames), dtype=np.float32) for _ in range(4)
    )
    f0_hz = np.where(np.arange(frames) % 10 == 9, 0, 120).astype(np.float32)
    return Spectrum(size - 3, angle, np.full_like(size, noise), free - 5, phase, f0_hz)


def whole(made: Spectrum) -> Floats:
    sound: Floats = dsp.synth(*made, np.random.default_rng(0))
    return sound


@pytest.mark.parametrize(
    "frames", [3, 4, STRETCH_FRAMES - 1, STRETCH_FRAMES, STRETCH_FRAMES + 1, 5 * STRETCH_FRAMES + 2]
)
def test_stretches_are_the_sentence_as_hibari_makes_it_at_once(frames: int) -> None:
    made = spectrum(frames)
    stretches = list(waveform(made, np.random.default_rng(1)))
    sound = np.concatenate(stretches)
    assert len(sound) == frames * HOP
    np.testing.assert_allclose(sound, whole(made), atol=2e-4)
    assert all(len(each) <= (STRETCH_FRAMES + 2) * HOP for each in stretches)


def test_what_is_compared_is_no_silence_and_depends_on_every_part() -> None:
    made = spectrum(50)
    assert np.abs(whole(made)).max() > 0.01
    for name in ("harmonic", "angle", "noise", "free", "phase", "f0_hz"):
        other = made._replace(**{name: getattr(made, name) + np.float32(97)})
        changed = np.concatenate(list(waveform(other, np.random.default_rng(1))))
        assert np.abs(changed - whole(made)).max() > 1e-3, name


def test_noise_is_as_loud_as_hibaris() -> None:
    made = spectrum(200, noise=-1.0)._replace(harmonic=np.full((601, 200), -100, np.float32))
    sound = np.concatenate(list(waveform(made, np.random.default_rng(1))))
    assert np.std(sound) == pytest.approx(np.std(whole(made)), rel=0.02)

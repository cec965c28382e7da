"""Resampling, trimming and loudness."""

from __future__ import annotations

import numpy as np
import pytest

from appliance.voice.postprocess import (
    LEAD_FRAMES,
    TAIL_FRAMES,
    TARGET_DBFS,
    Floats,
    SpeechPostprocessor,
    gain_for,
    rms_dbfs,
)


def tone(rate_hz: int, seconds: float, level: float = 0.2) -> Floats:
    time = np.arange(int(rate_hz * seconds)) / rate_hz
    return (level * np.sin(2 * np.pi * 440 * time)).astype(np.float32)


def silence(rate_hz: int, seconds: float) -> Floats:
    return np.zeros(int(rate_hz * seconds), np.float32)


def shape_in_blocks(sound: Floats, rate_hz: int, block: int, gain: float = 1.0) -> np.ndarray:
    shaper = SpeechPostprocessor(rate_hz)
    out = [shaper.process(sound[i : i + block], gain) for i in range(0, len(sound), block)]
    return np.concatenate([*out, shaper.process(sound[:0], gain, last=True)])


@pytest.mark.parametrize("rate_hz", [16000, 22050, 24000])
def test_leading_and_trailing_silence_is_trimmed_to_a_margin(rate_hz: int) -> None:
    sound = np.concatenate([silence(rate_hz, 0.3), tone(rate_hz, 0.5), silence(rate_hz, 0.4)])
    out = shape_in_blocks(sound, rate_hz, 441)
    assert 8000 < len(out) <= 8000 + LEAD_FRAMES + TAIL_FRAMES + 160
    loud = np.flatnonzero(np.abs(out.astype(int)) > 500)
    assert loud[0] <= 0.020 * 16000


def test_silence_within_a_sentence_is_kept() -> None:
    sound = np.concatenate([tone(16000, 0.2), silence(16000, 0.35), tone(16000, 0.2)])
    out = shape_in_blocks(sound, 16000, 320)
    assert abs(len(out) - len(sound)) <= 8  # the zero crossings at both ends are quiet


def test_silence_alone_gives_no_samples() -> None:
    assert len(shape_in_blocks(silence(22050, 1.0), 22050, 441)) == 0


@pytest.mark.parametrize("block", [1, 97, 441, 100_000])
def test_the_size_of_the_pieces_does_not_change_the_sound(block: int) -> None:
    sound = np.concatenate([silence(22050, 0.05), tone(22050, 0.1), silence(22050, 0.05)])
    whole = shape_in_blocks(sound, 22050, len(sound))
    np.testing.assert_allclose(shape_in_blocks(sound, 22050, block), whole, atol=1)


def test_a_gain_brings_a_sound_to_the_target() -> None:
    sound = tone(16000, 0.5, level=0.01)
    out = shape_in_blocks(sound, 16000, 320, gain_for(rms_dbfs(sound, 16000)))
    assert rms_dbfs(out, 16000) == pytest.approx(TARGET_DBFS, abs=0.3)


def test_peaks_are_compressed_and_never_wrap_around() -> None:
    sound = tone(16000, 0.2, level=1.0)[1:]
    out = shape_in_blocks(sound, 16000, 320, gain=8.0)
    np.testing.assert_array_equal(np.sign(out), np.sign(np.rint(sound[: len(out)] * 1000)))


def test_silence_needs_no_gain() -> None:
    assert gain_for(rms_dbfs(silence(16000, 0.1), 16000)) == 1.0
    assert gain_for(rms_dbfs(silence(16000, 0.0), 16000)) == 1.0

"""Rate conversion, channels and blocks preserve the samples with the documented delay."""

from __future__ import annotations

import numpy as np
import pytest

from appliance.audio.sample_format import (
    FILTER_DELAY,
    Blocks,
    Decimator,
    Interpolator,
    all_channels,
    conversion_delay,
    fade_in,
    one_channel,
)
from appliance.pcm import Samples
from tests.audio.rig import noise

FACTORS = [2, 3, 6]


def tone(hz: float, rate_hz: int, seconds: float = 0.5, level: float = 10_000) -> Samples:
    return np.rint(
        level * np.sin(2 * np.pi * hz * np.arange(int(rate_hz * seconds)) / rate_hz)
    ).astype(np.int16)


def level_db(samples: Samples, of: float = 10_000) -> float:
    middle = samples[len(samples) // 4 : -len(samples) // 4].astype(np.float64)
    return float(20 * np.log10(np.sqrt(2 * np.mean(middle**2)) / of + 1e-9))


def in_blocks(convert: Decimator | Interpolator, samples: Samples, size: int) -> Samples:
    parts = [convert(samples[at : at + size]) for at in range(0, len(samples), size)]
    return np.concatenate(parts)


def test_at_16_khz_samples_are_unchanged() -> None:
    samples = noise(80)
    assert Decimator(1)(samples) is samples
    assert Interpolator(1)(samples) is samples
    assert conversion_delay(1) == 0


@pytest.mark.parametrize("factor", FACTORS)
@pytest.mark.parametrize("hz", [200, 1000, 4000, 6500])
def test_speech_frequencies_pass_both_conversions_within_half_a_decibel(
    factor: int, hz: float
) -> None:
    down = Decimator(factor)(tone(hz, 16_000 * factor))
    up = Interpolator(factor)(tone(hz, 16_000))
    assert level_db(down) == pytest.approx(0, abs=0.5)
    assert level_db(up) == pytest.approx(0, abs=0.5)


@pytest.mark.parametrize("factor", FACTORS)
def test_frequencies_above_8_khz_are_attenuated_by_55_db(factor: int) -> None:
    assert level_db(Decimator(factor)(tone(8_600, 16_000 * factor))) < -55


@pytest.mark.parametrize("factor", FACTORS)
def test_interpolation_adds_no_images(factor: int) -> None:
    up = Interpolator(factor)(tone(6_000, 16_000)).astype(np.float64)
    spectrum = np.abs(np.fft.rfft(up * np.hanning(len(up))))
    hz = np.fft.rfftfreq(len(up), 1 / (16_000 * factor))
    images = spectrum[hz > 8_600].max()
    assert 20 * np.log10(images / spectrum.max()) < -55


@pytest.mark.parametrize("factor", FACTORS)
def test_the_conversion_delay_is_exact_to_the_sample(factor: int) -> None:
    click = np.zeros(320, np.int16)
    click[100] = 20_000
    up = Interpolator(factor)(click)
    assert int(np.argmax(np.abs(up))) == (100 + FILTER_DELAY) * factor
    wide = np.zeros(320 * factor, np.int16)
    wide[100 * factor] = 20_000
    assert int(np.argmax(np.abs(Decimator(factor)(wide)))) == 100 + FILTER_DELAY


@pytest.mark.parametrize("factor", FACTORS)
def test_blocks_join_without_a_seam(factor: int) -> None:
    samples = noise(80 * factor * 10)
    assert np.array_equal(
        in_blocks(Decimator(factor), samples, 80 * factor), Decimator(factor)(samples)
    )
    assert np.array_equal(
        in_blocks(Interpolator(factor), samples, 80), Interpolator(factor)(samples)
    )


def test_full_scale_is_clipped_and_does_not_wrap() -> None:
    square = np.where(np.arange(960) // 60 % 2, 32767, -32768).astype(np.int16)
    down = Decimator(3)(square).astype(np.int32)
    middle_of_a_high = down[FILTER_DELAY + 20 + 10]  # input 60 … 119 is high
    assert middle_of_a_high > 30_000


def test_the_left_channel_is_captured_and_both_are_played() -> None:
    left, right = noise(80, seed=1), noise(80, seed=2)
    frames = np.stack((left, right), axis=1).reshape(-1)
    assert np.array_equal(one_channel(frames, 2), left)
    assert np.array_equal(one_channel(left, 1), left)
    assert np.array_equal(all_channels(left, 2)[::2], left)
    assert np.array_equal(all_channels(left, 2)[1::2], left)


def test_blocks_have_their_full_size_for_any_delivered_size() -> None:
    samples, blocks = noise(1000), Blocks(80)
    out: list[Samples] = []
    at = 0
    for size in (1, 79, 80, 81, 300, 0, 459):
        out.extend(blocks(samples[at : at + size]))
        at += size
    assert {len(block) for block in out} == {80}
    assert np.array_equal(np.concatenate(out), samples[:960])


def test_a_fade_rises_from_0_to_1_without_a_step() -> None:
    fade = fade_in(32)
    assert fade[0] < 0.001
    assert fade[-1] > 0.999
    assert np.diff(fade).max() < np.pi / 2 / 32 + 1e-3

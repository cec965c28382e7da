"""Sample conversion, levels, and a buffer that returns zeros for unknown samples."""

from __future__ import annotations

import ast
from pathlib import Path

import numpy as np
import pytest

from appliance import pcm
from appliance.pcm import (
    BLOCK_FRAMES,
    RATE_HZ,
    SampleBuffer,
    Samples,
    from_float,
    level_db,
    to_float,
    to_int16,
)


def ramp(first: int, frames: int) -> Samples:
    return (np.arange(first, first + frames) % 30_000 + 1).astype(np.int16)


def test_samples_are_read_back_across_the_wrap() -> None:
    buffer = SampleBuffer(1000)
    for first in range(0, 5000, 80):
        buffer.write(first, ramp(first, 80))
    assert np.array_equal(buffer.read(4100, 900), ramp(4100, 900))


def test_overwritten_and_future_samples_read_as_zeros() -> None:
    buffer = SampleBuffer(1000)
    buffer.write(0, ramp(0, 1000))
    buffer.write(1000, ramp(1000, 80))
    assert np.array_equal(buffer.read(40, 80), np.append(np.zeros(40), ramp(80, 40)))
    assert np.array_equal(buffer.read(1040, 80), np.append(ramp(1040, 40), np.zeros(40)))


def test_a_gap_reads_as_zeros_and_not_as_older_samples() -> None:
    buffer = SampleBuffer(1000)
    for first in range(0, 2000, 80):
        buffer.write(first, ramp(first, 80))
    buffer.write(2400, ramp(2400, 80))
    assert not buffer.read(2000, 400).any()
    assert np.array_equal(buffer.read(2400, 80), ramp(2400, 80))


def test_a_jump_back_or_far_ahead_clears_the_buffer() -> None:
    buffer = SampleBuffer(1000)
    buffer.write(50_000, ramp(50_000, 80))
    buffer.write(0, ramp(0, 80))
    assert np.array_equal(buffer.read(0, 80), ramp(0, 80))
    buffer.write(10**9, ramp(0, 80))
    assert not buffer.read(10**9 - 500, 500).any()
    assert np.array_equal(buffer.read(10**9, 80), ramp(0, 80))


@pytest.mark.parametrize(
    ("value", "sample"), [(0.5, 0), (1.5, 2), (-2.6, -3), (40_000.0, 32_767), (-40_000.0, -32_768)]
)
def test_samples_are_rounded_and_clipped(value: float, sample: int) -> None:
    assert to_int16(np.array([value])).tolist() == [sample]
    assert to_int16(np.array([value], np.float32)).dtype == np.int16


def test_full_scale_is_one() -> None:
    assert from_float(np.array([0.5, -1.0, 1.0])).tolist() == [16_384, -32_768, 32_767]


def test_conversion_to_float_and_back_is_lossless() -> None:
    samples = np.array([-32_768, -1, 0, 1, 32_767], np.int16)
    assert to_float(samples).dtype == np.float32
    assert from_float(to_float(samples)).tolist() == samples.tolist()


def test_a_block_is_five_milliseconds() -> None:
    assert 1000 * BLOCK_FRAMES == 5 * RATE_HZ


def test_the_module_imports_only_sound_format_of_the_product() -> None:
    tree = ast.parse(Path(pcm.__file__).read_text())
    names = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    ours = [name for name in names if name and name.startswith("appliance")]
    assert ours == ["appliance.sound_format"]


def test_the_level_of_a_sound_is_its_mean_power_in_db_of_full_scale() -> None:
    sine = np.sin(np.arange(16_000) * 0.3)
    assert level_db(np.ones(80)) == pytest.approx(0.0, abs=1e-6)
    assert level_db(sine) == pytest.approx(-3.01, abs=0.01)
    assert level_db(sine * 0.01) == pytest.approx(-43.01, abs=0.01)
    assert level_db(to_float(from_float(sine))) == pytest.approx(-3.01, abs=0.01)


@pytest.mark.parametrize(("least", "silent_db"), [(1e-10, -100.0), (1e-12, -120.0)])
def test_silence_and_an_empty_array_have_a_level(least: float, silent_db: float) -> None:
    assert level_db(np.zeros(80), least) == pytest.approx(silent_db)
    assert level_db(np.zeros(0), least) == pytest.approx(silent_db)

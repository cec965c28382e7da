"""The estimate converges to the echo path window by window, and its copies are independent."""

from __future__ import annotations

import math

import numpy as np
import pytest

from appliance.hear.aec.path_estimate import (
    EchoPathEstimate,
    Floats,
    back,
    forward,
    power_of,
    unexplained,
)

LENGTH = 256
PATH = np.zeros(LENGTH, np.float32)
PATH[[3, 40, 100]] = 0.5, -0.3, 0.1


def windows(count: int, seed: int = 0) -> list[tuple[Floats, Floats]]:
    """The samples played in each window, and their echo through PATH."""
    played = np.random.default_rng(seed).normal(0, 0.1, (count + 1) * LENGTH).astype(np.float32)
    echo = np.convolve(played, PATH)[: len(played)].astype(np.float32)
    ends = range(2 * LENGTH, len(played) + 1, LENGTH)
    return [(played[end - 2 * LENGTH : end], echo[end - LENGTH : end]) for end in ends]


def learn(estimate: EchoPathEstimate, count: int = 60, seed: int = 0) -> Floats:
    """Feed `count` windows to the estimate. Returns the residual of the last one."""
    left = np.zeros(LENGTH, np.float32)
    for played, echo in windows(count, seed):
        far = forward(played)
        left = estimate.update(far, power_of(far), echo, shared=1.0)
    return left


def error_db(estimate: EchoPathEstimate) -> float:
    wrong = float(np.sum((estimate.taps - PATH) ** 2))
    return 10 * math.log10(wrong / float(np.sum(PATH**2)))


def test_the_estimate_converges_to_the_path_and_removes_its_echo() -> None:
    estimate = EchoPathEstimate(LENGTH)
    assert error_db(estimate) == pytest.approx(0.0)
    left = learn(estimate)
    assert error_db(estimate) < -30
    assert np.abs(left).max() < 0.01


def test_a_restored_estimate_works_from_the_first_window() -> None:
    first, again = EchoPathEstimate(LENGTH), EchoPathEstimate(LENGTH)
    learn(first)
    again.restore(first.taps)
    assert np.array_equal(again.taps, first.taps)
    played, echo = windows(1, seed=5)[0]
    assert np.allclose(again.predicted_echo(forward(played)), echo, atol=0.01)


def test_silence_changes_nothing() -> None:
    estimate = EchoPathEstimate(LENGTH)
    learn(estimate)
    before = estimate.taps
    silent = forward(np.zeros(2 * LENGTH, np.float32))
    estimate.update(silent, power_of(silent), np.full(LENGTH, 0.1, np.float32), shared=1.0)
    assert np.allclose(estimate.taps, before)


@pytest.mark.parametrize("how", ["doubted", "scaled"])
def test_a_copy_learns_independently(how: str) -> None:
    estimate = EchoPathEstimate(LENGTH)
    learn(estimate)
    before = estimate.taps
    other = estimate.doubted() if how == "doubted" else estimate.scaled(1.0)
    assert np.array_equal(other.taps, before)
    played, echo = windows(1, seed=7)[0]
    far = forward(played)
    other.update(far, power_of(far), -echo, shared=1.0)
    assert not np.array_equal(other.taps, before)
    assert np.array_equal(estimate.taps, before)


def test_a_doubted_estimate_adapts_to_another_path_sooner() -> None:
    sure = EchoPathEstimate(LENGTH)
    sure.restore(-PATH)
    doubted = sure.doubted()
    for estimate in (sure, doubted):
        learn(estimate, 4)
    assert error_db(doubted) < error_db(sure)


@pytest.mark.parametrize("gain", [0.0, 0.5, 2.0])
def test_scaling_the_estimate_scales_the_predicted_echo(gain: float) -> None:
    estimate = EchoPathEstimate(LENGTH)
    estimate.restore(PATH)
    far = forward(windows(1)[0][0])
    louder = estimate.scaled(gain)
    assert np.allclose(louder.taps, gain * PATH)
    assert np.allclose(louder.predicted_echo(far), gain * estimate.predicted_echo(far), atol=1e-6)


def test_at_clipped_samples_a_louder_echo_explains_the_residual() -> None:
    left = np.array([0.5, -0.5, 0.5, -0.5], np.float32)
    assert np.array_equal(unexplained(left, None), left)
    clipped = np.array([1, 1, -1, 0], np.float32)
    assert unexplained(left, clipped).tolist() == [0.5, 0.0, 0.0, -0.5]


def test_the_fourier_transform_and_its_inverse_keep_single_precision_and_the_sound() -> None:
    sound = windows(1)[0][0]
    spectrum = forward(sound)
    assert (str(spectrum.dtype), str(back(spectrum).dtype)) == ("complex64", "float32")
    assert np.allclose(back(spectrum), sound, atol=1e-6)
    assert str(power_of(spectrum).dtype) == "float32"

"""The matrices of the spectrum compared with numpy's Fourier transform."""

from __future__ import annotations

import numpy as np
import pytest

from appliance.models.encoder_graph.spectrum import (
    BINS,
    FFT_SAMPLES,
    WINDOW_SAMPLES,
    filterbank,
    frame_count,
    windowed_dft,
)


def test_the_matrix_is_a_fourier_transform_of_a_hann_window() -> None:
    frame = np.random.default_rng(0).normal(0, 1, WINDOW_SAMPLES)
    window = np.hanning(WINDOW_SAMPLES + 1)[:-1]
    expected = np.fft.rfft(frame * window, FFT_SAMPLES)
    real, imaginary = np.split(windowed_dft() @ frame, 2)
    assert np.abs(real - expected.real).max() < 1e-4
    assert np.abs(imaginary - expected.imag).max() < 1e-4


@pytest.mark.parametrize("bands", [64, 128])
def test_each_bin_belongs_to_at_most_two_bands_and_the_peaks_of_the_bands_ascend(
    bands: int,
) -> None:
    bank = filterbank(bands)
    assert bank.shape == (bands, BINS)
    assert ((bank >= 0) & (bank <= 1)).all()
    assert np.count_nonzero(bank, axis=0).max() <= 2
    peaks = bank.argmax(axis=1)[bank.max(axis=1) > 0]
    assert (np.diff(peaks) >= 0).all()
    assert peaks[-1] > BINS * 0.9


@pytest.mark.parametrize(
    ("samples", "frames"),
    [(0, 0), (1, 0), (2, 1), (320, 1), (321, 2), (481, 3), (640, 3), (641, 4), (16_000, 99)],
)
def test_a_frame_is_complete_one_sample_after_its_end(samples: int, frames: int) -> None:
    assert frame_count(samples) == frames

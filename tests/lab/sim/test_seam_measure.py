"""The seam measurement counts the samples that a pause lost or repeated."""

from __future__ import annotations

import numpy as np
import pytest

from appliance.pcm import Samples
from lab.sim.seam_measure import measure_seam

RNG = np.random.default_rng(5)
TONES = np.sin(np.cumsum(RNG.uniform(0.05, 0.4, 60_000)))
ANSWER: Samples = (6000 * TONES * (1 + 0.5 * RNG.standard_normal(60_000))).astype(np.int16)
PAUSED, SILENCE = 20_000, 8_000


def paused_track(skip: int = 0) -> Samples:
    """The answer from index 0, silent from PAUSED on; it resumes with `skip` samples missing."""
    silence = np.zeros(SILENCE, np.int16)
    return np.concatenate([ANSWER[:PAUSED], silence, ANSWER[PAUSED + skip :]])


@pytest.mark.parametrize(("skip", "lost", "repeated"), [(0, 0, 0), (1, 1, 0), (80, 80, 0),
                                                        (-1, 0, 1), (-240, 0, 240)])  # fmt: skip
def test_lost_and_repeated_samples_are_counted(skip: int, lost: int, repeated: int) -> None:
    seam = measure_seam(paused_track(skip), ANSWER, PAUSED, PAUSED + SILENCE, PAUSED)
    assert seam is not None
    assert (seam.lost_samples, seam.repeated_samples) == (lost, repeated)


@pytest.mark.parametrize(("off", "lost", "repeated"), [(0, 0, 0), (3, 3, 0), (-5, 0, 5)])
def test_an_announced_repetition_of_a_word_is_neither_lost_nor_repeated(
    off: int, lost: int, repeated: int
) -> None:
    seam = measure_seam(
        paused_track(-7000 + off), ANSWER, PAUSED, PAUSED + SILENCE, PAUSED, again=7000
    )
    assert seam is not None
    assert (seam.lost_samples, seam.repeated_samples) == (lost, repeated)
    assert seam.again_samples == 7000


def test_an_unannounced_repetition_of_a_word_counts_as_repeated() -> None:
    seam = measure_seam(paused_track(-3000), ANSWER, PAUSED, PAUSED + SILENCE, PAUSED)
    assert seam is not None
    assert seam.repeated_samples == 3000


def test_a_wrong_reported_position_does_not_change_the_result() -> None:
    seam = measure_seam(paused_track(), ANSWER, PAUSED, PAUSED + SILENCE, PAUSED + 777)
    assert seam is not None
    assert (seam.lost_samples, seam.repeated_samples) == (0, 0)


def test_a_quieter_loudspeaker_is_still_matched() -> None:
    track = (paused_track() * 0.3).astype(np.int16)
    seam = measure_seam(track, ANSWER, PAUSED, PAUSED + SILENCE, PAUSED)
    assert seam is not None
    assert seam.lost_samples == seam.repeated_samples == 0


def test_a_step_at_the_seam_is_reported() -> None:
    smooth = np.round(3000 * np.sin(np.arange(60_000) * 0.01)).astype(np.int16)
    track = np.concatenate([smooth[:PAUSED], np.zeros(SILENCE, np.int16), smooth[PAUSED:]])
    seam = measure_seam(track, smooth, PAUSED, PAUSED + SILENCE, PAUSED)
    assert seam is not None
    assert seam.max_step >= abs(int(smooth[PAUSED])) > 1000


def test_silence_on_one_side_gives_no_result() -> None:
    track = np.zeros(60_000, np.int16)
    assert measure_seam(track, ANSWER, PAUSED, PAUSED + SILENCE, PAUSED) is None

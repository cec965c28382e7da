"""Synthetic rooms and noises."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from appliance.errors import CardError
from appliance.pcm import FULL_SCALE
from lab.sim import acoustics
from lab.sim.acoustics import impulse_response, noise
from lab.sim.card_memory_layout import MAX_TAPS


def level_db(samples: npt.NDArray[np.float64]) -> float:
    """RMS level in dBFS; 0 dB is an RMS of full scale."""
    return float(20 * np.log10(np.sqrt(np.mean(samples**2)) / FULL_SCALE))


def speech_like(rate_hz: int) -> npt.NDArray[np.float64]:
    """Five seconds of noise with the spectrum and level of a full-scale answer."""
    random = np.random.default_rng(1)
    spectrum = np.fft.rfft(random.standard_normal(5 * rate_hz))
    power = acoustics._speech_power(np.fft.rfftfreq(5 * rate_hz, 1 / rate_hz))
    wave = np.fft.irfft(spectrum * np.sqrt(power), 5 * rate_hz)
    wanted = FULL_SCALE * 10 ** (acoustics.FULL_SCALE_SPEECH_DB / 20)
    scaled: npt.NDArray[np.float64] = wave * (wanted / np.sqrt(np.mean(wave**2)))
    return scaled


@pytest.mark.parametrize("rate_hz", [16000, 48000])
@pytest.mark.parametrize("echo_db", [-20.0, -45.0])
def test_a_full_scale_answer_arrives_with_the_requested_level(rate_hz: int, echo_db: float) -> None:
    for seed in range(3):
        h = impulse_response(0.25, rate_hz=rate_hz, echo_db=echo_db, seed=seed)
        answer = speech_like(rate_hz)
        size = 1 << (len(answer) + len(h)).bit_length()
        echo = np.fft.irfft(np.fft.rfft(answer, size) * np.fft.rfft(h, size), size)
        assert level_db(echo[: len(answer)]) == pytest.approx(echo_db, abs=0.5)


def test_the_reverberation_decays_by_60_db_in_rt60() -> None:
    h = impulse_response(0.4, rate_hz=16000, echo_db=-30, seed=4)
    begin, end = h[100:400], h[-300:]
    fallen_db = 20 * np.log10(np.std(begin) / np.std(end))
    seconds = (len(h) - 400) / 16000
    assert fallen_db == pytest.approx(60 * seconds / 0.4, abs=2)


def test_the_direct_sound_comes_first_and_is_the_loudest() -> None:
    h = impulse_response(0.3, rate_hz=16000, echo_db=-30, seed=2)
    assert np.argmax(np.abs(h)) == 0
    assert h[0] > 0


def test_the_same_seed_gives_the_same_room_and_another_seed_does_not() -> None:
    first = impulse_response(0.2, rate_hz=16000, echo_db=-30, seed=7)
    assert np.array_equal(first, impulse_response(0.2, rate_hz=16000, echo_db=-30, seed=7))
    assert not np.array_equal(first, impulse_response(0.2, rate_hz=16000, echo_db=-30, seed=8))


def test_a_response_too_long_for_the_card_is_faded_out() -> None:
    h = impulse_response(0.5, rate_hz=48000, echo_db=-30, seed=3)
    assert len(h) == MAX_TAPS
    assert h.dtype == np.float32
    assert h[-1] == 0


@pytest.mark.parametrize("rt60_s", [0.0, -0.1, 11.0, float("nan")])
def test_an_impossible_reverberation_is_refused(rt60_s: float) -> None:
    with pytest.raises(CardError, match="reverberation"):
        impulse_response(rt60_s, rate_hz=16000, echo_db=-30)


@pytest.mark.parametrize("kind", acoustics.NOISES)
@pytest.mark.parametrize("wanted_db", [-40.0, -62.0])
def test_a_noise_has_the_requested_level(kind: str, wanted_db: float) -> None:
    samples = noise(kind, 80000, level_db=wanted_db, rate_hz=16000, seed=1)
    assert samples.dtype == np.int16
    assert samples.shape == (80000,)
    assert level_db(samples.astype(np.float64)) == pytest.approx(wanted_db, abs=0.1)


def octave_db(kind: str, low_hz: int) -> float:
    samples = noise(kind, 160000, level_db=-30, rate_hz=16000, seed=5).astype(np.float64)
    power = np.abs(np.fft.rfft(samples)) ** 2
    frequency_hz = np.fft.rfftfreq(160000, 1 / 16000)
    inside = (frequency_hz >= low_hz) & (frequency_hz < 2 * low_hz)
    return float(10 * np.log10(np.mean(power[inside])))


@pytest.mark.parametrize(("kind", "slope_db"), [("white", 0.0), ("pink", -3.0)])
def test_white_is_flat_and_pink_falls_3_db_an_octave(kind: str, slope_db: float) -> None:
    for low_hz in (250, 500, 1000, 2000):
        change = octave_db(kind, 2 * low_hz) - octave_db(kind, low_hz)
        assert change == pytest.approx(slope_db, abs=0.5)


def test_kitchen_noise_has_a_higher_crest_factor_than_pink_noise() -> None:
    def crest_db(kind: str) -> float:
        samples = noise(kind, 160000, level_db=-40, rate_hz=16000, seed=6).astype(np.float64)
        return float(20 * np.log10(np.max(np.abs(samples)) / np.sqrt(np.mean(samples**2))))

    assert crest_db("pink") < 15
    assert crest_db("kitchen") > crest_db("pink") + 2


@pytest.mark.parametrize("kind", acoustics.NOISES)
def test_a_noise_repeats_without_a_seam(kind: str) -> None:
    samples = noise(kind, 48000, level_db=-40, rate_hz=16000, seed=9).astype(np.int64)
    step = abs(samples[0] - samples[-1])
    assert step <= np.max(np.abs(np.diff(samples)))


def test_the_same_seed_gives_the_same_noise() -> None:
    first = noise("kitchen", 8000, level_db=-40, rate_hz=16000, seed=3)
    assert np.array_equal(first, noise("kitchen", 8000, level_db=-40, rate_hz=16000, seed=3))
    assert not np.array_equal(first, noise("kitchen", 8000, level_db=-40, rate_hz=16000, seed=4))


def test_an_unknown_or_empty_noise_is_refused() -> None:
    with pytest.raises(CardError, match="brown"):
        noise("brown", 100, level_db=-40, rate_hz=16000)
    with pytest.raises(CardError, match="at least one frame"):
        noise("white", 0, level_db=-40, rate_hz=16000)

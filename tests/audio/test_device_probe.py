"""Probing a card: levels and clock skew by calculation, and the probe on the software card."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from appliance.audio.card_clock import Pair
from appliance.audio.device_probe import SILENT_DBFS, levels, measure, open_both, skew_ppm, try_card
from appliance.errors import CardError
from appliance.settings import CardSettings, load
from lab.sim.simulated_card import SoundCard
from tests.audio.default_card import default_card

pytestmark = pytest.mark.process


def readings(
    hz: float, seconds: float = 4.0, every_s: float = 0.01, step_s: float = 0.0
) -> list[Pair]:
    """Positions of a card with that true rate, which are updated every `step_s`."""
    times = np.arange(0, seconds, every_s)
    seen = times if not step_s else np.floor(times / step_s) * step_s
    return [(int(at * 1e9), int(when * hz)) for at, when in zip(times, seen, strict=True)]


def test_silence_has_no_level() -> None:
    assert levels(np.zeros(1600, np.int16)) == (SILENT_DBFS, SILENT_DBFS)
    assert levels(np.zeros(0, np.int16)) == (SILENT_DBFS, SILENT_DBFS)


def test_a_sine_of_half_scale_is_9_db_below_full_scale() -> None:
    sine = (16384 * np.sin(np.arange(16000) * 2 * math.pi / 100)).astype(np.int16)
    noise, peak = levels(sine)
    assert noise == pytest.approx(-9.03, abs=0.02)
    assert peak == pytest.approx(-6.02, abs=0.02)


def test_an_offset_does_not_count_as_noise() -> None:
    noise, peak = levels(np.full(1600, 3277, np.int16))
    assert noise == SILENT_DBFS
    assert peak == pytest.approx(-20.0, abs=0.01)


@pytest.mark.parametrize("ppm", [0.0, 30.0, -120.0])
def test_clock_skew_is_measured_to_a_few_ppm(ppm: float) -> None:
    skew, uncertain = skew_ppm(readings(16_000 * (1 + ppm / 1e6)), readings(48_000), 16_000, 48_000)
    assert skew is not None
    assert uncertain is not None
    assert skew == pytest.approx(ppm, abs=8)
    assert uncertain < 10


def test_a_coarse_position_increases_the_uncertainty() -> None:
    skew, uncertain = skew_ppm(
        readings(48_000, every_s=0.0103, step_s=0.001), readings(48_000), 48_000, 48_000
    )
    assert skew is not None
    assert uncertain is not None
    assert abs(skew) < 3 * uncertain + 10


def test_too_few_readings_give_no_skew() -> None:
    few = readings(16_000, seconds=0.1)
    assert skew_ppm(few, readings(16_000), 16_000, 16_000) == (None, None)


# ── on the software sound card ───────────────────────────────────────────────────────────────
@pytest.fixture
def card(simcard_library: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[SoundCard]:
    with default_card(simcard_library, monkeypatch, 48_000, granularity_frames=48) as made:
        yield made


def card_settings(device: str) -> CardSettings:
    settings = load(Path("/dev/null"), {"card": {"capture": device, "playback": device}})
    return settings.card


def test_a_card_is_probed_with_the_boxs_own_settings(card: SoundCard) -> None:
    """The card has a USB card's position steps of a millisecond, and the room is at −40 dBFS."""
    noise = np.random.default_rng(1).normal(0, 327.68, 4 * 48_000).astype(np.int16)
    card.add_sound(card.now() + 4800, noise)
    trial = try_card(card_settings("sim"), seconds=2.0)
    assert trial.rate_hz == (48_000, 48_000)
    assert trial.noise_dbfs == pytest.approx(-40.0, abs=0.5)
    assert -32 < trial.peak_dbfs < -24
    if trial.dropouts == 0:  # a busy machine may cause dropouts, which leave little to measure
        assert trial.skew_ppm is not None
        assert trial.uncertain_ppm is not None
        assert abs(trial.skew_ppm) < 10 + 3 * trial.uncertain_ppm


@pytest.mark.parametrize("channels", [1, 2])
def test_each_captured_frame_is_one_sample_for_any_number_of_channels(
    card: SoundCard, channels: int
) -> None:
    settings = {"capture": "sim", "playback": "sim", "channels": channels}
    with open_both(load(Path("/dev/null"), {"card": settings}).card) as (mic, speaker):
        captured, *_ = measure(mic, speaker, seconds=1.0)
    assert 0.85 * 48_000 < len(captured) < 1.15 * 48_000


def test_a_missing_card_raises_an_error(card: SoundCard) -> None:
    card.unplug()
    with pytest.raises(CardError):
        try_card(card_settings("sim"), seconds=0.1)

"""Recording a few seconds of the microphone outside the running box."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import numpy as np
import pytest

from appliance.audio.alsa import AlsaStream
from appliance.audio.recorder import read_from, record
from appliance.errors import CardError
from appliance.pcm import RATE_HZ, Samples
from appliance.settings import load
from lab.sim.simulated_card import SoundCard
from tests.audio.default_card import default_card

pytestmark = pytest.mark.process

SIM = load(None, {"card": {"capture": "sim", "playback": "sim"}}).card


@pytest.fixture
def card(simcard_library: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[SoundCard]:
    with default_card(simcard_library, monkeypatch, RATE_HZ) as made:
        yield made


def test_sound_after_the_prompt_is_recorded_from_the_card(card: SoundCard) -> None:
    word = (9000 * np.sin(np.arange(RATE_HZ // 4) * 0.3)).astype(np.int16)
    heard = record(SIM, 1.5, lambda: card.add_sound(card.now() + RATE_HZ // 5, word))
    assert len(heard) == 1.5 * RATE_HZ
    at = int(np.argmax(np.correlate(heard.astype(float), word.astype(float), "valid")))
    assert np.array_equal(heard[at : at + len(word)], word)
    assert at > RATE_HZ // 10


@pytest.mark.parametrize("busy", [True, False])
def test_an_unusable_card_raises_an_error_before_the_prompt(card: SoundCard, busy: bool) -> None:
    if busy:
        card.set_busy(True)
    else:
        card.unplug()
    asked: list[bool] = []
    with pytest.raises(CardError, match="in use" if busy else "sim"):
        record(SIM, 0.1, lambda: asked.append(True))
    assert asked == []


def test_a_stall_that_loses_samples_raises_an_error(card: SoundCard) -> None:
    with pytest.raises(CardError, match="dropped out"):
        record(SIM, 1.0, lambda: time.sleep(0.6))  # longer than the card's buffer


class OddPeriods:
    """A 48 kHz stream with periods of 256 frames, which HDA cards grant instead of 240."""

    factor, period_frames, rate_hz = 3, 256, 48_000

    def __init__(self, sound: Samples) -> None:
        self.left = sound

    def __enter__(self) -> OddPeriods:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def register(self, poller: object) -> None:
        pass

    def start(self) -> None:
        pass

    def avail(self) -> int:
        return len(self.left)

    def read(self) -> Samples:
        period, self.left = self.left[: self.period_frames], self.left[self.period_frames :]
        return period


def test_a_tone_is_recorded_undistorted_with_any_period() -> None:
    tone = (9000 * np.sin(np.arange(96_000) * (2 * np.pi * 1000 / 48_000))).astype(np.int16)
    stream = cast("AlsaStream", OddPeriods(tone))
    heard = read_from(stream, "odd", 1.0, lambda: None).astype(float)
    power = np.abs(np.fft.rfft(heard * np.hanning(len(heard)))) ** 2
    beside = power.sum() - power[998:1003].sum()
    assert len(heard) == RATE_HZ
    assert power[998:1003].sum() > 1e6 * beside

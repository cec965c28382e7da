"""The reference canceller removes the box's own voice and is inactive without playback."""

from __future__ import annotations

import numpy as np

from appliance.pcm import RATE_HZ, Samples
from lab.bench.speex import SpeexCanceller


def canceller() -> SpeexCanceller:
    return SpeexCanceller(tail_ms=200, frames=80, rate_hz=RATE_HZ)


def echoes(seconds: int) -> tuple[Samples, Samples]:
    rng = np.random.default_rng(0)
    played = (rng.standard_normal(seconds * RATE_HZ) * 3000).astype(np.int16)
    room = np.zeros(1600)
    room[[400, 700, 1100]] = 0.3, -0.15, 0.08
    return np.convolve(played, room)[: len(played)].astype(np.int16), played


def test_the_echo_is_cancelled_within_seconds() -> None:
    mic, played = echoes(5)
    echo = canceller()
    residual = [
        echo.cancel_echo(m, p)
        for m, p in zip(mic.reshape(-1, 80), played.reshape(-1, 80), strict=True)
    ]
    before, after = (np.std(x[-RATE_HZ:].astype(float)) for x in (mic, np.concatenate(residual)))
    assert after < before / 10


def test_the_microphone_passes_untouched_while_nothing_was_played() -> None:
    mic, _ = echoes(1)
    echo = canceller()
    for step in mic.reshape(-1, 80):
        assert echo.cancel_echo(step, np.zeros(80, np.int16)) is step
    assert not echo.active


def test_the_canceller_stays_active_for_the_tail_and_keeps_its_filter() -> None:
    mic, played = echoes(9)
    played[4 * RATE_HZ : 8 * RATE_HZ] = 0
    mic[4 * RATE_HZ + 1101 : 8 * RATE_HZ] = 0
    echo = canceller()
    residual, working = [], []
    for m, p in zip(mic.reshape(-1, 80), played.reshape(-1, 80), strict=True):
        residual.append(echo.cancel_echo(m, p))
        working.append(echo.active)
    assert all(working[800:840])
    assert not any(working[850:1600])
    before, after = (x[-RATE_HZ + 1101 :].astype(float) for x in (mic, np.concatenate(residual)))
    assert np.std(after) < np.std(before) / 10


def test_full_scale_square_waves_are_processed() -> None:
    echo = canceller()
    square = np.where(np.arange(80) < 40, 32767, -32768).astype(np.int16)
    for _ in range(400):
        residual = echo.cancel_echo(square, square)
    assert residual.dtype == np.int16

"""The level of the reverberation beyond the canceller's taps is predicted."""

from __future__ import annotations

import numpy as np
import pytest

from appliance.hear.aec.late_reverb import LateReverb
from tests.hear.arena import impulse_response

FRAMES, RATE_HZ = 80, 16_000


@pytest.mark.parametrize("tail_ms", [200, 300])
def test_the_late_reverberation_of_a_live_room_is_predicted_to_within_2_db(tail_ms: int) -> None:
    taps = tail_ms * RATE_HZ // 1000
    room = impulse_response(3, rt60_s=0.7)
    played = np.random.default_rng(1).normal(0, 0.1, RATE_HZ)
    played[RATE_HZ // 2 :] = 0.0
    arrived = np.convolve(played, np.where(np.arange(len(room)) < taps, 0, room))
    late = LateReverb(FRAMES)
    late.set_echo_path(room[:taps].astype(np.float32))
    error_db = []
    for at in range(taps, taps + RATE_HZ // 2, FRAMES):
        late.process(played[at - taps : at - taps + FRAMES].astype(np.float32))
        power = np.mean(arrived[at : at + FRAMES] ** 2)
        error_db.append(late.db - 10 * np.log10(power))
    assert abs(float(np.mean(error_db[20:]))) < 2


def test_a_dead_room_has_no_late_reverberation() -> None:
    late = LateReverb(FRAMES)
    late.set_echo_path(impulse_response(3, rt60_s=0.15)[:4800].astype(np.float32))
    for _ in range(100):
        late.process(np.full(FRAMES, 0.1, np.float32))
    assert late.db < -80


def test_without_a_response_no_late_reverberation_is_predicted() -> None:
    late = LateReverb(FRAMES)
    late.set_echo_path(np.zeros(4800, np.float32))
    late.process(np.ones(FRAMES, np.float32))
    assert late.db < -80

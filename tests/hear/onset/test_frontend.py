"""The front end runs the speech network only where there may be something to hear."""

from __future__ import annotations

import numpy as np

from appliance.hear.onset.frontend import AudioFrontEnd, clipped
from appliance.pcm import BLOCK_FRAMES, Samples, from_float
from appliance.settings import HearingSettings
from tests.hear.arena import at_level, say

SECOND = 16_000
NOTHING = np.zeros(BLOCK_FRAMES, np.int16)


def probabilities(settings: HearingSettings, mic: Samples, *, speaks: bool = False) -> list[float]:
    front_end = AudioFrontEnd(settings)
    blocks = (
        front_end.process(mic[at : at + BLOCK_FRAMES], NOTHING, speaks)
        for at in range(0, len(mic) - BLOCK_FRAMES + 1, BLOCK_FRAMES)
    )
    return [block.probability for block in blocks if block.probability is not None]


def hiss(seconds: int) -> Samples:
    return (np.random.default_rng(1).standard_normal(seconds * SECOND) * 10).astype(np.int16)


def test_the_network_does_not_run_on_steady_hiss(settings: HearingSettings) -> None:
    heard = probabilities(settings, hiss(3))
    assert heard[-50:] == [0.0] * 50


def test_the_network_runs_on_every_hop_while_a_sound_is_followed(settings: HearingSettings) -> None:
    assert min(probabilities(settings, hiss(3), speaks=True)) > 0


def test_a_word_below_the_gates_threshold_is_still_heard(settings: HearingSettings) -> None:
    word = from_float(at_level(say("tell me about the moon"), -63))  # 5 dB over the hiss
    mic = hiss(4)
    mic[2 * SECOND : 2 * SECOND + len(word)] += word
    assert max(probabilities(settings, mic)) > 0.5


def test_samples_clipped_at_either_end_get_their_sign() -> None:
    sides = clipped(np.array([32767, 0, -32768, 32000], np.int16))
    assert sides is not None
    assert sides.tolist() == [1, 0, -1, 0]


def test_loud_samples_are_not_clipped() -> None:
    assert clipped(np.array([32000, -32000], np.int16)) is None

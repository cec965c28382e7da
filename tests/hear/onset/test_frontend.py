"""The senses ask the network where there may be something to hear, and only there."""

from __future__ import annotations

import numpy as np

from appliance.hear.onset.frontend import AudioFrontEnd, clipped
from appliance.pcm import BLOCK_FRAMES, Samples, from_float
from appliance.settings import HearingSettings
from tests.hear.arena import at_level, say

SECOND = 16_000
NOTHING = np.zeros(BLOCK_FRAMES, np.int16)


def probabilities(settings: HearingSettings, mic: Samples, *, speaks: bool = False) -> list[float]:
    senses = AudioFrontEnd(settings)
    blocks = (
        senses.process(mic[at : at + BLOCK_FRAMES], NOTHING, speaks)
        for at in range(0, len(mic) - BLOCK_FRAMES + 1, BLOCK_FRAMES)
    )
    return [block.probability for block in blocks if block.probability is not None]


def hiss(seconds: int) -> Samples:
    return (np.random.default_rng(1).standard_normal(seconds * SECOND) * 10).astype(np.int16)


def test_a_steady_hiss_is_no_matter_for_the_network(settings: HearingSettings) -> None:
    heard = probabilities(settings, hiss(3))
    assert heard[-50:] == [0.0] * 50


def test_it_is_asked_all_the_time_while_a_sound_is_followed(settings: HearingSettings) -> None:
    assert min(probabilities(settings, hiss(3), speaks=True)) > 0


def test_a_word_softer_than_the_gate_wants_is_still_heard(settings: HearingSettings) -> None:
    word = from_float(at_level(say("tell me about the moon"), -63))  # 5 dB over the hiss
    mic = hiss(4)
    mic[2 * SECOND : 2 * SECOND + len(word)] += word
    assert max(probabilities(settings, mic)) > 0.5


def test_the_ends_of_the_microphones_range_are_told_apart() -> None:
    sides = clipped(np.array([32767, 0, -32768, 32000], np.int16))
    assert sides is not None
    assert sides.tolist() == [1, 0, -1, 0]


def test_what_is_only_loud_is_not_at_the_end_of_the_range() -> None:
    assert clipped(np.array([32000, -32000], np.int16)) is None

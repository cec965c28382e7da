"""The turns of `bench endpoint`: complete sentences, and the same with a pause."""

from __future__ import annotations

import numpy as np

from appliance.pcm import RATE_HZ
from lab.bench.endpoint_turns import PAUSES_S, quiet_places, turns


def test_each_sentence_comes_complete_and_with_a_pause_of_known_length() -> None:
    some = list(turns([], 2, seed=1))
    assert [turn.pause is None for turn in some] == [True, False] * 2
    for turn in some:
        assert len(turn.samples) - turn.end > 2 * RATE_HZ
        if turn.pause is not None:
            lasts_s = (turn.pause[1] - turn.pause[0]) / RATE_HZ
            assert PAUSES_S[0] - 0.001 <= lasts_s <= PAUSES_S[1] + 0.001


def test_pauses_are_inserted_at_quiet_places() -> None:
    wave = np.ones(32_000)
    wave[12_000:12_600] = wave[20_000:20_600] = 0.01
    assert [round(place, -3) for place in sorted(quiet_places(wave, 2))] == [12_000, 20_000]

"""The turns of `bench endpoint`: whole sentences, and the same with a pause in them."""

from __future__ import annotations

import numpy as np

from appliance.pcm import RATE_HZ
from lab.bench.endpoint_turns import PAUSES_S, quiet_places, turns


def test_each_sentence_comes_whole_and_with_a_pause_of_known_length() -> None:
    some = list(turns([], 2, seed=1))
    assert [turn.pause is None for turn in some] == [True, False] * 2
    for turn in some:
        assert len(turn.samples) - turn.end > 2 * RATE_HZ
        if turn.pause is not None:
            lasts_s = (turn.pause[1] - turn.pause[0]) / RATE_HZ
            assert PAUSES_S[0] - 0.001 <= lasts_s <= PAUSES_S[1] + 0.001


def test_a_sentence_pauses_where_it_is_quiet() -> None:
    wave = np.ones(32_000)
    wave[12_000:12_600] = wave[20_000:20_600] = 0.01
    assert [round(each, -3) for each in sorted(quiet_places(wave, 2))] == [12_000, 20_000]

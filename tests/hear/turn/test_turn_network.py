"""The shipped network: it opens, and knows an end of a turn from a sentence that is broken off."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from appliance.errors import ModelError
from appliance.hear.onset import vad
from appliance.hear.turn.turn_network import TurnNetwork
from appliance.pcm import from_float
from tests.hear.arena import at_level, say

SENTENCES = ("turn on the light in the kitchen", "what is the weather like in London tomorrow")
PAUSE = np.zeros(3200)


@pytest.mark.long
def test_whole_sentences_are_likelier_over_than_the_same_broken_off() -> None:
    network = TurnNetwork()
    whole, broken = [], []
    for text in SENTENCES:
        for voice in ("en-us", "en-gb", "en-gb+f3"):
            wave = at_level(say(f"{text}.", voice))
            whole.append(network.probability(from_float(np.append(wave, PAUSE))))
            part = wave[: len(wave) * 6 // 10]
            broken.append(network.probability(from_float(np.append(part, PAUSE))))
    assert all(0.0 <= each <= 1.0 for each in (*whole, *broken))
    assert np.mean(whole) > np.mean(broken) + 0.1


def test_a_file_that_is_missing_or_is_another_network_is_an_error_with_a_name(
    tmp_path: Path,
) -> None:
    with pytest.raises(ModelError, match="judges the end of a turn is missing"):
        TurnNetwork(tmp_path / "none.onnx")
    with pytest.raises(ModelError, match="but not that of the end of a turn"):
        TurnNetwork(vad.MODEL)

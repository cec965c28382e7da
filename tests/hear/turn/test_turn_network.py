"""The shipped network loads and tells a finished turn from a sentence that is cut off."""

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
def test_complete_sentences_are_likelier_over_than_the_same_cut_off() -> None:
    network = TurnNetwork()
    complete, cut_off = [], []
    for text in SENTENCES:
        for voice in ("en-us", "en-gb", "en-gb+f3"):
            wave = at_level(say(f"{text}.", voice))
            complete.append(network.probability(from_float(np.append(wave, PAUSE))))
            part = wave[: len(wave) * 6 // 10]
            cut_off.append(network.probability(from_float(np.append(part, PAUSE))))
    assert all(0.0 <= value <= 1.0 for value in (*complete, *cut_off))
    assert np.mean(complete) > np.mean(cut_off) + 0.1


def test_a_missing_file_and_another_network_raise_a_named_error(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="judges the end of a turn is missing"):
        TurnNetwork(tmp_path / "none.onnx")
    with pytest.raises(ModelError, match="but not that of the end of a turn"):
        TurnNetwork(vad.MODEL)

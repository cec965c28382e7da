"""microWakeWord detects its phrases, spoken by espeak-ng."""

from __future__ import annotations

import numpy as np
import pytest

from appliance.hear.words.microwakeword_backend import PHRASES, MicroWakeWordSpotter
from appliance.pcm import RATE_HZ, from_float
from tests.hear.arena import ANSWER, at_level, say
from tests.hear.words.spoken import QUIET, heard_at, sound


@pytest.mark.parametrize("text", ["okay nahboo", "alexa"])
def test_a_wake_word_is_detected_once_within_half_a_second(text: str) -> None:
    spotter = MicroWakeWordSpotter({"okay nahboo": "okay nabu"}.get(text, text))
    said = sound(text)
    once = np.concatenate([said, np.zeros(RATE_HZ, np.int16)])
    [at] = heard_at(spotter, once)
    assert QUIET < at < len(said) - QUIET + RATE_HZ // 2


def test_an_answer_of_the_box_is_not_a_wake_word() -> None:
    answer = from_float(at_level(say(ANSWER)))
    for phrase in PHRASES:
        assert heard_at(MicroWakeWordSpotter(phrase), answer) == []


def test_a_spotter_detects_again_after_a_reset() -> None:
    spotter = MicroWakeWordSpotter("alexa")
    assert len(heard_at(spotter, sound("alexa"))) == 1
    spotter.reset()
    assert len(heard_at(spotter, sound("alexa"))) == 1

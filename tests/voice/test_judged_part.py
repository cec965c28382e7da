"""The part of a sentence that the recogniser judges: words spoken as they are written."""

from __future__ import annotations

import numpy as np
import pytest

from appliance.pcm import RATE_HZ
from appliance.voice.judged_part import MOST_SAMPLES, part_to_judge, spoken_words_of

SECOND = np.arange(RATE_HZ).astype(np.int16)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Spiders have eight legs.", ["spiders", "have", "eight", "legs"]),
        ("Don’t “go” – it's late!", ["don't", "go", "it's", "late"]),
        ("'Tis well-known", ["tis", "well", "known"]),
    ],
)
def test_words_are_extracted_as_written(text: str, words: list[str]) -> None:
    assert spoken_words_of(text) == words


@pytest.mark.parametrize("text", ["It is 5 o'clock.", "50 %", "Schön.", "a & b", "20 °C"])
def test_a_text_spoken_differently_than_written_is_not_judged(text: str) -> None:
    assert spoken_words_of(text) is None
    assert part_to_judge(text, SECOND, []) is None


def test_a_short_sentence_is_judged_completely() -> None:
    found = part_to_judge("The sea.", SECOND, [])
    assert found is not None
    assert found[0] == ["the", "sea"]
    np.testing.assert_array_equal(found[1], SECOND)


def test_a_long_sentence_is_judged_for_the_words_that_fit() -> None:
    sound = np.zeros(2 * MOST_SAMPLES, np.int16)
    ends = [(3, 1000), (7, MOST_SAMPLES - 5), (12, MOST_SAMPLES + 1)]
    found = part_to_judge("The sea is wide.", sound, ends)
    assert found is not None
    assert found[0] == ["the", "sea"]
    assert len(found[1]) == MOST_SAMPLES - 5


def test_a_long_sentence_without_word_positions_is_not_judged() -> None:
    assert part_to_judge("The sea is wide.", np.zeros(2 * MOST_SAMPLES, np.int16), []) is None


def test_a_single_word_or_very_short_sound_is_not_judged() -> None:
    assert part_to_judge("Sea.", SECOND, []) is None
    assert part_to_judge("The sea.", SECOND[:1000], []) is None

"""Text as a model writes it becomes text that a voice can say."""

from __future__ import annotations

import pytest

from appliance.voice.speakable_text import speakable


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("The **moon** is `near`.", "The moon is near."),
        ("# Bread\n- flour\n- water\n1. Knead it.", "Bread flour water Knead it."),
        ("See [the page](https://example.org/x_y) now.", "See the page now."),
        ("It is <b>late</b>.<end_of_turn>", "It is late."),
        ("<|channel>thought<channel|>Yes.", "thought Yes."),
        ("Well…  really \t — yes !", "Well… really — yes!"),
        ("Great 🎉🎉!", "Great!"),
        ("It is 20 °C, or 68 °F; 3 + 4 = 7.", "It is 20 °C, or 68 °F; 3 + 4 = 7."),
        ("Don't stop: it's 5 o'clock.", "Don't stop: it's 5 o'clock."),
        ("snake_case and \x01control", "snake case and control"),
        ("Grüß Gott, naïve café.", "Grüß Gott, naïve café."),
    ],
)
def test_markup_and_pictures_are_not_said(written: str, said: str) -> None:
    assert speakable(written) == said


@pytest.mark.parametrize("written", ["", "   \n", "…", "🎉", "***", "---", "<br>", "\x00\x07"])
def test_what_has_no_words_is_nothing(written: str) -> None:
    assert speakable(written) == ""


def test_double_brackets_do_not_switch_to_phoneme_input() -> None:
    assert "[[" not in speakable("[[h@l'oU]] world")

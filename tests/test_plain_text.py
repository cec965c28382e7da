"""Text from outside becomes one plain line, or words that a voice can speak."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from appliance.plain_text import one_line, spoken


@pytest.mark.parametrize(
    ("text_in", "line"),
    [
        ("two\nlines\t and  blanks ", "two lines and blanks"),
        ("bell\x07, colour \x1b[31m, zero\u200b width, private \ue000.",
         "bell, colour [31m, zero width, private ."),
        ("Cafe\u0301 \ud800 <b>**x**</b> 🎉", "Café <b>**x**</b> 🎉"),
        ("\x00\u2028\u200d", ""),
    ],
)  # fmt: skip
def test_a_plain_line_has_no_control_characters_and_keeps_markup(text_in: str, line: str) -> None:
    assert one_line(text_in) == line


@given(st.text(max_size=200))
def test_every_text_becomes_one_line(text: str) -> None:
    line = one_line(text)
    assert line == " ".join(line.split())
    assert line.isprintable() or not line


@pytest.mark.parametrize(
    ("text_in", "output"),
    [
        ("The **moon** is `near`.", "The moon is near."),
        ("# Bread\n- flour\n- water\n1. Knead it.", "Bread flour water 1. Knead it."),
        ("See [the page](https://example.org/x_y) now.", "See the page now."),
        ("See https://www.nasa.gov/moon?x=1.2.", "See nasa.gov."),
        ("It is <b>late</b>.<end_of_turn>", "It is late."),
        ("<|channel>thought<channel|>Yes.", "thought Yes."),
        ('<|"|>Yes.<turn|>', "Yes."),
        ("Well…  really \t — yes !", "Well… really — yes!"),
        ("Great 🎉🎉!", "Great!"),
        ("Good 👍🏽, 5️⃣ → 6.", "Good, 5 6."),
        ("It is 20 °C, or 68 °F; 3 + 4 = 7.", "It is 20 °C, or 68 °F; 3 + 4 = 7."),
        ("Don't stop: it's 5 o'clock.", "Don't stop: it's 5 o'clock."),
        ("snake_case and \x01control", "snake case and control"),
        ("Grüß Gott, naïve café.", "Grüß Gott, naïve café."),
        ("| a | b |", "a b"),
    ],
)
def test_markup_and_emoji_are_not_spoken(text_in: str, output: str) -> None:
    assert spoken(text_in) == output


@pytest.mark.parametrize(
    ("text_in", "output"),
    [
        ("12. They are January to December.", "12. They are January to December."),
        ("2*3 is 6, and 3 * 4 is **12**.", "2 × 3 is 6, and 3 × 4 is 12."),
        ("1. Mix it.", "1. Mix it."),
    ],
)
def test_a_leading_number_is_spoken(text_in: str, output: str) -> None:
    """It may be the answer itself, or the number of a step in a recipe."""
    assert spoken(text_in) == output


@pytest.mark.parametrize(
    ("text_in", "output"),
    [
        ("I have turned light.kitchen_light on.", "I have turned light kitchen light on."),
        ("It is binary_sensor.door_2.", "It is binary sensor door 2."),
        ("`switch.fan`, (cover.left_blind): done", "switch fan, (cover left blind): done"),
        ("scene.movie", "scene movie"),
    ],
)
def test_an_entity_id_is_spoken_as_its_words(text_in: str, output: str) -> None:
    assert spoken(text_in) == output


@pytest.mark.parametrize(
    "text_in",
    [
        "See nasa.gov or weather.com.",
        "See light.example.org and the-light.kitchen now.",
        "I turned off the light. Then it was dark.",
        "It is 1.5 m, e.g. text.txt or Light.Kitchen.",
        "The timer.",
    ],
)
def test_other_dots_are_kept(text_in: str) -> None:
    assert spoken(text_in) == text_in


@pytest.mark.parametrize("text_in", ["", "   \n", "…", "🎉", "***", "---", "<br>", "\x00\x07"])
def test_text_without_words_becomes_empty(text_in: str) -> None:
    assert spoken(text_in) == ""


def test_double_brackets_do_not_switch_to_phoneme_input() -> None:
    assert "[[" not in spoken("[[h@l'oU]] world")


@given(st.text(max_size=200))
def test_every_text_becomes_one_line_with_words_or_empty(text: str) -> None:
    output = spoken(text)
    assert output == one_line(output)
    assert not output or any(letter.isalnum() for letter in output)


@pytest.mark.parametrize(
    "piece",
    [
        "[",
        "[](",
        "](",
        "<|",
        "<a",
        "* ",
        "# ",
        "1*",
        "_ ",
        "https://",
        ".",
        "https://a?.",
        "sun.",
        "sun.a",
    ],
)
@pytest.mark.long
def test_the_run_time_is_not_quadratic_in_the_length(piece: str) -> None:
    def least_s(length: int) -> float:
        text, took_s = (piece * length)[:length], []
        for _ in range(3):
            began_s = time.process_time()
            spoken(text)
            took_s.append(time.process_time() - began_s)
        return min(took_s)

    assert least_s(64_000) < 40 * least_s(4_000) + 0.01  # linear: 16 times; quadratic: 256 times

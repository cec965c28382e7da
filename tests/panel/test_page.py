"""docs/panel.md matches the code."""

from __future__ import annotations

from pathlib import Path

import pytest

from appliance.panel import button, machine_indicators
from appliance.panel.light import PATTERNS
from appliance.panel.power_on_hold import WANTED_SETUP
from appliance.runtime.factory_reset import RESET

PAGE = (Path(__file__).parents[2] / "docs" / "panel.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", PATTERNS)
def test_every_pattern_has_its_row(name: str) -> None:
    pattern = PATTERNS[name]
    rhythm = {"steady": "steady", "breath": f"breathes, {pattern.period_s:g} s"}.get(
        pattern.shape, f"{pattern.flashes} × in {pattern.period_s:g} s"
    )
    assert f"| {pattern.says} | {rhythm} |" in PAGE


def test_the_rows_are_in_order_of_urgency() -> None:
    places = [PAGE.index(f"| {pattern.says} |") for pattern in PATTERNS.values()]
    assert places == sorted(places)


@pytest.mark.parametrize(
    "words",
    [
        f"hold {button.LONG_S:g} s",
        f"after {button.SETUP_S:g} s",
        f"at power-on for {button.RESET_S:g} s",
        f"after {button.SETUP_S - button.WARNING_S:g} s (set-up)",
        f"for {button.WARNING_S:g} s before a reset",
        f"within {button.CONFIRM_S:g} s",
        f"holding for\n{button.GIVE_UP_S:g} s",
        f"from {machine_indicators.HOT_C:g} °C until {machine_indicators.COOL_C:g} °C",
        f"within {button.DOUBLE_S:g} s",
    ],
)
def test_the_page_states_the_times_of_the_button(words: str) -> None:
    assert words in PAGE


def test_the_page_lists_everything_that_a_reset_erases() -> None:
    table = "".join(f"| {row.what} | {row.how} |\n" for row in RESET)
    assert table in PAGE
    assert f"/{WANTED_SETUP}`" in PAGE

"""docs/panel.md says what the code does."""

from __future__ import annotations

from pathlib import Path

import pytest

from appliance.panel import button
from appliance.panel.light import PATTERNS

PAGE = (Path(__file__).parents[2] / "docs" / "panel.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", PATTERNS)
def test_every_light_has_its_row(name: str) -> None:
    pattern = PATTERNS[name]
    how = {"steady": "steady", "breath": f"breathes, {pattern.period_s:g} s"}.get(
        pattern.shape, f"{pattern.flashes} × in {pattern.period_s:g} s"
    )
    assert f"| {pattern.says} | {how} |" in PAGE


def test_the_rows_stand_in_the_order_of_urgency() -> None:
    places = [PAGE.index(f"| {pattern.says} |") for pattern in PATTERNS.values()]
    assert places == sorted(places)


@pytest.mark.parametrize(
    "words",
    [
        f"hold {button.LONG_S:g} s",
        f"after {button.SETUP_S:g} s",
        f"at power-on for {button.RESET_S:g} s",
        f"after {button.WARNING_S:g} s of warning",
        f"within {button.DOUBLE_S:g} s",
    ],
)
def test_the_times_of_the_gestures_are_the_buttons(words: str) -> None:
    assert words in PAGE

"""Settings of the MQTT link and the panel: topics, night hours, and whether a panel exists."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from appliance.settings import PanelSettings, load
from tests.settings.written import refused


def panel(**changes: Any) -> PanelSettings:
    return load(None, {"panel": changes}).panel


@pytest.mark.parametrize(
    ("gpio", "here"),
    [("none", False), ("auto", False), ("keyboard", True), ("header", True)],
)
def test_a_panel_exists_only_if_its_gpio_is_named(gpio: str, here: bool) -> None:
    assert panel(gpio=gpio).here == here


@pytest.mark.parametrize("night", ["", "22:00-07:00", "00:00-23:59"])
def test_a_night_is_two_times_of_day_or_empty(night: str) -> None:
    assert panel(night=night).night == night


@pytest.mark.parametrize("night", ["22:00", "24:00-07:00", "22:00-7:00", "22-07", "22:00-07:60"])
def test_an_invalid_night_is_refused(tmp_path: Path, night: str) -> None:
    assert "`panel.night`" in refused(tmp_path, f'panel: {{night: "{night}"}}')


@pytest.mark.parametrize("base", ["", "/", "a//b", "a/", "a b", "a/#", "+/a"])
def test_an_invalid_topic_is_refused_as_base(tmp_path: Path, base: str) -> None:
    assert "`link.base`" in refused(tmp_path, f'link: {{base: "{base}"}}')


@pytest.mark.parametrize("text", ["{port: 65536}", "{id: a/b}", "{interval_s: 5}"])
def test_link_settings_out_of_range_are_refused(tmp_path: Path, text: str) -> None:
    assert "`link." in refused(tmp_path, f"link: {text}")

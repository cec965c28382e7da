"""The house and the panel: topics that are topics, hours of a night, and whether there is one."""

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
def test_a_panel_is_here_where_it_is_known_which(gpio: str, here: bool) -> None:
    assert panel(gpio=gpio).here == here


@pytest.mark.parametrize("night", ["", "22:00-07:00", "00:00-23:59"])
def test_a_night_is_from_an_hour_to_an_hour_or_never(night: str) -> None:
    assert panel(night=night).night == night


@pytest.mark.parametrize("night", ["22:00", "24:00-07:00", "22:00-7:00", "22-07", "22:00-07:60"])
def test_what_is_no_night_is_refused(tmp_path: Path, night: str) -> None:
    assert "`panel.night`" in refused(tmp_path, f'panel: {{night: "{night}"}}')


@pytest.mark.parametrize("base", ["", "/", "a//b", "a/", "a b", "a/#", "+/a"])
def test_a_base_that_is_no_topic_is_refused(tmp_path: Path, base: str) -> None:
    assert "`link.base`" in refused(tmp_path, f'link: {{base: "{base}"}}')


@pytest.mark.parametrize("text", ["{port: 65536}", "{id: a/b}", "{interval_s: 5}"])
def test_what_no_broker_can_do_is_refused(tmp_path: Path, text: str) -> None:
    assert "`link." in refused(tmp_path, f"link: {text}")

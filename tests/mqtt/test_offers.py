"""The optional features that a box offers, from its settings and its machine."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from appliance.mqtt.link import features
from appliance.runtime.machine import Machine
from appliance.settings import load


@pytest.mark.parametrize(
    ("panel", "button", "switch"),
    [
        ({"gpio": "none", "mute_switch": True}, False, True),
        ({"gpio": "header", "mute_switch": True}, True, True),
        ({"gpio": "header", "mute_switch": False}, True, False),
        ({"gpio": "keyboard", "mute_switch": True}, True, True),
    ],
)
def test_a_button_is_offered_where_there_is_a_panel_and_a_switch_where_one_is_wired(
    tmp_path: Path, panel: dict[str, Any], button: bool, switch: bool
) -> None:
    settings = load(None, {"panel": panel, "state_dir": str(tmp_path)})
    offer = features(settings, Machine(tmp_path))
    assert (offer.button, offer.mute_switch) == (button, switch)
    assert offer.voices == ("espeak",)  # other voices are offered once they have spoken


def test_a_machine_that_measures_nothing_offers_no_readings(tmp_path: Path) -> None:
    offer = features(load(None, {"state_dir": str(tmp_path)}), Machine(tmp_path))
    assert not offer.temperature
    assert not offer.throttled

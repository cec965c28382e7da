"""The judgement of the microphone test: each fault by itself, several at once, and none."""

from __future__ import annotations

import msgspec
import pytest

from appliance.messages.trying import SoundRecorded
from appliance.page.microphone_findings import findings
from appliance.page.texts import Texts

GOOD = SoundRecorded(1, -12.0, -22.0, -60.0, -70.0, 0, 2.0, played=True)


@pytest.mark.parametrize(
    ("changes", "found"),
    [
        ({}, ["good"]),
        ({"peak_db": -99.0, "played": False}, ["nothing"]),
        ({"clipped": 15}, ["good"]),
        ({"clipped": 16}, ["clipped"]),
        ({"offset_db": -20.0}, ["offset"]),
        ({"noise_db": -34.0}, ["noisy"]),
        ({"speech_db": -55.0}, ["nobody"]),
        ({"speech_db": -46.0, "noise_db": -70.0}, ["quiet"]),
        (
            {"clipped": 900, "offset_db": -10.0, "noise_db": -20.0},
            ["clipped", "offset", "noisy", "nobody"],
        ),
    ],
)
def test_each_fault_is_named_and_no_other(changes: dict[str, float], found: list[str]) -> None:
    assert findings(msgspec.structs.replace(GOOD, **changes)) == found


@pytest.mark.parametrize("language", ["en", "de"])
def test_each_fault_has_a_sentence(language: str) -> None:
    told = Texts(language)
    for one in ("good", "nothing", "clipped", "offset", "noisy", "nobody", "quiet"):
        assert told(f"page-microphone-{one}")

"""The finding of `interlude check` about the end of a turn."""

from __future__ import annotations

from pathlib import Path

import msgspec

from appliance.hear.turn.turn_check import turn_finding
from appliance.settings import HearingSettings


def test_a_working_network_is_ok_and_its_delay_is_reported(settings: HearingSettings) -> None:
    patient = msgspec.structs.replace(settings.turn, end_ms=60_000)
    found = turn_finding(patient)
    assert found.verdict == "ok"
    assert "judged by its sound; an answer takes" in found.sentence


def test_a_missing_network_is_a_warning_with_the_reason(
    settings: HearingSettings, tmp_path: Path
) -> None:
    found = turn_finding(settings.turn, tmp_path / "none.onnx")
    assert found.verdict == "warning"
    assert found.sentence.startswith("A turn ends after 500 ms of silence: ")
    assert found.remedy == "Install the package again."


def test_a_network_that_is_too_slow_for_the_settings_is_a_warning(
    settings: HearingSettings,
) -> None:
    found = turn_finding(msgspec.structs.replace(settings.turn, ask_ms=(200,), end_ms=200))
    assert found.verdict == "warning"
    assert "answers after" in found.sentence


def test_a_judge_that_is_switched_off_is_ok_and_mentioned(settings: HearingSettings) -> None:
    found = turn_finding(msgspec.structs.replace(settings.turn, judge="none"))
    assert (found.verdict, "hearing.turn.judge" in found.sentence) == ("ok", True)

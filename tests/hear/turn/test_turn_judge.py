"""The judge of the end of a turn: the settings choose it, and the log says why there is none."""

from __future__ import annotations

import logging
from pathlib import Path

import msgspec
import pytest

from appliance.hear.onset import vad
from appliance.hear.turn.turn_judge import make_judge
from appliance.settings import HearingSettings

log = logging.getLogger("test")


def test_without_a_model_file_there_is_no_judge_and_the_log_says_why(
    settings: HearingSettings, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    assert make_judge(settings.turn, log, tmp_path / "none.onnx") is None
    [line] = caplog.messages
    assert line.startswith("a turn ends after 500 ms of silence: ")
    assert "none.onnx" in line


def test_another_network_in_its_place_is_refused(
    settings: HearingSettings, caplog: pytest.LogCaptureFixture
) -> None:
    assert make_judge(settings.turn, log, vad.MODEL) is None
    assert "not that of the end of a turn" in caplog.text


def test_the_judge_can_be_switched_off(
    settings: HearingSettings, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    assert make_judge(msgspec.structs.replace(settings.turn, judge="none"), log) is None
    assert "hearing.turn.judge is none" in caplog.text
    assert make_judge(settings.turn, log) is not None

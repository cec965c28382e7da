"""The cost of each stage of hearing, and the stage that a file belongs to."""

from __future__ import annotations

from pathlib import Path

import pytest

from lab.bench import interruption_cost
from tests.english import ESPEAK


@pytest.mark.process
def test_the_stages_of_hearing_share_its_whole_cost() -> None:
    step_us, stages = interruption_cost.measure(ESPEAK, 4.0)
    assert 5 < step_us < 5000
    assert sum(stages.values()) == pytest.approx(1.0)
    assert stages["speech probability"] > 0


@pytest.mark.parametrize(
    ("file", "stage"),
    [("aec/kalman.py", "echo"), ("onset/vad.py", "speech probability"),
     ("bargein/network.py", "verdict"), ("onset/noise_floor.py", "gate"),
     ("pipeline.py", interruption_cost.REST)],
)  # fmt: skip
def test_a_file_of_hearing_belongs_to_a_stage(file: str, stage: str) -> None:
    path = Path(interruption_cost.FOLDER) / file
    assert path.is_file()
    assert interruption_cost.stage_of(str(path)) == stage

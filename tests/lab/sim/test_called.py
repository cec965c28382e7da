"""Asked aloud, a tool answers aloud: through the real processes, by the pocket model's call."""

from __future__ import annotations

from pathlib import Path

import pytest

from lab.sim import rehearsal_cli, scene
from tests.english import ENGLISH

pytestmark = [pytest.mark.process, pytest.mark.usefixtures("simcard_library")]


def test_the_time_is_told_aloud_to_who_asks_aloud() -> None:
    owner = [
        {"at_s": 0.0, "say": "what time is it"},
        {"when": "idle", "after_s": 0.8, "say": "thank you"},
    ]
    parsed = scene.parse({"owner": owner}, name="time", folder=Path())
    asked, thanked = rehearsal_cli.perform(parsed, ENGLISH).outcomes()
    assert (asked.outcome, thanked.outcome) == ("answered", "answered")
    assert asked.answer_text is not None
    assert asked.answer_text.startswith("It is ")
    assert asked.answer_ms is not None, "it was heard"
    assert thanked.answer_text == "You are welcome."

"""A tool that answers a spoken question aloud: real processes, called by the pocket model."""

from __future__ import annotations

from pathlib import Path

import pytest

from lab.sim import rehearsal_cli, scene
from tests.english import ENGLISH

pytestmark = [pytest.mark.process, pytest.mark.usefixtures("simcard_library")]


def test_a_spoken_question_for_the_time_is_answered_aloud() -> None:
    owner = [
        {"at_s": 0.0, "say": "what time is it"},
        {"when": "idle", "after_s": 0.8, "say": "thank you"},
    ]
    parsed = scene.parse({"owner": owner}, name="time", folder=Path())
    question_outcome, thanks_outcome = rehearsal_cli.perform(parsed, ENGLISH).outcomes()
    assert (question_outcome.outcome, thanks_outcome.outcome) == ("answered", "answered")
    assert question_outcome.answer_text is not None
    assert question_outcome.answer_text.startswith("It is ")
    assert question_outcome.answer_ms is not None, "the answer was not audible"
    assert thanks_outcome.answer_text == "You are welcome."

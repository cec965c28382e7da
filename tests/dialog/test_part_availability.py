"""Which parts work: required parts, optional parts, the voice."""

from __future__ import annotations

import pytest

from appliance.dialog.part_availability import PartAvailability


def test_initially_all_parts_work_and_the_model_is_not_loaded() -> None:
    parts = PartAvailability()
    assert (parts.thinker_up, parts.failed, parts.voiceless) == (False, frozenset(), False)


def test_a_failed_required_part_breaks_the_box_and_an_optional_one_degrades_it() -> None:
    parts = PartAvailability().fail("listener", needed=True).fail("words", needed=False)
    assert parts.broken == {"listener"}
    assert parts.degraded == {"words"}
    assert parts.failed == {"listener", "words"}


@pytest.mark.parametrize(
    ("part", "voiceless"),
    [("playback", True), ("the loudspeaker", True), ("listener", False), ("the microphone", False)],
)
def test_without_playback_or_loudspeaker_the_box_is_voiceless(part: str, voiceless: bool) -> None:
    assert PartAvailability().fail(part, needed=True).voiceless == voiceless


def test_a_restored_part_is_no_longer_broken_or_degraded() -> None:
    parts = PartAvailability().fail("listener", needed=True).fail("words", needed=False)
    assert parts.restore("words").failed == {"listener"}
    assert parts.restore("listener").failed == {"words"}
    assert parts.restore("speaker") == parts


def test_set_thinker_changes_whether_the_thinker_is_up() -> None:
    parts = PartAvailability().set_thinker(up=True)
    assert parts.thinker_up
    assert not parts.set_thinker(up=False).thinker_up

"""What works: needed parts, other parts, the voice."""

from __future__ import annotations

import pytest

from appliance.dialog.part_availability import PartAvailability


def test_at_first_all_works_and_the_model_is_not_loaded() -> None:
    parts = PartAvailability()
    assert (parts.thinker_up, parts.failed, parts.voiceless) == (False, frozenset(), False)


def test_a_needed_part_that_fails_breaks_the_box_and_another_only_degrades_it() -> None:
    parts = PartAvailability().fail("listener", needed=True).fail("words", needed=False)
    assert parts.broken == {"listener"}
    assert parts.degraded == {"words"}
    assert parts.failed == {"listener", "words"}


@pytest.mark.parametrize(
    ("part", "voiceless"),
    [("playback", True), ("the loudspeaker", True), ("listener", False), ("the microphone", False)],
)
def test_without_playback_or_loudspeaker_nothing_can_be_said(part: str, voiceless: bool) -> None:
    assert PartAvailability().fail(part, needed=True).voiceless == voiceless


def test_a_part_that_works_again_is_restored_wherever_it_stood() -> None:
    parts = PartAvailability().fail("listener", needed=True).fail("words", needed=False)
    assert parts.restore("words").failed == {"listener"}
    assert parts.restore("listener").failed == {"words"}
    assert parts.restore("speaker") == parts


def test_the_thinker_comes_and_goes() -> None:
    parts = PartAvailability().set_thinker(up=True)
    assert parts.thinker_up
    assert not parts.set_thinker(up=False).thinker_up

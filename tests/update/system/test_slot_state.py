"""What is known of the slots outlives a cut, and what cannot be read is nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from appliance.errors import InstallDeferred
from appliance.runtime.status import SupervisorStatus
from appliance.update.release.disk_changes import Disk
from appliance.update.system.slot_state import (
    SlotContent,
    SlotStateFile,
    SlotTrial,
    SlotTrialResult,
)

TRIAL = SlotTrial("b", "0.2.0", SupervisorStatus(pid=1, version="1.0.0", failed=("panel",)))


@pytest.fixture
def state(tmp_path: Path) -> SlotStateFile:
    made = SlotStateFile(tmp_path / "system")
    with made.locked():
        return made


def test_of_a_new_card_nothing_is_known(state: SlotStateFile) -> None:
    assert (state.content("a"), state.content("b"), state.trial(), state.last()) == (None,) * 4


def test_what_lies_whole_in_a_slot_is_known_until_it_is_unmarked(state: SlotStateFile) -> None:
    state.mark_complete("b", SlotContent("0.2.0", "a" * 64))
    assert state.content("b") == SlotContent("0.2.0", "a" * 64)
    assert state.content("a") is None
    state.unmark("b")
    state.unmark("b")  # again
    assert state.content("b") is None


def test_only_what_proved_well_and_was_not_left_may_be_gone_back_to(state: SlotStateFile) -> None:
    assert state.way_back("a", "") is None
    state.mark_complete("b", SlotContent("0.2.0", "a" * 64))
    assert state.way_back("a", "") is None
    state.mark_complete("b", SlotContent("0.2.0", "a" * 64, proved=True))
    assert state.way_back("a", "") == "0.2.0"
    assert state.way_back("a", "0.2.0") is None
    assert state.way_back("b", "") is None


def test_a_system_is_the_same_tried_or_not() -> None:
    one = SlotContent("0.2.0", "a" * 64)
    assert one.is_same(SlotContent("0.2.0", "a" * 64, proved=True))
    assert not one.is_same(SlotContent("0.2.0", "b" * 64))
    assert not one.is_same(None)


def test_a_trial_forgets_how_the_last_one_ended_and_ends_with_its_own(state: SlotStateFile) -> None:
    state.note(SlotTrialResult("0.1.9", "did not come up"))
    state.begin_trial(TRIAL)
    assert (state.trial(), state.last()) == (TRIAL, None)
    state.note(SlotTrialResult("0.2.0", "goes on"))
    assert state.trial() == TRIAL
    state.end_trial(SlotTrialResult("0.2.0"))
    assert (state.trial(), state.last()) == (None, SlotTrialResult("0.2.0"))


@pytest.mark.parametrize("data", [b"", b"{", b"\xff", b'{"slot": "c", "version": "1"}', b"[]"])
def test_a_trial_that_cannot_be_read_is_none_and_can_be_dropped(
    state: SlotStateFile, data: bytes
) -> None:
    (state.folder / "trial.json").write_bytes(data)
    assert state.trial() is None
    state.drop_trial()
    assert not (state.folder / "trial.json").exists()
    state.drop_trial()


def test_two_changes_at_once_are_one_too_many(state: SlotStateFile) -> None:
    with state.locked(), pytest.raises(InstallDeferred), state.locked():
        pass
    with state.locked():
        pass


class FullDisk(Disk):
    """One that takes so many changes."""

    def __init__(self, most: int) -> None:
        self._left = most

    def _done(self) -> None:
        self._left -= 1
        if self._left < 0:
            raise OSError(28, "No space left on device")


@pytest.mark.parametrize("most", range(4))
def test_a_write_that_is_cut_short_leaves_what_was_there_or_what_is_wanted(
    state: SlotStateFile, most: int
) -> None:
    before, after = SlotContent("0.1.0"), SlotContent("0.2.0")
    state.mark_complete("a", before)
    cut = SlotStateFile(state.folder, FullDisk(most))
    try:
        cut.mark_complete("a", after)
    except OSError:
        assert state.content("a") in (before, after)
    else:
        assert state.content("a") == after

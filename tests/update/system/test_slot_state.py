"""The slot state survives a power cut, and an unreadable state counts as none."""

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


def test_a_new_card_has_no_slot_state(state: SlotStateFile) -> None:
    assert (state.content("a"), state.content("b"), state.trial(), state.last()) == (None,) * 4


def test_the_content_of_a_complete_slot_is_known_until_it_is_unmarked(state: SlotStateFile) -> None:
    state.mark_complete("b", SlotContent("0.2.0", "a" * 64))
    assert state.content("b") == SlotContent("0.2.0", "a" * 64)
    assert state.content("a") is None
    state.unmark("b")
    state.unmark("b")  # again: no error
    assert state.content("b") is None


def test_only_a_proven_system_that_was_not_abandoned_is_a_way_back(state: SlotStateFile) -> None:
    assert state.way_back("a", "") is None
    state.mark_complete("b", SlotContent("0.2.0", "a" * 64))
    assert state.way_back("a", "") is None
    state.mark_complete("b", SlotContent("0.2.0", "a" * 64, proved=True))
    assert state.way_back("a", "") == "0.2.0"
    assert state.way_back("a", "0.2.0") is None
    assert state.way_back("b", "") is None


def test_contents_are_compared_without_their_proven_mark() -> None:
    content = SlotContent("0.2.0", "a" * 64)
    assert content.is_same(SlotContent("0.2.0", "a" * 64, proved=True))
    assert not content.is_same(SlotContent("0.2.0", "b" * 64))
    assert not content.is_same(None)


def test_a_new_trial_clears_the_last_result_and_records_its_own(state: SlotStateFile) -> None:
    state.note(SlotTrialResult("0.1.9", "did not come up"))
    state.begin_trial(TRIAL)
    assert (state.trial(), state.last()) == (TRIAL, None)
    state.note(SlotTrialResult("0.2.0", "goes on"))
    assert state.trial() == TRIAL
    state.end_trial(SlotTrialResult("0.2.0"))
    assert (state.trial(), state.last()) == (None, SlotTrialResult("0.2.0"))


@pytest.mark.parametrize("data", [b"", b"{", b"\xff", b'{"slot": "c", "version": "1"}', b"[]"])
def test_an_unreadable_trial_is_ignored_and_can_be_dropped(
    state: SlotStateFile, data: bytes
) -> None:
    (state.folder / "trial.json").write_bytes(data)
    assert state.trial() is None
    state.drop_trial()
    assert not (state.folder / "trial.json").exists()
    state.drop_trial()


def test_a_second_concurrent_change_is_deferred(state: SlotStateFile) -> None:
    with state.locked(), pytest.raises(InstallDeferred), state.locked():
        pass
    with state.locked():
        pass


class FullDisk(Disk):
    """A disk that is full after `most` changes."""

    def __init__(self, most: int) -> None:
        self._left = most

    def _done(self) -> None:
        self._left -= 1
        if self._left < 0:
            raise OSError(28, "No space left on device")


@pytest.mark.parametrize("most", range(4))
def test_an_interrupted_write_leaves_the_old_or_the_new_content(
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

"""Forgotten turns are not in the state saved for the next start, whenever they are forgotten."""

from __future__ import annotations

import pytest

from appliance.dialog.memory import Memory
from appliance.dialog.memory_erase import LastTurn, forget_all, forget_turn
from appliance.messages.thinking import RECALL_TIMES
from appliance.think.snapshot_schedule import PREPARE_S, WRITE_S
from tests.think.opened import gemma_of
from tests.think.recalling import KEEP, RECALLED, Begin, never, talk

STAGES = {"written": WRITE_S, "prepared": PREPARE_S}


@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize("last", [False, True])
def test_forgotten_turns_are_not_saved_at_a_stop_either(box: Begin, stage: str, last: bool) -> None:
    it = box()
    it.start()
    talk(it, 4)
    it.rest(STAGES[stage])
    it.memory.close()
    if last:
        forget_turn(it.file, KEEP, LastTurn())
    else:
        forget_all(it.file)
    assert it.states() == []  # before the thinker receives its message
    it.session.forget(last=last)
    it.settle()
    it.stop()
    assert it.states() == []


def test_turns_recalled_before_a_forget_are_not_written_after_it(box: Begin) -> None:
    """The thinker never receives the message to forget."""
    it = box()
    it.start()
    talk(it, 4)
    it.rest(PREPARE_S)
    it.memory.close()
    forget_turn(it.file, KEEP, LastTurn())
    it.memory = Memory(it.file, KEEP)
    it.session.record_heard(99, "", complete=True)
    it.now_s += PREPARE_S
    it.session.prepare_next_start(never)
    it.wait()
    it.session.prepare_next_start(never)  # requested again; no answer yet
    assert it.asked
    it.stop()
    assert it.states() == []


def test_after_forgetting_a_restored_turn_the_opening_is_not_read_again(box: Begin) -> None:
    first = box()
    first.start()
    talk(first, 4)
    first.rest(WRITE_S)
    second = box()
    second.start()
    before = gemma_of(second.model).read
    second.session.forget(last=True)
    second.settle()
    read = gemma_of(second.model).read - before
    assert read <= len(second.model._reader.held) - len(second.model._opening)


def test_a_state_whose_first_turn_is_too_old_is_erased(box: Begin) -> None:
    it = box()
    it.start()
    talk(it, RECALLED)
    it.rest(WRITE_S)
    for number in range(RECALLED, RECALL_TIMES * RECALLED):
        it.turn(number)
    it.wait()
    assert len(it.states()) == 1
    it.turn(99)
    it.wait()
    assert it.states() == []

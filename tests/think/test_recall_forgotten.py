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
def test_forgotten_turns_are_not_saved_at_a_stop_either(
    start_box: Begin, stage: str, last: bool
) -> None:
    box = start_box()
    box.start()
    talk(box, 4)
    box.rest(STAGES[stage])
    box.memory.close()
    if last:
        forget_turn(box.file, KEEP, LastTurn())
    else:
        forget_all(box.file)
    assert box.states() == []  # before the thinker receives its message
    box.session.forget(last=last)
    box.settle()
    box.stop()
    assert box.states() == []


def test_turns_recalled_before_a_forget_are_not_written_after_it(start_box: Begin) -> None:
    """The thinker never receives the message to forget."""
    box = start_box()
    box.start()
    talk(box, 4)
    box.rest(PREPARE_S)
    box.memory.close()
    forget_turn(box.file, KEEP, LastTurn())
    box.memory = Memory(box.file, KEEP)
    box.session.record_heard(99, "", complete=True)
    box.now_s += PREPARE_S
    box.session.prepare_next_start(never)
    box.wait()
    box.session.prepare_next_start(never)  # requested again; no answer yet
    assert box.asked
    box.stop()
    assert box.states() == []


def test_after_forgetting_a_restored_turn_the_opening_is_not_read_again(start_box: Begin) -> None:
    first = start_box()
    first.start()
    talk(first, 4)
    first.rest(WRITE_S)
    second = start_box()
    second.start()
    before = gemma_of(second.model).read
    second.session.forget(last=True)
    second.settle()
    read = gemma_of(second.model).read - before
    assert read <= len(second.model._reader.held) - len(second.model._opening)


def test_a_state_whose_first_turn_is_too_old_is_erased(start_box: Begin) -> None:
    box = start_box()
    box.start()
    talk(box, RECALLED)
    box.rest(WRITE_S)
    for number in range(RECALLED, RECALL_TIMES * RECALLED):
        box.turn(number)
    box.wait()
    assert len(box.states()) == 1
    box.turn(99)
    box.wait()
    assert box.states() == []

"""Which turns pruning drops. The size of a turn here is the number of its letters."""

from __future__ import annotations

from appliance.think.history import History, HistoryTurn
from appliance.think.pruning import HistoryPruning

BUDGET, LIMIT = 6000, 5400


def talk(*sizes: int) -> History:
    history = History()
    history.turns = [HistoryTurn(number, answer="x" * size) for number, size in enumerate(sizes)]
    return history


def size(history: History) -> int:
    return sum(len(turn.answer) for turn in history.turns)


def new_pruning() -> HistoryPruning:
    return HistoryPruning(BUDGET, LIMIT, size)


def test_while_there_is_room_nothing_is_pruned() -> None:
    assert new_pruning().shorter(talk(*[300] * 13)) is None  # 3,900 of 5,400: 1,500 are left


def test_with_a_quarter_left_the_turns_to_keep_are_chosen() -> None:
    pruning, history = new_pruning(), talk(*[300] * 14)
    shorter = pruning.shorter(history)
    assert shorter is not None
    assert not pruning.due(history)
    assert len(history.turns) == 14  # nothing dropped yet
    assert size(shorter) <= BUDGET // 2 - (LIMIT - 4200)  # it will grow by this


def test_the_choice_of_turns_stays_the_same_while_the_conversation_goes_on() -> None:
    pruning, history = new_pruning(), talk(*[300] * 14)
    before = pruning.shorter(history)
    assert before is not None
    shorter = before
    for number in range(14, 19):
        history.turns.append(HistoryTurn(number, answer="x" * 300))
        found = pruning.shorter(history)
        assert found is not None
        shorter = found
        assert shorter.turns[0] is before.turns[0]
        assert shorter.turns[-1] is history.turns[-1]
    assert pruning.due(history)
    pruning.drop(history, shorter)
    assert size(history) <= BUDGET // 2 + 300
    assert pruning.shorter(history) is None  # half of the budget is free again


def test_after_forgetting_the_turns_are_chosen_again() -> None:
    pruning = new_pruning()
    assert pruning.shorter(talk(*[300] * 14)) is not None
    assert pruning.shorter(talk()) is None
    other = talk(*[600] * 7)
    shorter = pruning.shorter(other)
    assert shorter is not None
    assert set(shorter.turns) < set(other.turns)


def test_a_single_turn_is_never_dropped() -> None:
    assert new_pruning().shorter(talk(9000)) is None


def test_the_last_turn_is_kept_whatever_its_length() -> None:
    history = talk(100, 9000)
    shorter = new_pruning().shorter(history)
    assert shorter is not None
    assert shorter.turns == history.turns[1:]

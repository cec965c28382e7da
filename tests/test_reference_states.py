"""The page about the parts of the dialogue state is complete and matches the state machine."""

from __future__ import annotations

import dataclasses
import functools
import inspect

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from appliance.dialog.state import DialogState
from appliance.dialog.state_machine import DialogEvent, Tick, handler_for
from appliance.messages.commands import StateName
from scripts import dialog_calls, reference_states
from scripts.dialog_parts import PARTS, StatePart
from tests.dialog.test_state_machine_walks import COMES, STEP, Walk

IDS = [part.field for part in PARTS]


def operations(kind: type) -> set[str]:
    """The methods of a part that return a changed copy."""
    return {
        name
        for name, method in inspect.getmembers(kind, inspect.isfunction)
        if not name.startswith("_") and method.__annotations__["return"] == kind.__name__
    }


@functools.cache  # not at import: every worker imports this file, and only one runs its tests
def functions() -> dialog_calls.Functions:
    return dialog_calls.read()


def changes(module: str, name: str) -> set[str]:
    """The fields of the state that a function may change."""
    return {field for field, _ in dialog_calls.all_changes(functions(), (module, name))}


@pytest.mark.parametrize("part", PARTS, ids=IDS)
def test_every_operation_has_a_row_and_is_applied_somewhere(part: StatePart) -> None:
    assert {operation.name for operation in part.operations} == operations(part.kind)
    for operation in part.operations:
        assert reference_states.appliers(functions(), part.field, operation.name), operation.name


def test_an_unused_operation_would_be_found() -> None:
    assert reference_states.appliers(functions(), "hold", "restart") == []


@pytest.mark.parametrize("part", PARTS, ids=IDS)
def test_the_example_value_of_every_phase_is_in_that_phase(part: StatePart) -> None:
    assert {name: part.phase(value) for name, value in part.phases.items()} == {
        name: name for name in part.phases
    }
    assert all(getattr(value, "consistent", True) for value in part.phases.values())


@pytest.mark.parametrize("part", PARTS, ids=IDS)
def test_every_phase_that_an_operation_leads_to_has_a_column(part: StatePart) -> None:
    after = {part.after(phase, operation) for phase in part.phases for operation in part.operations}
    assert after - {""} <= set(part.phases)


def test_every_value_object_of_the_state_has_a_table() -> None:
    kinds = {type(getattr(DialogState(), field.name)) for field in dataclasses.fields(DialogState)}
    shown = {part.kind for part in PARTS}
    assert {kind.__name__ for kind in kinds if operations(kind)} <= {
        kind.__name__ for kind in shown
    }


@pytest.mark.parametrize(
    ("module", "name", "may", "may_not"),
    [
        ("on_command", "pass_volume", {"volume"}, {"state", "hold"}),
        ("on_failure", "thinker_ready", {"parts"}, {"answer"}),
        ("on_user_speech", "hold_output", {"hold"}, {"state", "answer"}),
        ("on_failure", "part_changed", {"cut", "hold", "parts"}, {"volume"}),  # by its table _LOSE
        ("transition", "stop_all", {"ringing", "queue", "speech"}, {"parts"}),
    ],
)
def test_the_changes_of_a_function_include_those_of_its_callees(
    module: str, name: str, may: set[str], may_not: set[str]
) -> None:
    found = changes(module, name)
    assert may <= found
    assert not may_not & found


def may_change(message: DialogEvent, state: StateName) -> set[str]:
    """The fields that the page names: changes of the handler and of the step after it."""
    sent_always = changes("on_listening_mode", "send_listening_mode")
    if isinstance(message, Tick):
        return sent_always | changes("state_machine", "_tick")
    handler = handler_for(message, state)
    if handler is None:
        return sent_always
    return sent_always | changes(handler.__module__.rpartition(".")[2], handler.__name__)


@settings(max_examples=60, deadline=None)
@given(st.lists(STEP, max_size=40))
def test_no_handler_changes_more_than_the_page_says(
    steps: list[tuple[int, int, int, float]],
) -> None:
    walk = Walk()
    for kind, a, b, after_s in steps:
        before = walk.talk.it
        message = COMES[kind](walk, a, b)
        walk.talk(message, after_s=after_s)
        changed = {
            field.name
            for field in dataclasses.fields(DialogState)
            if getattr(before, field.name) != getattr(walk.talk.it, field.name)
        }
        assert changed <= may_change(message, before.state), message

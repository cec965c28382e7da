"""Changes of what a module holds are named, and undone; caches of its functions are emptied."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from appliance.language import catalogue
from tests.module_state import ModuleState

SOURCE = """
import functools
import numpy
number, numbers, table, names, ramp = 1, [1, 2], {"a": [1]}, {"x"}, numpy.arange(3)

class Part:
    limit = 5

    @functools.lru_cache
    def twice(self, value): return 2 * value

@functools.cache
def half(value): return value / 2
"""


@pytest.fixture
def imported(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Any]:
    def add(name: str) -> ModuleType:
        module = ModuleType(name)
        monkeypatch.setitem(sys.modules, name, module)
        exec(SOURCE, vars(module))  # noqa: S102  # an import without a file
        return module

    return add


@pytest.fixture
def ours(imported: Callable[[str], Any]) -> Any:
    return imported("ours.thing")


@pytest.fixture
def state(ours: Any) -> ModuleState:
    watched = ModuleState(("ours",))
    assert watched.changes() == []
    return watched


def replace(ours: Any) -> None:
    ours.number = 2


def replace_by_another_array(ours: Any) -> None:
    ours.ramp = np.arange(4)


def add(ours: Any) -> None:
    ours.added = None


def remove(ours: Any) -> None:
    del ours.half


def change_a_class(ours: Any) -> None:
    ours.Part.limit = 6


def change_a_list(ours: Any) -> None:
    ours.numbers[0] = 7


def change_a_dict(ours: Any) -> None:
    ours.table["b"] = []


def change_a_set(ours: Any) -> None:
    ours.names.clear()


@pytest.mark.parametrize(
    ("change", "name"),
    [
        (replace, "ours.thing.number"),
        (replace_by_another_array, "ours.thing.ramp"),
        (add, "ours.thing.added"),
        (remove, "ours.thing.half"),
        (change_a_class, "ours.thing.Part.limit"),
        (change_a_list, "the contents of ours.thing.numbers"),
        (change_a_dict, "the contents of ours.thing.table"),
        (change_a_set, "the contents of ours.thing.names"),
    ],
)
def test_a_change_is_named_once_and_undone(
    ours: Any, state: ModuleState, change: Callable[[Any], None], name: str
) -> None:
    before = ours.number, ours.half, ours.Part.limit, [*ours.numbers], {**ours.table}, {*ours.names}
    change(ours)
    ((found, undo),) = state.changes()
    assert found == name
    undo()
    assert before == (
        ours.number, ours.half, ours.Part.limit, ours.numbers, ours.table, ours.names,
    )  # fmt: skip
    assert ours.ramp.tolist() == [0, 1, 2]
    assert not hasattr(ours, "added")
    assert state.changes() == []


def test_a_change_that_is_not_undone_is_named_only_once(ours: Any, state: ModuleState) -> None:
    ours.number = 2
    ours.numbers.append(3)
    assert len(state.changes()) == 2
    assert state.changes() == []


def test_the_import_of_a_submodule_is_no_change(
    ours: Any, state: ModuleState, imported: Callable[[str], Any]
) -> None:
    ours.part = imported("ours.thing.part")
    assert state.changes() == []


def test_a_module_is_watched_from_the_first_look_after_its_import(
    state: ModuleState, imported: Callable[[str], Any]
) -> None:
    late, foreign = imported("ours.late"), imported("others.late")
    assert state.changes() == []
    late.number = foreign.number = 2
    assert [name for name, _ in state.changes()] == ["ours.late.number"]


def test_caches_of_functions_and_methods_are_emptied_and_those_of_others_are_not(
    ours: Any, imported: Callable[[str], Any]
) -> None:
    others = ours.theirs = imported("others.thing").half  # as `from others.thing import half`
    state = ModuleState(("ours",))
    state.changes()
    caches = [ours.half, ours.Part.twice, others]
    for cached in caches:
        cached(*[4] * (2 if cached is ours.Part.twice else 1))
    state.clear_caches()
    assert [cached.cache_info().currsize for cached in caches] == [0, 0, 1]


def test_the_caches_of_the_product_are_found() -> None:
    state = ModuleState(("appliance",))
    state.changes()
    assert catalogue.languages() == catalogue.languages()
    assert isinstance(catalogue.languages, functools._lru_cache_wrapper)
    state.clear_caches()
    assert catalogue.languages.cache_info().currsize == 0

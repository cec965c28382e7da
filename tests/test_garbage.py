"""The collected tests are excluded from garbage collection; garbage of a test is not."""

from __future__ import annotations

import gc
import weakref

import pytest


class Circle:
    """Refers to itself, so that only the garbage collector frees it."""

    def __init__(self) -> None:
        self.itself = self


@pytest.mark.long
def test_objects_created_during_collection_are_frozen(request: pytest.FixtureRequest) -> None:
    assert gc.isenabled()
    assert gc.get_freeze_count() > 10_000
    traversed = {id(item) for item in gc.get_objects()}
    assert id(request.config) not in traversed


def test_garbage_of_a_test_is_collected() -> None:
    reference = weakref.ref(Circle())
    gc.collect()
    assert reference() is None

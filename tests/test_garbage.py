"""The tests themselves are no garbage; what a test leaves behind is."""

from __future__ import annotations

import gc
import weakref

import pytest


class Circle:
    """Refers to itself, so that only the collector finds it."""

    def __init__(self) -> None:
        self.itself = self


@pytest.mark.long
def test_what_was_collected_is_frozen(request: pytest.FixtureRequest) -> None:
    assert gc.isenabled()
    assert gc.get_freeze_count() > 10_000
    looked_through = {id(one) for one in gc.get_objects()}
    assert id(request.config) not in looked_through


def test_what_a_test_leaves_behind_is_found() -> None:
    gone = weakref.ref(Circle())
    gc.collect()
    assert gone() is None

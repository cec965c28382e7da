"""Temporary files of tests lie in memory where there is room, and else where TMPDIR says."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import psutil
import pytest

from tests.in_memory import MEMORY, PLACE, has_room

PLENTY = 4 * MEMORY


@pytest.mark.parametrize("available", [0, MEMORY - 1])
def test_little_memory_is_not_used(available: int) -> None:
    assert not has_room(PLACE, available)


def test_a_place_that_is_missing_small_or_not_writable_is_not_used(tmp_path: Path) -> None:
    assert not has_room(tmp_path / "missing", PLENTY)
    assert not has_room(Path("/proc"), PLENTY)
    assert not has_room(tmp_path, PLENTY, room=1 << 60)
    assert has_room(tmp_path, PLENTY, room=1)


def test_these_tests_are_in_memory_if_it_has_room(tmp_path: Path) -> None:
    if has_room(PLACE, psutil.virtual_memory().available):
        assert tmp_path.is_relative_to(os.environ["TMPDIR"])
    if "TMPDIR" in os.environ:  # pytest asked for the temporary folder before the plugin set it
        assert tempfile.gettempdir() == os.environ["TMPDIR"]

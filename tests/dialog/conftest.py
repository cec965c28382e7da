"""Fixtures of the dialogue's tests: the memory's file, and a conductor as a process."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.dialog.conductor_box import Box, settings_in


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "memory" / "memory.db"


@pytest.fixture
def box(tmp_path: Path) -> Iterator[Box]:
    """A running conductor whose model is loaded."""
    box = Box(settings_in(tmp_path))
    box.load_model()
    yield box
    box.close()

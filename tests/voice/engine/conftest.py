"""A fixture that makes signed bundles."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.update.release.workshop import Workshop
from tests.voice.engine.workshop import Bench


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    folder = tmp_path / "workshop"
    folder.mkdir()
    return Bench(Workshop(folder), tmp_path / "voices")

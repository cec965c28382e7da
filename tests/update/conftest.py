from __future__ import annotations

from pathlib import Path

import pytest

from tests.update.release.workshop import Bench, bench


@pytest.fixture
def at(tmp_path: Path) -> Bench:
    """A machine without an installed release, with a workshop that makes signed ones."""
    return bench(tmp_path)

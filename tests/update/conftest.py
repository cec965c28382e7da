from __future__ import annotations

from pathlib import Path

import pytest

from tests.update.release.workshop import Bench, bench


@pytest.fixture
def at(tmp_path: Path) -> Bench:
    """A box without a release, and a workshop."""
    return bench(tmp_path)

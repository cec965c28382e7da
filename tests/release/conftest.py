from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.release.workshop import Bench, bench


@pytest.fixture
def at(tmp_path: Path) -> Bench:
    """A box without a release, and a workshop."""
    if shutil.which("ssh-keygen") is None:
        pytest.skip("no ssh-keygen on this machine")
    return bench(tmp_path)

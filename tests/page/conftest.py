"""A page without sockets, for each test its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.page.desk import Desk


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)

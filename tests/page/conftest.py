"""A page without sockets, a new one for each test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.page.desk import Desk
from tests.page.served import Served, served_desk


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


@pytest.fixture
def served(desk: Desk) -> Iterator[Served]:
    one = served_desk(desk)
    yield one
    one.close()

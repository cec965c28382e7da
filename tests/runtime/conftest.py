"""Fixtures for supervisor tests with small real processes."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from appliance import settings
from appliance.runtime.supervisor import Supervisor
from tests.runtime.small_parts import DOUBLE, ROOT, Make, row


@pytest.fixture
def parts(tmp_path: Path) -> Iterator[Make]:
    """Make a supervisor over small real processes: `parts({"name": "mode"})`."""
    made: list[Supervisor] = []

    def make(
        modes: dict[str, str],
        silent_s: float = 5.0,
        needed: bool = True,
        start_s: float = 15.0,
        own: settings.Settings | None = None,
    ) -> Supervisor:
        package = tmp_path / "doubles"
        package.mkdir()
        (package / "__init__.py").touch()
        for name, mode in modes.items():
            (package / f"{name}.py").write_text(DOUBLE.format(mode=mode))
        supervisor = Supervisor(
            own or settings.load_defaults(),
            rows=tuple(row(name, silent_s, needed, start_s) for name in modes),
            environment={**os.environ, "PYTHONPATH": f"{tmp_path}:{ROOT}"},
        )
        made.append(supervisor)
        return supervisor

    yield make
    for supervisor in made:
        supervisor.stop_all()
        supervisor.close()

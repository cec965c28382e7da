from __future__ import annotations

from pathlib import Path

import pytest

from tests.update.system.workshop import Bench, Foundry, bench, foundry


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Foundry:
    return foundry(tmp_path_factory.mktemp("systems"))


@pytest.fixture
def at(tmp_path: Path, made: Foundry) -> Bench:
    """A card that runs system 0.1.0 from slot a."""
    return bench(tmp_path, made)

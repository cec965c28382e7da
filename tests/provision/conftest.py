from __future__ import annotations

from pathlib import Path

import pytest

from appliance.provision.apply_seed import ProvisionTarget
from tests.provision.ground import shipped
from tests.provision.setup_scene import Scene


@pytest.fixture
def ground(tmp_path: Path) -> ProvisionTarget:
    return shipped(tmp_path)


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    for name in ("root", "page"):
        (tmp_path / name).mkdir()
    return Scene(tmp_path / "root", tmp_path / "page")

from __future__ import annotations

from pathlib import Path

import pytest

from appliance.provision.apply_seed import ProvisionTarget


@pytest.fixture
def ground(tmp_path: Path) -> ProvisionTarget:
    """A box's root with the settings as they are shipped, and one time zone."""
    root = tmp_path / "root"
    (root / "etc/interlude").mkdir(parents=True)
    shipped = Path(__file__).parents[2] / "system/etc/interlude/settings.yaml"
    (root / "etc/interlude/settings.yaml").write_text(shipped.read_text())
    zone = root / "usr/share/zoneinfo/Europe/Berlin"
    zone.parent.mkdir(parents=True)
    zone.touch()
    (tmp_path / "keep").mkdir()
    return ProvisionTarget(root, tmp_path / "keep")

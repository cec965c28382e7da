"""The root folder of a box with the shipped settings and one time zone."""

from __future__ import annotations

from pathlib import Path

from appliance.provision.apply_seed import ProvisionTarget


def shipped(folder: Path) -> ProvisionTarget:
    root = folder / "root"
    (root / "etc/interlude").mkdir(parents=True)
    settings = Path(__file__).parents[2] / "system/etc/interlude/settings.yaml"
    (root / "etc/interlude/settings.yaml").write_text(settings.read_text())
    zone = root / "usr/share/zoneinfo/Europe/Berlin"
    zone.parent.mkdir(parents=True)
    zone.touch()
    (folder / "keep").mkdir()
    return ProvisionTarget(root, folder / "keep")

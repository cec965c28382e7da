"""The manifest of a release: `release.json`, signed, written last when a release is unpacked."""

from __future__ import annotations

from pathlib import Path

from appliance.errors import ReleaseRefused
from appliance.update.signed_manifest import TreeManifest, parse_manifest

NAME = "release.json"
SIGNATURES = f"{NAME}.sig"  # kept beside it


class ReleaseManifest(TreeManifest, frozen=True):
    """The manifest of a release. `version`: of the Python package in it."""


def parse(data: bytes) -> ReleaseManifest:
    """The manifest in `data`. Raises ReleaseRefused."""
    return parse_manifest(data, ReleaseManifest, NAME)


def read(folder: Path) -> ReleaseManifest | None:
    """The manifest of an unpacked release; None for a folder without a complete one."""
    try:
        return parse((folder / NAME).read_bytes())
    except (OSError, ReleaseRefused):
        return None

"""What a release says of itself: `release.json`, signed, and the last file that is unpacked."""

from __future__ import annotations

from pathlib import Path

from appliance.errors import ReleaseRefused
from appliance.update.signed_manifest import TreeManifest, parse_manifest

NAME = "release.json"


class ReleaseManifest(TreeManifest, frozen=True):
    """One release. `version`: of the package in it."""


def parse(data: bytes) -> ReleaseManifest:
    """The manifest in `data`. Raises ReleaseRefused."""
    return parse_manifest(data, ReleaseManifest, NAME)


def read(folder: Path) -> ReleaseManifest | None:
    """Of an unpacked release; None for a folder that is not a whole one."""
    try:
        return parse((folder / NAME).read_bytes())
    except (OSError, ReleaseRefused):
        return None

"""Releases that no look for a new one brings again by itself: they failed their health check on
trial here, or somebody went back from them.

Root notes them in a file beside the releases, which everybody may read. Not in the note of
/usr/lib/interlude/fallback.py: that program is the system's, may be older than the release, takes a
note with a field more for a damaged one, and begins a new one with every release that is kept. A
request by hand tries such a release all the same; once it or a newer one is kept, it is forgiven.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import msgspec

from appliance.errors import ReleaseRefused
from appliance.record_file import read_record
from appliance.update.release.disk_changes import Disk
from appliance.update.signed_manifest import TreeManifest, version_key

NOTE = "rejected.json"
MOST = 16  # noted; of more, those that were noted first are forgotten

RejectionCause = Literal["failed", "returned"]  # its health check; or somebody went back from it


class RejectedRelease(msgspec.Struct, frozen=True):
    """One of them. `tree_sha256`: as its manifest says; "" where that could not be read."""

    version: str
    why: RejectionCause
    tree_sha256: str = ""

    def is_tree_of(self, manifest: TreeManifest | None) -> bool:
        """Whether that is this very release; one that says nothing of itself counts as it."""
        return manifest is None or self.tree_sha256 in ("", manifest.tree_sha256)


class RejectedReleases(msgspec.Struct, frozen=True):
    """What the note holds, the newest entry last."""

    releases: tuple[RejectedRelease, ...] = ()


def find(root: Path, version: str) -> RejectedRelease | None:
    """What is noted of that version below `root`; None for nothing, or a note that is damaged."""
    found = (one for one in _noted(root) if one.version == version)
    return next(found, None)


def reject(root: Path, release: RejectedRelease, disk: Disk) -> None:
    """Note it, in place of what was noted of its version. Raises OSError."""
    others = [one for one in _noted(root) if one.version != release.version]
    _write(root, (*others, release), disk)


def forgive(root: Path, kept: str, disk: Disk) -> None:
    """`kept` proved well: forget it, and all that is older. Raises OSError."""
    noted = _noted(root)
    left = tuple(one for one in noted if is_newer(one.version, kept))
    if left != noted:
        _write(root, left, disk)


def is_newer(version: str, kept: str) -> bool:
    """Whether it is; not, if either is no version."""
    try:
        return version_key(version) > version_key(kept)
    except ReleaseRefused:
        return False


def _noted(root: Path) -> tuple[RejectedRelease, ...]:
    return (read_record(root / NOTE, RejectedReleases) or RejectedReleases()).releases


def _write(root: Path, releases: tuple[RejectedRelease, ...], disk: Disk) -> None:
    note = RejectedReleases(releases[-MOST:])
    disk.write_whole(root / NOTE, msgspec.json.encode(note))

"""Releases that automatic updates skip: they failed their trial here, or were rolled back by hand.

Root notes them in a file beside the releases that every user may read. The note of
/usr/lib/interlude/fallback.py cannot hold them: that program belongs to the system and may be older
than the release, treats a note with an unknown field as damaged, and starts a new note with every
release that is kept. A manual request still tries such a release. Its entry is removed once it or a
newer one is kept.
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
REQUESTED_S = 7 * 86_400.0  # so long a part of the box can keep an update away by its request
MOST = 16  # entries; beyond that the oldest are dropped

RejectionCause = Literal["failed", "returned"]  # failed its health check; or was rolled back


class RejectedRelease(msgspec.Struct, frozen=True):
    """One entry.

    tree_sha256  from its manifest; "" if that could not be read
    asked_by     the user whose note requested the return; "" for root's command
    at_s         time of that, by the wall clock; 0 if unknown
    """

    version: str
    why: RejectionCause
    tree_sha256: str = ""
    asked_by: str = ""
    at_s: float = 0.0

    def holds(self, now_s: float) -> bool:
        """Whether automatic updates still skip the release: for good, but a return that a user
        without privileges requested only for REQUESTED_S. A clock that was set back ends it."""
        requested = self.why == "returned" and self.asked_by
        return not requested or 0.0 <= now_s - self.at_s < REQUESTED_S

    def is_tree_of(self, manifest: TreeManifest | None) -> bool:
        """Whether `manifest` is of the same tree; without a manifest or checksum, it counts so."""
        return manifest is None or self.tree_sha256 in ("", manifest.tree_sha256)


class RejectedReleases(msgspec.Struct, frozen=True):
    """The content of the note, the newest entry last."""

    releases: tuple[RejectedRelease, ...] = ()


def find(root: Path, version: str) -> RejectedRelease | None:
    """The entry of that version; None if there is none, or the note is damaged."""
    entries = (entry for entry in _entries(root) if entry.version == version)
    return next(entries, None)


def skipped(root: Path, version: str, now_s: float) -> RejectedRelease | None:
    """The entry of a release that automatic updates skip at that time, by the wall clock."""
    entry = find(root, version)
    return entry if entry is not None and entry.holds(now_s) else None


def reject(root: Path, release: RejectedRelease, disk: Disk) -> None:
    """Add an entry, in place of an earlier one of its version. Raises OSError."""
    others = [entry for entry in _entries(root) if entry.version != release.version]
    _write(root, (*others, release), disk)


def forgive(root: Path, kept: str, disk: Disk) -> None:
    """Remove the entries of `kept`, which passed its trial, and of older versions. Raises
    OSError."""
    entries = _entries(root)
    remaining = tuple(entry for entry in entries if is_newer(entry.version, kept))
    if remaining != entries:
        _write(root, remaining, disk)


def is_newer(version: str, kept: str) -> bool:
    """Whether `version` is newer than `kept`; False if one of them is not a version."""
    try:
        return version_key(version) > version_key(kept)
    except ReleaseRefused:
        return False


def _entries(root: Path) -> tuple[RejectedRelease, ...]:
    return (read_record(root / NOTE, RejectedReleases) or RejectedReleases()).releases


def _write(root: Path, releases: tuple[RejectedRelease, ...], disk: Disk) -> None:
    note = RejectedReleases(releases[-MOST:])
    disk.write_whole(root / NOTE, msgspec.json.encode(note))

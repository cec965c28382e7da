"""The manifest of a system: `system.json`, signed, the first part of its archive."""

from __future__ import annotations

from typing import Annotated

import msgspec

from appliance.update.signed_manifest import SignedManifest, parse_manifest

NAME = "system.json"


class PartitionContent(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Size in bytes and checksum of a partition's content."""

    bytes: Annotated[int, msgspec.Meta(gt=0)]
    sha256: Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f]{64}$")]


class SystemManifest(SignedManifest, frozen=True):
    """The manifest of a system. `version`: IMAGE_VERSION in its os-release.

    boot     a FAT file system, made for slot a; its cmdline.txt is changed for slot b
    system   the read-only root file system, erofs
    """

    boot: PartitionContent
    system: PartitionContent

    @property
    def python(self) -> str:
        return "any"  # a system contains its own Python


def parse(data: bytes) -> SystemManifest:
    """The manifest in `data`. Raises ReleaseRefused."""
    return parse_manifest(data, SystemManifest, NAME)

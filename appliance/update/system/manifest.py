"""What a system says of itself: `system.json`, signed, first in its archive."""

from __future__ import annotations

from typing import Annotated

import msgspec

from appliance.update.signed_manifest import SignedManifest, parse_manifest

NAME = "system.json"


class PartitionContent(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What goes into one partition: its bytes, and their checksum."""

    bytes: Annotated[int, msgspec.Meta(gt=0)]
    sha256: Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f]{64}$")]


class SystemManifest(SignedManifest, frozen=True):
    """One system. `version`: IMAGE_VERSION in its os-release.

    boot     a FAT file system as slot a has it; what names the slot is changed for slot b
    system   the read-only root, erofs
    """

    boot: PartitionContent
    system: PartitionContent

    @property
    def python(self) -> str:
        return "any"  # it brings its own


def parse(data: bytes) -> SystemManifest:
    """The manifest in `data`. Raises ReleaseRefused."""
    return parse_manifest(data, SystemManifest, NAME)

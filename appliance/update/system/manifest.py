"""What a system says of itself: `system.json`, signed, first in its archive."""

from __future__ import annotations

from typing import Annotated

import msgspec

from appliance.errors import ReleaseRefused
from appliance.update.release.manifest import LAST_S, version_key

NAME = "system.json"


class PartitionContent(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What goes into one partition: its bytes, and their checksum."""

    bytes: Annotated[int, msgspec.Meta(gt=0)]
    sha256: Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f]{64}$")]


class SystemManifest(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One system.

    version  IMAGE_VERSION in its os-release
    machine  as `uname -m` says
    made_s   when, in seconds since 1970
    boot     a FAT file system as slot a has it; what names the slot is changed for slot b
    system   the read-only root, erofs
    """

    version: str
    machine: str
    made_s: Annotated[int, msgspec.Meta(ge=0, le=LAST_S)]
    boot: PartitionContent
    system: PartitionContent

    @property
    def python(self) -> str:
        return "any"  # it brings its own

    def encode(self) -> bytes:
        return msgspec.json.format(msgspec.json.encode(self), indent=2) + b"\n"


def parse(data: bytes) -> SystemManifest:
    """The manifest in `data`. Raises ReleaseRefused."""
    try:
        manifest = msgspec.json.decode(data, type=SystemManifest)
    except msgspec.DecodeError as error:
        raise ReleaseRefused(f"Its {NAME} is no manifest of ours: {error}.") from error
    version_key(manifest.version)
    return manifest

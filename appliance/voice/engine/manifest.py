"""The manifest of a bundle of a voice's program: `voice.json`, signed, and unpacked last."""

from __future__ import annotations

import platform
import sys
from pathlib import Path
from typing import Annotated

import msgspec

from appliance.errors import ReleaseRefused
from appliance.update.signed_manifest import TreeManifest, parse_manifest
from appliance.voice.protocol_version import PROTOCOL

NAME = "voice.json"
_Name = Annotated[str, msgspec.Meta(pattern=r"^[a-z0-9][a-z0-9-]{0,39}$")]


class EngineManifest(TreeManifest, frozen=True):
    """One bundle. `version`: of the Interlude tree from which it was made.

    engine    whose voices it speaks: piper
    protocol  version of the protocol that it speaks (voice/protocol.py)
    licence   of the complete program
    voices    included in the bundle; it also speaks the voices of the box's model store
    """

    engine: _Name
    protocol: int
    licence: Annotated[str, msgspec.Meta(max_length=100)]
    voices: Annotated[tuple[_Name, ...], msgspec.Meta(max_length=20)] = ()


def parse(data: bytes) -> EngineManifest:
    """The manifest in `data`. Raises ReleaseRefused."""
    return parse_manifest(data, EngineManifest, NAME, "of a voice's program")


def read(folder: Path) -> EngineManifest | None:
    """The manifest of an unpacked bundle; None for a folder that is not a complete one."""
    try:
        return parse((folder / NAME).read_bytes())
    except (OSError, ReleaseRefused):
        return None


def unfit(manifest: EngineManifest) -> str:
    """Why this box cannot run it, as a sentence; "" if it can."""
    machine, python = platform.machine(), f"{sys.version_info.major}.{sys.version_info.minor}"
    if manifest.machine not in ("any", machine):
        return f"The voice program is made for {manifest.machine}; this box is {machine}."
    if manifest.python not in ("any", python):
        return f"The voice program is made for Python {manifest.python}; this box has {python}."
    if manifest.protocol != PROTOCOL:
        return f"The voice program speaks protocol {manifest.protocol}; this box knows {PROTOCOL}."
    return ""

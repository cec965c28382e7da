"""What a bundle of a voice's program says of itself: `voice.json`, signed, and unpacked last."""

from __future__ import annotations

import platform
import sys
from pathlib import Path
from typing import Annotated

import msgspec

from appliance.errors import ReleaseRefused
from appliance.update.release.manifest import LAST_S, version_key
from appliance.voice.protocol import PROTOCOL

NAME = "voice.json"
_Name = Annotated[str, msgspec.Meta(pattern=r"^[a-z0-9][a-z0-9-]{0,39}$")]
_Sum = Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f]{64}$")]


class EngineManifest(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One bundle.

    engine       whose voices it speaks: piper
    version      of Interlude, whose tree it was made from
    protocol     that it speaks (voice/protocol.py)
    licence      of the program as a whole
    voices       that lie in it, ready to speak; the box's own models are spoken, too
    machine      as `uname -m` says; "any" if there is no machine code in it
    python       major.minor that it needs; "any" likewise
    made_s       when, in seconds since 1970
    tree_sha256  of the packed tree
    tree_bytes   of the packed tree
    files_bytes  of all files when unpacked
    """

    engine: _Name
    version: str
    protocol: int
    licence: Annotated[str, msgspec.Meta(max_length=100)]
    voices: Annotated[tuple[_Name, ...], msgspec.Meta(max_length=20)] = ()
    machine: str
    python: str
    made_s: Annotated[int, msgspec.Meta(ge=0, le=LAST_S)]
    tree_sha256: _Sum
    tree_bytes: Annotated[int, msgspec.Meta(ge=0)]
    files_bytes: Annotated[int, msgspec.Meta(ge=0)]

    def encode(self) -> bytes:
        return msgspec.json.format(msgspec.json.encode(self), indent=2) + b"\n"


def parse(data: bytes) -> EngineManifest:
    """The manifest in `data`. Raises ReleaseRefused."""
    try:
        manifest = msgspec.json.decode(data, type=EngineManifest)
    except msgspec.DecodeError as error:
        raise ReleaseRefused(f"Its {NAME} is no manifest of a voice's program: {error}.") from error
    version_key(manifest.version)
    return manifest


def read(folder: Path) -> EngineManifest | None:
    """Of an unpacked bundle; None for a folder that is not a whole one."""
    try:
        return parse((folder / NAME).read_bytes())
    except (OSError, ReleaseRefused):
        return None


def unfit(manifest: EngineManifest) -> str:
    """Why this box cannot run it, a sentence; "" if it can."""
    machine, python = platform.machine(), f"{sys.version_info.major}.{sys.version_info.minor}"
    if manifest.machine not in ("any", machine):
        return f"The voice program is made for {manifest.machine}; this box is {machine}."
    if manifest.python not in ("any", python):
        return f"The voice program is made for Python {manifest.python}; this box has {python}."
    if manifest.protocol != PROTOCOL:
        return f"The voice program speaks protocol {manifest.protocol}; this box knows {PROTOCOL}."
    return ""

"""What a release says of itself: `release.json`, signed, and the last file that is unpacked."""

from __future__ import annotations

import platform
import re
import sys
import time
from pathlib import Path
from typing import Annotated, Protocol

import msgspec

from appliance.errors import ReleaseRefused

NAME = "release.json"
MOST_BYTES = 65_536  # of a manifest; ours have 300
LAST_S = 253_402_300_799  # the end of the year 9999, and of what calendars are written for
CLOCK_SLACK_S = 86_400.0  # a builder's clock may be ahead by a time zone's mistake

_VERSION = re.compile(r"(\d{1,6})\.(\d{1,6})\.(\d{1,6})(?:(a|b|rc)(\d{1,6}))?")
_FINAL = "~"  # sorts after a, b and rc
VersionKey = tuple[int, int, int, str, int]


def version_key(version: str) -> VersionKey:
    """What sorts versions: 0.2.0a1 < 0.2.0rc1 < 0.2.0 < 0.10.0. Raises ReleaseRefused."""
    found = _VERSION.fullmatch(version)
    if found is None:
        raise ReleaseRefused(f"`{version}` is no version, such as 1.2.3 or 1.2.3rc1.")
    major, minor, patch, kind, number = found.groups()
    return int(major), int(minor), int(patch), kind or _FINAL, int(number or 0)


class CompatibilityInfo(Protocol):
    """What decides whether something is for this box; see ReleaseManifest."""

    @property
    def version(self) -> str: ...
    @property
    def machine(self) -> str: ...
    @property
    def python(self) -> str: ...
    @property
    def made_s(self) -> int: ...


class ReleaseManifest(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One release.

    version      of the package in it
    machine      as `uname -m` says; "any" if there is no machine code in it
    python       major.minor that it was compiled for; "any" likewise
    made_s       when, in seconds since 1970
    tree_sha256  of the packed tree
    tree_bytes   of the packed tree
    files_bytes  of all files when unpacked
    """

    version: str
    machine: str
    python: str
    made_s: Annotated[int, msgspec.Meta(ge=0, le=LAST_S)]
    tree_sha256: Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f]{64}$")]
    tree_bytes: Annotated[int, msgspec.Meta(ge=0)]
    files_bytes: Annotated[int, msgspec.Meta(ge=0)]

    def encode(self) -> bytes:
        return msgspec.json.format(msgspec.json.encode(self), indent=2) + b"\n"


def parse(data: bytes) -> ReleaseManifest:
    """The manifest in `data`. Raises ReleaseRefused."""
    try:
        manifest = msgspec.json.decode(data, type=ReleaseManifest)
    except msgspec.DecodeError as error:
        raise ReleaseRefused(f"Its {NAME} is no manifest of ours: {error}.") from error
    version_key(manifest.version)
    return manifest


def read(folder: Path) -> ReleaseManifest | None:
    """Of an unpacked release; None for a folder that is not a whole one."""
    try:
        return parse((folder / NAME).read_bytes())
    except (OSError, ReleaseRefused):
        return None


def fits(
    manifest: CompatibilityInfo,
    kept: str | None,
    *,
    downgrade: bool,
    now_s: float,
    back: str = "interlude release rollback",
) -> None:
    """Raises ReleaseRefused if the release is not for this box, or not for now.

    `kept`: the version that the box has now. `now_s`: by the clock on the wall. `back`: the command
    that goes back to an older one.
    """
    machine, python = platform.machine(), f"{sys.version_info.major}.{sys.version_info.minor}"
    if manifest.machine not in ("any", machine):
        raise ReleaseRefused(f"It is made for {manifest.machine}; this box is {machine}.")
    if manifest.python not in ("any", python):
        raise ReleaseRefused(f"It is made for Python {manifest.python}; this box has {python}.")
    if kept and not downgrade and version_key(manifest.version) < version_key(kept):
        problem = f"{manifest.version} is older than {kept}, which is installed."
        raise ReleaseRefused(problem, f"To go back: `{back}`, or --downgrade.")
    if now_s < manifest.made_s - CLOCK_SLACK_S:
        clock = time.strftime("%d %B %Y", time.gmtime(now_s))
        made = time.strftime("%d %B %Y", time.gmtime(manifest.made_s))
        problem = f"This box's clock says {clock}, and the release was made on {made}."
        raise ReleaseRefused(problem, "Set the clock (`timedatectl`) and try again.")

"""Manifests of signed archives: common fields, parsing, and whether one fits this box."""

from __future__ import annotations

import platform
import re
import sys
import time
from typing import Annotated, Protocol, TypeVar

import msgspec

from appliance.errors import ReleaseRefused, ShownAs
from appliance.record_file import UNREADABLE

LAST_S = 253_402_300_799  # the end of the year 9999, the limit of common calendar functions
CLOCK_SLACK_S = 86_400.0  # a builder's clock may be ahead by a wrong time zone

_VERSION = re.compile(r"(\d{1,6})\.(\d{1,6})\.(\d{1,6})(?:(a|b|rc)(\d{1,6}))?")
_FINAL = "~"  # sorts after a, b and rc
VersionKey = tuple[int, int, int, str, int]


def version_key(version: str) -> VersionKey:
    """The sort key of a version: 0.2.0a1 < 0.2.0rc1 < 0.2.0 < 0.10.0. Raises ReleaseRefused."""
    found = _VERSION.fullmatch(version)
    if found is None:
        raise ReleaseRefused(f"`{version}` is no version, such as 1.2.3 or 1.2.3rc1.")
    major, minor, patch, kind, number = found.groups()
    return int(major), int(minor), int(patch), kind or _FINAL, int(number or 0)


class CompatibilityInfo(Protocol):
    """The fields that decide whether an archive fits this box; see TreeManifest."""

    @property
    def version(self) -> str: ...
    @property
    def machine(self) -> str: ...
    @property
    def python(self) -> str: ...
    @property
    def made_s(self) -> int: ...


class SignedManifest(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The fields of every kind of manifest.

    version  of the content
    machine  as printed by `uname -m`; "any" if the archive has no machine code
    made_s   time of the build, in seconds since 1970
    """

    version: str
    machine: str
    made_s: Annotated[int, msgspec.Meta(ge=0, le=LAST_S)]

    def encode(self) -> bytes:
        return msgspec.json.format(msgspec.json.encode(self), indent=2) + b"\n"


class TreeManifest(SignedManifest, frozen=True):
    """The manifest of an archive with a packed tree.

    python       major.minor that the tree needs; "any" if it runs on every version
    tree_sha256  of the packed tree
    tree_bytes   of the packed tree
    files_bytes  of all files when unpacked
    """

    python: str
    tree_sha256: Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f]{64}$")]
    tree_bytes: Annotated[int, msgspec.Meta(ge=0)]
    files_bytes: Annotated[int, msgspec.Meta(ge=0)]


ManifestT = TypeVar("ManifestT", bound=SignedManifest)


def parse_manifest(data: bytes, kind: type[ManifestT], name: str, of: str = "of ours") -> ManifestT:
    """Decode the manifest in `data`. `name` (its file) and `of` (its kind) are for the error text.

    Raises ReleaseRefused."""
    try:
        manifest = msgspec.json.decode(data, type=kind)
    except UNREADABLE as error:
        raise ReleaseRefused(f"Its {name} is no manifest {of}: {error}.") from error
    version_key(manifest.version)
    return manifest


def fits(
    manifest: CompatibilityInfo,
    installed: str | None,
    *,
    downgrade: bool,
    now_s: float,
    back: str = "interlude release rollback",
) -> None:
    """Raise ReleaseRefused for another machine or Python, an older version, or a wrong clock.

    `installed`: the version that the box has now. `now_s`: wall-clock time. `back`: the command
    that goes back to an older version.
    """
    machine, python = platform.machine(), f"{sys.version_info.major}.{sys.version_info.minor}"
    if manifest.machine not in ("any", machine):
        shown = ShownAs.of("page-wrong-other-machine", made=manifest.machine, here=machine)
        problem = f"It is made for {manifest.machine}; this box is {machine}."
        raise ReleaseRefused(problem, shown=shown)
    if manifest.python not in ("any", python):
        made, here = f"Python {manifest.python}", f"Python {python}"
        shown = ShownAs.of("page-wrong-other-machine", made=made, here=here)
        problem = f"It is made for {made}; this box has {python}."
        raise ReleaseRefused(problem, shown=shown)
    if installed and not downgrade and version_key(manifest.version) < version_key(installed):
        problem = f"{manifest.version} is older than {installed}, which is installed."
        shown = ShownAs.of("page-wrong-older", version=manifest.version, kept=installed)
        raise ReleaseRefused(problem, f"To go back: `{back}`, or --downgrade.", shown=shown)
    if now_s < manifest.made_s - CLOCK_SLACK_S:
        clock = time.strftime("%d %B %Y", time.gmtime(now_s))
        made = time.strftime("%d %B %Y", time.gmtime(manifest.made_s))
        problem = f"This box's clock says {clock}, and the release was made on {made}."
        raise ReleaseRefused(
            problem,
            "Set the clock (`timedatectl`) and try again.",
            shown=ShownAs.of("page-wrong-clock"),
        )

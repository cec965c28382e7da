"""What the box remembers of the releases that it kept, in a file of root's beside them.

Releases and systems below the floor are neither installed nor returned to. The floor only rises.
/usr/lib/interlude/fallback.py reads `least_version`, too. Every user may read the file.
"""

from __future__ import annotations

from pathlib import Path

import msgspec

from appliance.errors import ReleaseRefused, ShownAs
from appliance.record_file import read_record
from appliance.update.release.disk_changes import Disk
from appliance.update.release.policy import ReleasePolicy
from appliance.update.release.rejected import is_newer

NOTE = "security.json"


class SecurityRecord(msgspec.Struct, frozen=True):
    """The content of the file.

    least_version  the oldest release that may be installed or returned to; "": any
    least_system   the same for systems
    signers        number of the last change of the trusted keys (release/signer_rotation.py)
    unwell, why    a release that was kept although it failed its health check, and the failure;
                   "": none
    """

    least_version: str = ""
    least_system: str = ""
    signers: int = 0
    unwell: str = ""
    why: str = ""

    def raised(self, policy: ReleasePolicy) -> SecurityRecord:
        """This record with the higher floors of both."""
        return msgspec.structs.replace(
            self,
            least_version=newest(self.least_version, policy.least_version),
            least_system=newest(self.least_system, policy.least_system),
        )

    def check(self, version: str, *, system: bool = False) -> None:
        """Raise ReleaseRefused for a release, or a `system`, below the floor."""
        least = self.least_system if system else self.least_version
        if least and is_newer(least, version):
            shown = ShownAs.of("page-wrong-below-floor", version=version, least=least)
            problem = f"{version} is older than {least}, which a security update requires."
            raise ReleaseRefused(problem, "Root can force it: --downgrade.", shown=shown)


def read(root: Path) -> SecurityRecord:
    """The record; an empty one if there is none, or it cannot be read."""
    return read_record(root / NOTE, SecurityRecord) or SecurityRecord()


def write(root: Path, record: SecurityRecord, disk: Disk) -> None:
    """Write a changed record. Raises OSError."""
    if record != read(root):
        disk.write_whole(root / NOTE, msgspec.json.encode(record))


def newest(one: str, other: str) -> str:
    """The newer of two versions; "" is older than any."""
    return other if other and (not one or is_newer(other, one)) else one

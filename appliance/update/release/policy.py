"""The policy of a release: the oldest versions that may still run after it, and its urgency.

It is the file policy/policy.json of the release's tree, so the signature of the manifest covers it.
It is no part of the manifest itself, since boxes refuse a manifest with a field that they do not
know: a box of an earlier version installs the release and leaves the file alone.
"""

from __future__ import annotations

from pathlib import Path

import msgspec

from appliance.errors import ReleaseRefused
from appliance.record_file import MOST_BYTES, UNREADABLE
from appliance.update.signed_manifest import version_key

FOLDER = "policy"
NAME = f"{FOLDER}/policy.json"


class ReleasePolicy(msgspec.Struct, frozen=True):
    """The fields of the file. Unknown ones are ignored, for those of later versions.

    least_version  the oldest release that may be installed or returned to afterwards; "": any
    least_system   the same for the system in a slot
    security       it closes a hole. It is tried three times and then kept, whatever its health
                   check says, and nothing older is installed or returned to afterwards
    """

    least_version: str = ""
    least_system: str = ""
    security: bool = False


def read(folder: Path, version: str) -> ReleasePolicy:
    """The policy of the unpacked release `version`; one that asks for nothing if it has none.

    `least_version` is that release itself if it closes a hole. Raises ReleaseRefused for a file
    that cannot be used.
    """
    try:
        with (folder / NAME).open("rb") as file:
            policy = msgspec.json.decode(file.read(MOST_BYTES), type=ReleasePolicy)
        for least in filter(None, (policy.least_version, policy.least_system)):
            version_key(least)
    except FileNotFoundError:
        return ReleasePolicy()
    except (OSError, ReleaseRefused, *UNREADABLE) as error:
        raise ReleaseRefused(f"Its {NAME} cannot be used: {error}.") from error
    if policy.least_version and version_key(policy.least_version) > version_key(version):
        raise ReleaseRefused(f"Its {NAME} refuses the release itself.")
    return msgspec.structs.replace(policy, least_version=version) if policy.security else policy

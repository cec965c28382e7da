"""Installing the system that a part without rights asked for: see appliance/release/wanted.py."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from appliance.errors import InterludeError
from appliance.release.install import Wishes
from appliance.release.wanted import INCOMING, WANTED_SYSTEM, Teller, take
from appliance.slots import archive
from appliance.slots.update import Updater


def install_wanted(updater: Updater, wishes: Wishes, incoming: Path = INCOMING) -> bool:
    """As root: what was asked for, once. Raises what Updater.install raises.

    No copy is made first: what its owner changes between the check and the writing is found while
    it is written, before the slot can start.
    """
    file = take(incoming, WANTED_SYSTEM, archive.SUFFIX)
    said = archive.look(file)
    teller = Teller(updater.shelf.trial_folder, said.version if said else file.name)
    try:
        changed = dataclasses.replace(updater, progress=teller.progress).install(file, wishes)
    except InterludeError as error:
        teller.end(str(error))
        raise
    teller.end()
    file.unlink(missing_ok=True)
    return changed

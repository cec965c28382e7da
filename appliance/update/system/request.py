"""Installing the system that a part without rights asked for: see appliance/update/request.py."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from appliance.update.handed_over_file import pop_note
from appliance.update.release.installer import InstallOptions
from appliance.update.request import INCOMING, SYSTEMS, asked_for
from appliance.update.system.updater import SystemUpdater


def install_wanted(
    updater: SystemUpdater, wishes: InstallOptions, incoming: Path = INCOMING
) -> bool:
    """As root: what was asked for, once. Raises what SystemUpdater.install raises.

    No copy is made first: it would need another 216 MiB on `data`, and as many written to the card.
    What its owner changes between the check and the writing is found while it is written: each byte
    is hashed on its way into the slot, and the slot's first sector is written last.
    """
    name = pop_note(incoming / SYSTEMS.note)
    with asked_for(name, incoming, SYSTEMS, updater.shelf.trial_folder) as (handed, teller):
        return dataclasses.replace(updater, progress=teller.update).install(handed, wishes)

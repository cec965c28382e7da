"""Carries out a request to install a system or to go back to the previous one.

Unprivileged processes write the requests: see appliance/update/request.py."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from appliance.errors import ReleaseRefused, ShownAs
from appliance.update.handed_over_file import pop_note
from appliance.update.release import fallback
from appliance.update.release.installer import InstallOptions
from appliance.update.release.rejected import is_newer
from appliance.update.release.store import ReleaseStore
from appliance.update.request import (
    INCOMING,
    PREVIOUS,
    SYSTEMS,
    ProgressWriter,
    nothing_before,
    recorded_end,
    requested_file,
)
from appliance.update.system.slot import SlotName
from appliance.update.system.slot_state import SlotStateFile
from appliance.update.system.updater import SystemUpdater


def install_wanted(
    updater: SystemUpdater, options: InstallOptions, incoming: Path = INCOMING
) -> bool:
    """As root: carry out the request in the note, and remove the note.

    The archive is not copied first: a copy would need another 216 MiB on `data`, and write as much
    to the card. A change of the file between its verification and the writing is still detected:
    each byte is hashed on its way into the slot, and the slot's first sector is written last.
    Raises what SystemUpdater.install raises.
    """
    name = pop_note(incoming / SYSTEMS.note)
    if name == PREVIOUS:
        return _go_back(updater, options)
    with requested_file(name, incoming, SYSTEMS, updater.store.trial_folder) as (source, writer):
        return dataclasses.replace(updater, progress=writer.update).install(source, options)


def returns_to(slot_state: SlotStateFile, running: SlotName | None, root: Path) -> str | None:
    """The version of the system to which the box may return; None if there is none.

    It has to be proved, not the one that the fallback left, and not below the floor. `running`: the
    slot that runs; None on a machine without slots. `root`: of the releases."""
    if running is None or slot_state.trial() is not None:
        return None
    version = slot_state.way_back(running, fallback.read(root).system_left)
    least = ReleaseStore(root).security().least_system
    return None if version is None or is_newer(least, version) else version


def _go_back(updater: SystemUpdater, options: InstallOptions) -> bool:
    store = updater.store
    version = returns_to(updater.slot_state, updater.machine.slot(), store.root)
    with recorded_end(ProgressWriter(store.trial_folder, version or PREVIOUS)) as writer:
        if version is None:
            raise nothing_before()
        if not updater.machine.supports_tryboot():
            raise ReleaseRefused(
                "This kernel cannot ask the Pi's firmware for a trial.",
                "docs/rescue.md tells how to start the other system by hand.",
                shown=ShownAs.of("page-wrong-no-tryboot"),
            )
        dataclasses.replace(updater, progress=writer.update).begin_trial(options.wait_s)
    return True

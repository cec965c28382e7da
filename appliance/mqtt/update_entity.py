"""Home Assistant's update entity: the running version, the newest one that is ready, and the
progress of its installation. Ready is a release, or a system for the SD card. Pure except for
`read_update_status` and `installs`, which read files."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from appliance.mqtt.command_topics import CommandRefusal, CommandRejected
from appliance.update import request
from appliance.update.release import look_record
from appliance.update.release.store import TRIAL, ReleaseStore
from appliance.update.request import InstallProgress, UpdateOffer
from appliance.update.system import target

STALE = f"No look for updates has succeeded for {look_record.STALE_DAYS} days."
BEGINS_S = 60.0  # timeout for the updater to start an installation that was requested
MOST_CHARACTERS = 255  # Home Assistant rejects a longer release_summary


@dataclass(frozen=True)
class UpdateStatus:
    """The next installable version and the progress of an installation. `system`: version of the
    running system, if the SD card was written from our image. `stale`: no look at the fleet's
    address has succeeded for look_record.STALE_DAYS."""

    offer: UpdateOffer | None = None
    going: InstallProgress = field(default_factory=InstallProgress)
    system: str | None = None
    stale: bool = False


def read_update_status(
    store: ReleaseStore | None = None,
    incoming: Path = request.INCOMING,
    trial: Path = TRIAL,
    os_release: Path = target.RELEASE,
    pull: Path = look_record.PULL,
    now_s: Callable[[], float] = time.time,
) -> UpdateStatus:
    offers = request.offers(store, incoming, os_release)
    going, system = request.read_progress(trial), target.version(os_release)
    stale = look_record.is_stale(now_s(), incoming, pull)
    return UpdateStatus(offers[0] if offers else None, going, system, stale)


def installs(incoming: Path = request.INCOMING) -> bool:
    """Whether an installation can be requested: only on a box that was set up as an appliance."""
    return incoming.is_dir() and os.access(incoming, os.W_OK)


class UpdateEntity:
    """`version`: of the running release."""

    def __init__(self, version: str) -> None:
        self._version = version
        self._ready = UpdateStatus()
        self._requested: UpdateOffer | None = None  # not started by the updater yet
        self._requested_at_s = 0.0

    def update(self, ready: UpdateStatus, now_s: float) -> None:
        progressed = ready.going != self._ready.going  # also true if it has already finished
        if progressed or now_s - self._requested_at_s > BEGINS_S:
            self._requested = None
        self._ready = ready

    @property
    def busy(self) -> bool:
        """Whether an installation is running or was requested."""
        return bool(self._ready.going.step) or self._requested is not None

    def install(self, now_s: float) -> UpdateOffer:
        """Accept an install command; return the offer to request. Raises CommandRejected."""
        if self.busy:
            raise CommandRejected(
                CommandRefusal("cmd/install", "something is being installed already")
            )
        if self._ready.offer is None:
            raise CommandRejected(CommandRefusal("cmd/install", "there is nothing to install"))
        self._requested, self._requested_at_s = self._ready.offer, now_s
        return self._ready.offer

    def payload(self) -> dict[str, Any]:
        """Payload with all keys of Home Assistant's update entity."""
        going, newest = self._ready.going, self._requested or self._ready.offer
        of_system = newest is not None and newest.file.suffix == request.SYSTEMS.archive.suffix
        installed = (self._ready.system or self._version) if of_system else self._version
        latest = going.version if going.step else newest.version if newest else installed
        summary = STALE if self._ready.stale else ""
        if going.problem:
            summary = f"{going.version} was not installed: {going.problem}"
        return {
            "installed_version": installed,
            "latest_version": latest,
            "title": "Interlude, the system" if of_system else "Interlude",
            "release_summary": summary[:MOST_CHARACTERS],
            "in_progress": self.busy,
            "update_percentage": round(100 * going.share) if going.step else None,
        }

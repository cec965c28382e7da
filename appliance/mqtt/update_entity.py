"""What runs, the newest that lies ready, and how its installation goes: for the house's update
button. What lies ready is a release, or a system for the card. Pure but for `read_update_status`,
which reads."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from appliance.mqtt.command_topics import CommandRefusal, CommandRejected
from appliance.update import request
from appliance.update.release.store import TRIAL, ReleaseStore
from appliance.update.request import InstallProgress, UpdateOffer
from appliance.update.system import target

BEGINS_S = 60.0  # after it was asked for; whoever installs has begun by then, or nobody does
MOST_CHARACTERS = 255  # of Home Assistant's release_summary; longer ones are refused


@dataclass(frozen=True)
class UpdateStatus:
    """What could be installed next, and what is done. `system`: that runs, on a card of ours."""

    offer: UpdateOffer | None = None
    going: InstallProgress = field(default_factory=InstallProgress)
    system: str | None = None


def read_update_status(
    store: ReleaseStore | None = None,
    incoming: Path = request.INCOMING,
    trial: Path = TRIAL,
    os_release: Path = target.RELEASE,
) -> UpdateStatus:
    offers = request.offers(store, incoming, os_release)
    going, system = request.read_progress(trial), target.version(os_release)
    return UpdateStatus(offers[0] if offers else None, going, system)


def installs(incoming: Path = request.INCOMING) -> bool:
    """Whether this box can be told to install: only one that was set up as an appliance can."""
    return incoming.is_dir() and os.access(incoming, os.W_OK)


class UpdateEntity:
    """`version`: of the release that runs."""

    def __init__(self, version: str) -> None:
        self._version = version
        self._ready = UpdateStatus()
        self._asked: UpdateOffer | None = None  # and nobody has begun yet
        self._asked_at_s = 0.0

    def update(self, ready: UpdateStatus, now_s: float) -> None:
        begun = ready.going != self._ready.going  # also when it has come to its end already
        if begun or now_s - self._asked_at_s > BEGINS_S:
            self._asked = None
        self._ready = ready

    @property
    def busy(self) -> bool:
        """Something is being installed, or is about to be."""
        return bool(self._ready.going.step) or self._asked is not None

    def install(self, now_s: float) -> UpdateOffer:
        """Somebody presses the button: what is to be installed. Raises CommandRejected."""
        if self.busy:
            raise CommandRejected(
                CommandRefusal("cmd/install", "something is being installed already")
            )
        if self._ready.offer is None:
            raise CommandRejected(CommandRefusal("cmd/install", "there is nothing to install"))
        self._asked, self._asked_at_s = self._ready.offer, now_s
        return self._ready.offer

    def payload(self) -> dict[str, Any]:
        """In the words of Home Assistant's update entity, all of them every time."""
        going, newest = self._ready.going, self._asked or self._ready.offer
        of_system = newest is not None and newest.file.suffix == request.SYSTEMS.archive.suffix
        installed = (self._ready.system or self._version) if of_system else self._version
        latest = going.version if going.step else newest.version if newest else installed
        failed = f"{going.version} was not installed: {going.problem}" if going.problem else ""
        return {
            "installed_version": installed,
            "latest_version": latest,
            "title": "Interlude, the system" if of_system else "Interlude",
            "release_summary": failed[:MOST_CHARACTERS],
            "in_progress": self.busy,
            "update_percentage": round(100 * going.share) if going.step else None,
        }

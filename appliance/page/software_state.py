"""State of the box's software, read from the disk without privileges.

All users may read the folders of releases and systems; requests are files in a folder.
"""

from __future__ import annotations

import os
from dataclasses import dataclass

from appliance.page.own_places import OwnPlaces
from appliance.update import request
from appliance.update.release import fallback, look_record
from appliance.update.release.look_record import LookRecord, LookSource
from appliance.update.release.store import SYSTEM, ReleaseStore
from appliance.update.request import InstallProgress, UpdateOffer
from appliance.update.system import request as system_request
from appliance.update.system import target
from appliance.update.system.slot_state import SlotStateFile, SlotTrialResult
from appliance.update.system.target import PiTarget


@dataclass(frozen=True)
class SystemState:
    """State of the operating system. `version`: "" if it was not made from our image. `slots`: the
    SD card has the two slots. `before`: version to which it can return. `on_trial`: version whose
    trial is under way. `last`: result of the last trial. `can_try`: the kernel can request a trial
    of the firmware."""

    version: str
    slots: bool
    before: str
    on_trial: str
    last: SlotTrialResult | None
    can_try: bool


@dataclass(frozen=True)
class LookState:
    """Search for a newer version at one source. `last`: result of the last search; None if there
    was none since boot. `under_way`: one was requested or is running."""

    last: LookRecord | None
    under_way: bool


@dataclass(frozen=True)
class SoftwareState:
    """`kept`: the release that starts after a power cut. `before`: release to which it can return.
    `left`: release that was abandoned after repeated failures. `unwell`: why the kept one failed
    its health check, if it was kept all the same; "" otherwise. `asked`: a request has not been
    accepted yet. `may_ask`: this box was set up as an appliance. `looks`: it searches for releases
    by itself. `stale`: no such search has succeeded for a month. `web`, `stick`: the searches at
    the address and on a USB stick."""

    kept: str
    before: str
    left: str
    unwell: str
    system: SystemState
    offers: tuple[UpdateOffer, ...]
    going: InstallProgress
    asked: bool
    may_ask: bool
    looks: bool
    stale: bool
    web: LookState
    stick: LookState

    @property
    def busy(self) -> bool:
        """Whether a request, an installation or a trial is under way; no other is then accepted."""
        return self.asked or bool(self.going.step) or bool(self.system.on_trial)


def may_ask(places: OwnPlaces) -> bool:
    """Whether this box was set up as an appliance, so that versions can be requested."""
    return places.incoming.is_dir() and os.access(places.incoming, os.W_OK)


def read_state(places: OwnPlaces, now_s: float) -> SoftwareState:
    """Read the present state from the disk. `now_s`: by the wall clock."""
    releases = ReleaseStore(places.releases, places.trial)
    security = releases.security()
    requests = (places.incoming / name for name in (request.WANTED, request.WANTED_SYSTEM))
    return SoftwareState(
        releases.kept() or "",
        request.returns_to(releases) or "",
        fallback.left(releases),
        security.why if security.unwell == (releases.kept() or "") else "",
        _system(places),
        tuple(request.offers(releases, places.incoming, places.os_release)),
        request.read_progress(places.trial),
        any(os.path.lexists(note) for note in requests),
        may_ask(places),
        os.path.lexists(places.pull),
        look_record.is_stale(now_s, places.incoming, places.pull),
        _look("web", places, now_s),
        _look("stick", places, now_s),
    )


def _look(source: LookSource, places: OwnPlaces, now_s: float) -> LookState:
    last = look_record.read(source, places.looked)
    ordered = look_record.awaited(source, now_s, places.looked, places.changed)
    return LookState(last, ordered or (last is not None and last.goes_on(now_s)))


def _system(places: OwnPlaces) -> SystemState:
    slots = SlotStateFile(places.releases / SYSTEM)
    machine = PiTarget(
        command_line=places.command_line,
        release=places.os_release,
        start=places.start,
        firmware=places.firmware,
    )
    running, trial = machine.slot(), slots.trial()
    return SystemState(
        target.version(places.os_release) or "",
        running is not None,
        system_request.returns_to(slots, running, places.releases) or "",
        trial.version if trial else "",
        slots.last(),
        machine.supports_tryboot(),
    )

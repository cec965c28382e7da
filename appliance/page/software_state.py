"""What the page knows of the box's software: read off the disk, without any right.

Releases and systems lie in folders that everybody may read; what is asked for is a note.
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
    """Of the system below the box. `version`: "" on a machine that is not of our image. `slots`: a
    card of ours, with two of them. `before`: may be gone back to. `on_trial`: is being started, or
    watched. `last`: how the last trial ended. `can_try`: this kernel can ask the firmware for a
    trial."""

    version: str
    slots: bool
    before: str
    on_trial: str
    last: SlotTrialResult | None
    can_try: bool


@dataclass(frozen=True)
class LookState:
    """Of looking for a newer version at one place. `last`: how the last look went; None since the
    power came. `under_way`: one was ordered, or goes on."""

    last: LookRecord | None
    under_way: bool


@dataclass(frozen=True)
class SoftwareState:
    """`kept`: the release that starts after a power cut. `before`: what may be gone back to.
    `left`: what did not stay up. `asked`: nobody has taken the note yet. `may_ask`: this box was
    set up as an appliance. `looks`: it looks for releases by itself, `web` tells how; `stick`: the
    same of a USB stick."""

    kept: str
    before: str
    left: str
    system: SystemState
    offers: tuple[UpdateOffer, ...]
    going: InstallProgress
    asked: bool
    may_ask: bool
    looks: bool
    web: LookState
    stick: LookState

    @property
    def busy(self) -> bool:
        """Nothing else is asked for meanwhile."""
        return self.asked or bool(self.going.step) or bool(self.system.on_trial)


def may_ask(places: OwnPlaces) -> bool:
    """Whether this box was set up as an appliance: versions are asked for, and gone back from."""
    return places.incoming.is_dir() and os.access(places.incoming, os.W_OK)


def read_state(places: OwnPlaces, now_s: float) -> SoftwareState:
    """As it is on the disk now. `now_s`: by the clock on the wall."""
    shelf = ReleaseStore(places.releases, places.trial)
    notes = (places.incoming / name for name in (request.WANTED, request.WANTED_SYSTEM))
    return SoftwareState(
        shelf.kept() or "",
        request.returns_to(shelf) or "",
        fallback.left(shelf),
        _system(places),
        tuple(request.offers(shelf, places.incoming, places.os_release)),
        request.read_progress(places.trial),
        any(os.path.lexists(note) for note in notes),
        may_ask(places),
        os.path.lexists(places.pull),
        _look("web", places, now_s),
        _look("stick", places, now_s),
    )


def _look(source: LookSource, places: OwnPlaces, now_s: float) -> LookState:
    last = look_record.read(source, places.looked)
    ordered = look_record.awaited(source, now_s, places.looked, places.changed)
    return LookState(last, ordered or (last is not None and last.goes_on(now_s)))


def _system(places: OwnPlaces) -> SystemState:
    ledger = SlotStateFile(places.releases / SYSTEM)
    machine = PiTarget(
        command_line=places.command_line,
        release=places.os_release,
        start=places.start,
        firmware=places.firmware,
    )
    running, trial = machine.slot(), ledger.trial()
    return SystemState(
        target.version(places.os_release) or "",
        running is not None,
        system_request.returns_to(ledger, running, places.releases) or "",
        trial.version if trial else "",
        ledger.last(),
        machine.supports_tryboot(),
    )

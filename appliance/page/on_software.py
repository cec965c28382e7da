"""Software: what runs, what lies ready, and asking for it by a note, as the house's button does.

The page has no right to install anything: root takes the note, and the archive's signature decides.
"""

from __future__ import annotations

import os
from dataclasses import dataclass

from appliance import __version__
from appliance.page.own_places import OwnPlaces
from appliance.page.requests import Reply, plain, see_other
from appliance.page.visit import Visit
from appliance.update import request
from appliance.update.release import fallback
from appliance.update.release.store import ReleaseStore
from appliance.update.request import InstallProgress, UpdateOffer
from appliance.update.system import target

PLACE = "/own/software"
# By the first word of a step of an installation: the end of its key in the catalogue.
_STEPS = {
    "look": "look", "verify": "verify", "unpack": "unpack", "write": "unpack", "self-test": "try",
    "wait": "wait", "start": "try", "try": "try", "go": "back", "kept": "try",
}  # fmt: skip


@dataclass(frozen=True)
class SoftwareState:
    """`kept`: the release that starts after a power cut. `before`: what may be gone back to.
    `left`: what did not stay up. `asked`: nobody has taken the note yet. `may_ask`: this box was
    set up as an appliance. `looks`: it looks for releases by itself."""

    kept: str
    before: str
    left: str
    system: str
    offers: tuple[UpdateOffer, ...]
    going: InstallProgress
    asked: bool
    may_ask: bool
    looks: bool

    @property
    def busy(self) -> bool:
        return self.asked or bool(self.going.step)


def read_state(places: OwnPlaces) -> SoftwareState:
    """As it is on the disk now."""
    shelf = ReleaseStore(places.releases, places.trial)
    notes = (places.incoming / name for name in (request.WANTED, request.WANTED_SYSTEM))
    return SoftwareState(
        shelf.kept() or "",
        request.returns_to(shelf) or "",
        fallback.left(shelf),
        target.version(places.os_release) or "",
        tuple(request.offers(shelf, places.incoming, places.os_release)),
        request.read_progress(places.trial),
        any(os.path.lexists(note) for note in notes),
        places.incoming.is_dir() and os.access(places.incoming, os.W_OK),
        os.path.lexists(places.pull),
    )


def show(visit: Visit) -> Reply:
    """What runs, what lies ready, and how an installation goes or ended."""
    now = read_state(visit.box.places)
    step = _STEPS.get(now.going.step.partition(" ")[0], "other")
    return visit.page(
        "software",
        now=now,
        version=__version__,
        step=visit.texts(f"page-step-{step}"),
        percent=round(100 * now.going.share),
        of_system=request.SYSTEMS.archive.suffix,
    )


def install(visit: Visit) -> Reply:
    """Ask for one of those that lie ready, by its file's name."""
    now, name = read_state(visit.box.places), visit.form.get("file", "")
    found = [offer for offer in now.offers if offer.file.name == name]
    if not found or not now.may_ask:
        return plain(400, "There is no such version here.")
    if not now.busy:
        try:
            request.request_install(found[0])
        except OSError as error:
            return plain(503, f"It cannot be asked for ({error.strerror}).")
    return see_other(PLACE)


def go_back(visit: Visit) -> Reply:
    """Ask for the release that was kept before."""
    places = visit.box.places
    now = read_state(places)
    if not now.before or not now.may_ask:
        return plain(400, "There is no earlier version to go back to.")
    if not now.busy:
        try:
            request.request_return(places.incoming)
        except OSError as error:
            return plain(503, f"It cannot be asked for ({error.strerror}).")
    return see_other(PLACE)

"""Software: what runs, what lies ready, and asking for it by a note, as the house's button does.

The page has no right to install anything: root takes the note, and the archive's signature decides.
"""

from __future__ import annotations

from collections.abc import Callable

from appliance import __version__
from appliance.page.refusals import told
from appliance.page.requests import Reply, see_other
from appliance.page.software_state import read_state
from appliance.page.visit import Visit
from appliance.update import request

PLACE = "/own/software"
# By the first word of a step of an installation: the end of its key in the catalogue.
_STEPS = {
    "look": "look", "verify": "verify", "unpack": "unpack", "write": "unpack", "self-test": "try",
    "wait": "wait", "start": "try", "try": "try", "go": "back", "kept": "try",
}  # fmt: skip


def show(visit: Visit, status: int = 200, problem: str = "") -> Reply:
    """What runs, what lies ready, and how an installation goes or ended."""
    now, texts = read_state(visit.box.places), visit.texts
    step = _STEPS.get(now.going.step.partition(" ")[0], "other")
    last = now.system.last
    return visit.page(
        "software",
        status,
        now=now,
        version=__version__,
        problem=problem,
        step=texts(f"page-step-{step}"),
        percent=round(100 * now.going.share),
        why=told(now.going.key, now.going.values, now.going.problem, texts),
        system_why=told(last.key, last.values, last.problem, texts) if last else "",
        of_system=request.SYSTEMS.archive.suffix,
    )


def install(visit: Visit) -> Reply:
    """Ask for one of those that lie ready, by its file's name."""
    now, name = read_state(visit.box.places), visit.form.get("file", "")
    found = [offer for offer in now.offers if offer.file.name == name]
    if not found or not now.may_ask:
        return show(visit, 400, visit.texts("page-software-not-ready"))
    if now.busy:
        return show(visit, 409, visit.texts("page-software-busy"))
    return _ask(visit, lambda: request.request_install(found[0]))


def go_back(visit: Visit) -> Reply:
    """Ask for the release that was kept before."""
    places = visit.box.places
    now = read_state(places)
    if not now.before or not now.may_ask:
        return show(visit, 400, visit.texts("page-wrong-nothing-before"))
    if now.busy:
        return show(visit, 409, visit.texts("page-software-busy"))
    return _ask(visit, lambda: request.request_return(places.incoming))


def system_back(visit: Visit) -> Reply:
    """Ask for the system that was kept before, in the card's other slot."""
    places = visit.box.places
    now = read_state(places)
    if not now.system.before or not now.may_ask:
        return show(visit, 400, visit.texts("page-wrong-nothing-before"))
    if not now.system.can_try:
        return show(visit, 400, visit.texts("page-wrong-no-tryboot"))
    if now.busy:
        return show(visit, 409, visit.texts("page-software-busy"))
    return _ask(visit, lambda: request.request_return(places.incoming, request.SYSTEMS))


def _ask(visit: Visit, leave: Callable[[], None]) -> Reply:
    try:
        leave()
    except OSError as error:
        why = visit.texts("page-wrong-nobody-asked", why=error.strerror or "")
        return show(visit, 503, why)
    return see_other(PLACE)

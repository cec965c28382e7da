"""Software: the running version, versions ready to install, and requests to install or return.

The page has no privilege to install anything: it writes a request, as the update button of Home
Assistant does. A root process accepts it and verifies the archive's signature.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from appliance import __version__
from appliance.errors import InterludeError
from appliance.page.refusals import refusal, standing_refusal, told
from appliance.page.requests import Reply, see_other
from appliance.page.software_state import LookState, SoftwareState, read_state
from appliance.page.visit import Visit
from appliance.runtime import handed_request
from appliance.update import request
from appliance.update.look_request import LookRequest
from appliance.update.release.look_record import LookSource

PLACE = "/own/software"
# First word of a step of an installation → last part of its key in the catalogue.
_STEPS = {
    "look": "look", "verify": "verify", "unpack": "unpack", "write": "unpack", "self-test": "try",
    "wait": "wait", "start": "try", "try": "try", "go": "back", "kept": "try",
}  # fmt: skip


def show(visit: Visit, status: int = 200, problem: str = "") -> Reply:
    """Show the running version, the versions that are ready, and the progress or result of an
    installation."""
    now, texts = _now(visit), visit.texts
    step = _STEPS.get(now.going.step.partition(" ")[0], "other")
    last = now.system.last
    stands, _ = visit.box.look_changes.progress()
    problem = problem or standing_refusal(stands, visit.box.look_changes.outcome, texts)
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
        looked={"web": _looked(visit, now.web), "stick": _looked(visit, now.stick)},
    )


def install(visit: Visit) -> Reply:
    """Request the installation of a version that is ready, by its file name."""
    now, name = _now(visit), visit.form.get("file", "")
    found = [offer for offer in now.offers if offer.file.name == name]
    if not found or not now.may_ask:
        return show(visit, 400, visit.texts("page-software-not-ready"))
    if now.busy:
        return show(visit, 409, visit.texts("page-software-busy"))
    return _ask(visit, lambda: request.request_install(found[0]))


def go_back(visit: Visit) -> Reply:
    """Request the return to the previous release."""
    places = visit.box.places
    now = _now(visit)
    if not now.before or not now.may_ask:
        return show(visit, 400, visit.texts("page-wrong-nothing-before"))
    if now.busy:
        return show(visit, 409, visit.texts("page-software-busy"))
    return _ask(visit, lambda: request.request_return(places.incoming))


def system_back(visit: Visit) -> Reply:
    """Request the return to the previous system, in the other slot of the SD card."""
    places = visit.box.places
    now = _now(visit)
    if not now.system.before or not now.may_ask:
        return show(visit, 400, visit.texts("page-wrong-nothing-before"))
    if not now.system.can_try:
        return show(visit, 400, visit.texts("page-wrong-no-tryboot"))
    if now.busy:
        return show(visit, 409, visit.texts("page-software-busy"))
    return _ask(visit, lambda: request.request_return(places.incoming, request.SYSTEMS))


def look(visit: Visit) -> Reply:
    """Request a search for a newer version, at the configured address or on a USB stick."""
    box, now, texts = visit.box, _now(visit), visit.texts
    sources: dict[str, tuple[LookSource, LookState]] = {
        "web": ("web", now.web), "stick": ("stick", now.stick),
    }  # fmt: skip
    found = sources.get(visit.form.get("source", ""))
    if found is None or not now.may_ask or not box.look_changes.is_served:
        return show(visit, 400, texts("page-software-no-look"))
    source, state = found
    if source == "web" and not now.looks:
        return show(visit, 400, texts("page-wrong-look-nowhere"))
    if state.under_way or now.busy:
        return show(visit, 409, texts("page-software-busy"))
    try:
        box.look_changes.ask(LookRequest(handed_request.new_id(), source))
    except InterludeError as error:
        return show(visit, 503, refusal(error, texts))
    return see_other(f"{PLACE}#look")


def _now(visit: Visit) -> SoftwareState:
    return read_state(visit.box.places, time.time())


def _looked(visit: Visit, state: LookState) -> tuple[str, str]:
    """Time and result of the last search; "" and "" if there was none."""
    last = state.last
    if last is None or last.phase != "over":
        return "", ""
    when = time.strftime("%Y-%m-%d %H:%M", time.localtime(last.at_s))
    return when, told(last.key, last.values, last.text, visit.texts)


def _ask(visit: Visit, write_request: Callable[[], None]) -> Reply:
    try:
        write_request()
    except OSError as error:
        why = visit.texts("page-wrong-nobody-asked", why=error.strerror or "")
        return show(visit, 503, why)
    return see_other(PLACE)

"""Set: Wi-Fi, time zone and the test of a broker; privileged units carry out the requests."""

from __future__ import annotations

from appliance.errors import InterludeError
from appliance.page import on_settings
from appliance.page.refusals import refusal, standing_refusal
from appliance.page.requests import Reply, plain, see_other
from appliance.page.visit import Visit
from appliance.runtime.broker_certificate import CertificatePin, CertificatePins
from appliance.runtime.handed_request import new_id
from appliance.settings.network_change import BrokerTrial, NetworkChange
from appliance.settings.settings_change import HOUSE, check_other_broker

MOST = {"wifi": 253, "password": 200, "timezone": 253}  # characters of a field


def show(visit: Visit, status: int = 200, problem: str = "") -> Reply:
    """Show the forms for Wi-Fi and time zone, if this box can change them."""
    machine = visit.box.machine
    if not machine.card:
        return visit.page("network_none", 404)
    stands, _ = machine.network.progress()
    outcome = machine.network.outcome
    problem = problem or standing_refusal(stands, outcome, visit.texts)
    return visit.page(
        "network",
        status,
        problem=problem,
        awaited=stands == "awaited",
        done=stands == "done" and outcome is not None and not outcome.names,
        names=outcome.names if outcome is not None else (),
        zone=machine.zone,
        zones=machine.zones(),
    )


def change(visit: Visit) -> Reply:
    """Request a Wi-Fi scan, a connection to a Wi-Fi, its confirmation, or another time zone."""
    form, machine = visit.form, visit.box.machine
    if not machine.card:
        return show(visit)
    fields = {name: form.get(name, "")[:most] for name, most in MOST.items()}
    match form.get("form"):
        case "look":
            request = NetworkChange(new_id(), "look")
        case "wifi":
            request = NetworkChange(
                new_id(), "wifi", fields["wifi"], fields["password"], form.get("hidden") == "on"
            )
        case "confirm":
            request = NetworkChange(new_id(), "confirm")
        case "timezone":
            request = NetworkChange(new_id(), "timezone", timezone=fields["timezone"])
        case _:
            return plain(400, "There is no such form.")
    try:
        machine.network.ask(request)
    except InterludeError as error:
        return show(visit, 400, refusal(error, visit.texts))
    return see_other("/set/network")


def try_broker(visit: Visit) -> Reply:
    """Request a test of the typed broker, which is not saved yet."""
    form = visit.form
    # The typed values are shown again beside the result; the password is not.
    visit.box.typed = {key: form.get(key, "")[:253] for key in ("form", *HOUSE)}
    port = form.get("link.port", "") or "0"
    if not (port.isascii() and port.isdecimal() and int(port) <= 65_535):
        return on_settings.show(visit, 400, visit.texts("page-set-port-none"))
    pin = CertificatePins.of(visit.box.settings).stored()
    trial = BrokerTrial(
        new_id(),
        form.get("link.broker", "").strip()[:253],
        int(port),
        form.get("link.user", "").strip()[:253],
        tls=form.get("link.tls") == "on",
        password=form.get("secret", "")[:200],
        pinned_at=pin.place if pin else "",
        pinned=pin.sha256 if pin else "",
    )
    try:
        trial.check_allowed(visit.box.changes.owner.settings())
        visit.box.machine.broker.ask(trial)
    except InterludeError as error:
        return on_settings.show(visit, 400, refusal(error, visit.texts))
    return see_other("/set")


def accept_certificate(visit: Visit) -> Reply:
    """Accept the broker's other certificate, if it still is the one that the owner has seen."""
    pins = CertificatePins.of(visit.box.settings)
    pin = pins.stored()
    try:
        check_other_broker(visit.box.changes.owner.settings())
        if pin is not None and pin.refused and pin.refused == visit.form.get("sha256"):
            pins.save(CertificatePin(pin.place, pin.refused))
    except InterludeError as error:
        return on_settings.show(visit, 400, refusal(error, visit.texts))
    return see_other("/set")

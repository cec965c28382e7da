"""Set: settings that an owner may change in a browser, undo of the last change, restart."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import get_args

from appliance.errors import InterludeError, SettingsError, ShownAs
from appliance.language.codes import choices
from appliance.page import listening_modes
from appliance.page.refusals import outcome_refusal, refusal, standing_refusal
from appliance.page.requests import Reply, see_other
from appliance.page.settings_form import FORMS, shown, typed
from appliance.page.visit import Visit
from appliance.panel import auto_detection
from appliance.runtime.broker_certificate import CertificatePins, in_pairs
from appliance.settings import Settings
from appliance.settings.language import ANY
from appliance.settings.owner_settings import fingerprint
from appliance.settings.settings_change import CHANGEABLE, SettingsChange, value_of
from appliance.settings.surroundings import Gpio, Light

PHRASES = ("okay nabu", "hey jarvis", "hey mycroft", "alexa")  # each has a network of its own
BOARDS = [name for name in get_args(Gpio) if name != "keyboard"]


def show(
    visit: Visit, status: int = 200, problem: str = "", form: Mapping[str, str] | None = None
) -> Reply:
    """Show the settings of the file, or those typed into `form`."""
    changes, box = visit.box.changes, visit.box
    try:
        text = changes.owner.text()
        now = changes.owner.settings()
    except InterludeError as error:  # the file is broken; the box runs with earlier settings
        sentence, path = refusal(error, visit.texts), str(changes.owner.path)
        problem = sentence if path in sentence else f"{path}: {sentence}"
        return visit.page("set_broken", status, problem=problem)
    values = {key: shown(now, key) for keys in FORMS.values() for key in keys}
    form = form or box.typed
    if form:
        keys = FORMS.get(form.get("form", ""), ())
        values |= {key: form.get(key, "") for key in keys}
    stands, _ = changes.requests.progress()
    problem = problem or standing_refusal(stands, changes.requests.outcome, visit.texts)
    trial, _ = box.machine.broker.progress()
    pin = CertificatePins.of(box.settings).stored()
    return visit.page(
        "set",
        status,
        problem=problem,
        awaited="awaited" in (stands, trial),
        base=fingerprint(text),
        v=values,
        anew=needs_new_start(now, box.files),
        can_undo=changes.can_undo(),
        modes=listening_modes.offered(visit),
        unmute=box.settings.page.unmute,
        languages=_languages(visit, values["language"]),
        phrases=PHRASES,
        boards=BOARDS,
        lights=get_args(Light),
        card=box.machine.card,
        tries=box.machine.broker.is_served,
        trial=trial,
        trial_said=_broker_result(visit),
        refused=pin if pin is not None and pin.refused else None,
        in_pairs=in_pairs,
    )


def _languages(visit: Visit, chosen: str) -> dict[str, str]:
    rows = {code: f"{name} ({code})" for code, name in choices(chosen).items()}
    return {ANY: visit.texts("page-set-language-any")} | rows


def _broker_result(visit: Visit) -> str:
    """Result of the broker test; "" if there is none."""
    outcome = visit.box.machine.broker.outcome
    if outcome is None:
        return ""
    return outcome_refusal(outcome, visit.texts) or " ".join(outcome.names)


def change(visit: Visit) -> Reply:
    """Submit the changes of one form."""
    changes, form = visit.box.changes, visit.form
    try:
        values = typed(form.get("form", ""), form, changes.owner.settings())
        secret = form.get("secret", "")[:200]
        if values or secret:
            changes.submit(
                SettingsChange(secrets.token_hex(8), _base(visit), values, secret),
            )
    except InterludeError as error:
        return show(visit, 400, refusal(error, visit.texts), form)
    visit.box.typed = {}
    return see_other("/set?said=page-notice-saved" if not changes.handed else "/set")


def undo(visit: Visit) -> Reply:
    """Undo the last change."""
    try:
        visit.box.changes.submit(SettingsChange(secrets.token_hex(8), _base(visit), undo=True))
    except InterludeError as error:
        return show(visit, 400, refusal(error, visit.texts))
    return see_other("/set?said=page-notice-undone" if not visit.box.changes.handed else "/set")


def needs_new_start(now: Settings, started: Settings) -> bool:
    """Whether the settings in the file differ from those at the start."""
    found, before = map(auto_detection.resolve_auto, (now, started))
    return any(value_of(found, key) != value_of(before, key) for key in CHANGEABLE)


def _base(visit: Visit) -> str:
    """Fingerprint of the text from which the form was made. Raises SettingsError if the text has
    been changed since."""
    base = visit.form.get("base", "")
    if base != fingerprint(visit.box.changes.owner.text()):
        raise SettingsError(
            "The settings were changed meanwhile.", shown=ShownAs.of("page-set-meanwhile")
        )
    return base

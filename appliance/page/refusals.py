"""Translates errors into the page's language.

An error names its sentence in the catalogue (errors.ShownAs); without one, that of its class is
used. On an English page such an error is shown as the command line prints it, which says more.
"""

from __future__ import annotations

from collections.abc import Mapping

from appliance.errors import InterludeError, ShownAs
from appliance.language.catalogue import SOURCE
from appliance.page.texts import Texts
from appliance.runtime.handed_changes import Standing
from appliance.runtime.handed_request import RequestOutcome

# Labels of the form's fields, shown in place of the settings' dotted keys.
LABELS = {
    "language": "page-set-language",
    "hearing.wake.phrase": "page-set-phrase",
    "hearing.wake.sensitivity": "page-set-sensitivity",
    "link.name": "page-set-name",
    "link.broker": "page-set-broker",
    "link.port": "page-set-port",
    "link.user": "page-set-user",
    "link.tls": "page-set-tls",
    "panel.gpio": "page-set-board",
    "panel.light": "page-set-light",
    "panel.brightness": "page-set-brightness",
    "panel.night_brightness": "page-set-night-brightness",
    "panel.night": "page-set-night",
}
# Fractions in the settings that are shown in percent.
SHARES = {"hearing.wake.sensitivity", "panel.brightness", "panel.night_brightness"}


def refusal(error: InterludeError, texts: Texts) -> str:
    """The sentence for an error that was raised in this process."""
    return _sentence(error.on_page, str(error), texts)


def told(key: str, values: Mapping[str, str | int | float], english: str, texts: Texts) -> str:
    """The sentence for a record with a sentence's key and values; "" if it has none."""
    return _sentence(ShownAs(key, values) if key else None, english, texts)


def outcome_refusal(outcome: RequestOutcome | None, texts: Texts) -> str:
    """The sentence for the outcome of a privileged unit; "" if it reported no problem."""
    if outcome is None:
        return ""
    english = f"{outcome.problem} {outcome.remedy}".strip()
    return told(outcome.key, outcome.values, english, texts)


def standing_refusal(stands: Standing, outcome: RequestOutcome | None, texts: Texts) -> str:
    """Why the last requested change failed; "" if it did not fail or is still awaited."""
    if stands != "failed":
        return ""
    return outcome_refusal(outcome, texts) or texts("page-set-nobody")


def _sentence(shown: ShownAs | None, english: str, texts: Texts) -> str:
    if shown is not None and not (english and _is_vaguer(shown, texts)):
        values = dict(shown.values)
        if values.get("setting") in SHARES and "limit" in values:
            values["limit"] = f"{100 * float(values['limit']):.0f} %"
        if (label := LABELS.get(str(values.get("setting")))) is not None:
            values["setting"] = texts(label)
        try:
            return texts(shown.key, **values)
        except KeyError:
            pass  # the key is of another version of the software
    if texts.language == SOURCE or not english:
        return english
    return f"{texts('page-wrong-in-english')} {english}"


def _is_vaguer(shown: ShownAs, texts: Texts) -> bool:
    """Whether the page is English and the error's own English text says more."""
    return texts.language == SOURCE and shown.key.startswith(InterludeError.general)

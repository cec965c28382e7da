"""The forms of the page's settings: fields in, values of the settings out. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from appliance.errors import SettingsError, ShownAs
from appliance.settings import Settings
from appliance.settings.section import Scalar
from appliance.settings.settings_change import HEARING, HOUSE, PANEL, value_of

# Keys of each form. A key whose field is not sent keeps its value.
FORMS = {"hearing": HEARING, "house": HOUSE, "panel": PANEL}
_PHRASE = "hearing.wake.phrase"


def shown(settings: Settings, key: str) -> str:
    """Value of a form field: a fraction in percent, a switch as "on" or ""."""
    value = value_of(settings, key)
    if isinstance(value, bool):
        return "on" if value else ""
    if isinstance(value, float):
        return f"{100 * value:.0f}"
    return str(value)


def typed(form_name: str, form: Mapping[str, str], current: Settings) -> dict[str, Scalar]:
    """Values of the form `form_name` that differ from `current`. Raises SettingsError for a field
    that is not a number and for an unknown form; other faults are found when the settings are
    validated."""
    if form_name not in FORMS:
        raise SettingsError("There is no such form.", shown=ShownAs.of("page-wrong-no-form"))
    found = {}
    for key in FORMS[form_name]:
        value_before = value_of(current, key)
        # Browsers do not send an unchecked checkbox.
        if key not in form and not isinstance(value_before, bool):
            continue
        text = form.get(key, "").strip()
        if isinstance(value_before, float) and text == shown(current, key):
            continue  # the stored fraction may be finer than the field shows
        value = _value(key, text, value_before)
        if value != value_before:
            found[key] = value
    return found


def _value(key: str, text: str, before: Scalar) -> Scalar:
    if isinstance(before, bool):
        return text == "on"
    if isinstance(before, str):
        return " ".join(text.lower().split()) if key == _PHRASE else text
    try:
        return round(int(text) / 100, 2) if isinstance(before, float) else int(text)
    except ValueError as error:
        shown = ShownAs.of("page-wrong-type", setting=key, kind="whole")
        problem = f"`{key}`: {text[:20]!r} is not a whole number."
        raise SettingsError(problem, shown=shown) from error

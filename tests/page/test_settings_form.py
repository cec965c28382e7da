"""Typed form fields become values of the settings; only changed ones are returned."""

from __future__ import annotations

import pytest

from appliance.errors import SettingsError
from appliance.page.settings_form import FORMS, shown, typed
from appliance.settings import load_text
from appliance.settings.section import Scalar
from appliance.settings.settings_change import CHANGEABLE, MODEL

NOW = load_text("link: {broker: ha.local, tls: true}\npanel: {brightness: 0.333}", "now")


def test_every_changeable_key_is_in_exactly_one_form() -> None:
    keys = [key for keys in FORMS.values() for key in keys]
    assert sorted(keys) == sorted(CHANGEABLE - {*MODEL}), "models are chosen on their own page"


@pytest.mark.parametrize("which", FORMS)
def test_an_unedited_form_changes_nothing(which: str) -> None:
    form = {key: shown(NOW, key) for key in FORMS[which]}
    assert typed(which, {key: text for key, text in form.items() if text}, NOW) == {}


@pytest.mark.parametrize(
    ("which", "form", "found"),
    [
        ("hearing", {"language": "de"}, {"language": "de"}),
        (
            "hearing",
            {"hearing.wake.phrase": " Hey  Jarvis "},
            {"hearing.wake.phrase": "hey jarvis"},
        ),
        ("hearing", {"hearing.wake.sensitivity": "70"}, {"hearing.wake.sensitivity": 0.7}),
        ("house", {"link.tls": "on", "link.port": "1884"}, {"link.port": 1884}),
        ("house", {"link.broker": ""}, {"link.broker": "", "link.tls": False}),
        ("panel", {"panel.night": "", "panel.brightness": "33"}, {"panel.night": ""}),
        ("panel", {"link.broker": "other"}, {}),
    ],
)
def test_only_changed_fields_are_returned(
    which: str, form: dict[str, str], found: dict[str, Scalar]
) -> None:
    assert typed(which, form, NOW) == found


@pytest.mark.parametrize(
    ("which", "form"),
    [
        ("house", {"link.port": "many"}), ("house", {"link.port": ""}),
        ("house", {"link.port": "1.5"}), ("panel", {"panel.brightness": "nan"}),
        ("panel", {"panel.brightness": "0.5"}), ("", {}), ("secrets", {}),
    ],
)  # fmt: skip
def test_an_invalid_number_or_form_is_refused(which: str, form: dict[str, str]) -> None:
    with pytest.raises(SettingsError):
        typed(which, form, NOW)

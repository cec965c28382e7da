"""Which settings may be changed from outside, and the format of the request."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from appliance.errors import SettingsError
from appliance.settings import load_text
from appliance.settings.section import Scalar
from appliance.settings.settings_change import (
    CHANGEABLE,
    SettingsChange,
    check_allowed,
    value_of,
)

ID, BASE = "0123456789abcdef", "fedcba9876543210"
ANY = load_text("", "defaults")


def change_of(values: dict[str, Scalar], secret: str = "") -> SettingsChange:
    return SettingsChange(ID, BASE, values, secret)


def test_every_changeable_key_is_a_setting_with_one_value() -> None:
    for key in CHANGEABLE:
        check_allowed(change_of({key: value_of(ANY, key)}), ANY)


@pytest.mark.parametrize(
    "key",
    ["page.unmute", "link.unmute", "link.words", "page.enabled", "page.listen", "panel.mute_switch",
     "tools.confirm", "link.ca_file", "link.password_file", "link.key_file", "thinking.remote.url",
     "state_dir", "models_dir", "card.capture", "processes", "mode", "link", "", "a" * 500],
)  # fmt: skip
def test_a_key_for_trust_or_for_a_file_is_refused(key: str) -> None:
    with pytest.raises(SettingsError, match="cannot be changed from here") as caught:
        check_allowed(change_of({key: "x"}), ANY)
    assert len(str(caught.value)) < 200


def test_a_page_that_may_not_unmute_may_not_choose_a_broker_that_may() -> None:
    strict = load_text("page: {unmute: false}", "strict")
    for change in (
        change_of({"link.broker": "10.0.0.9"}),
        change_of({"link.tls": False}),
        change_of({}, "secret"),
    ):
        check_allowed(change, ANY)
        with pytest.raises(SettingsError, match="may end a mute"):
            check_allowed(change, strict)
    check_allowed(change_of({"link.name": "Attic"}), strict)
    neither = load_text("page: {unmute: false}\nlink: {unmute: false}", "neither")
    check_allowed(change_of({"link.broker": "10.0.0.9"}), neither)


def test_with_a_mute_switch_wired_the_gpio_setting_cannot_be_changed() -> None:
    wired = load_text("panel: {mute_switch: true, gpio: header}", "wired")
    for gpio in ("none", "auto", "keyboard", "codec-zero"):
        check_allowed(change_of({"panel.gpio": gpio}), ANY)
        with pytest.raises(SettingsError, match="mute switch is wired"):
            check_allowed(change_of({"panel.gpio": gpio}), wired)
    check_allowed(change_of({"panel.gpio": "header", "panel.brightness": 0.5}), wired)


def test_a_password_with_a_line_break_is_refused() -> None:
    check_allowed(change_of({}, "correct horse"), ANY)
    with pytest.raises(SettingsError):
        check_allowed(change_of({}, "correct\nhorse"), ANY)


def test_a_record_survives_encoding_and_decoding() -> None:
    change = change_of(
        {"link.tls": True, "link.port": 8883, "panel.brightness": 0.5, "link.user": "a"}
    )
    again = msgspec.json.decode(msgspec.json.encode(change), type=SettingsChange)
    assert again == change
    assert again.values["link.tls"] is True


@pytest.mark.parametrize(
    "record",
    [{}, {"id": ID}, {"id": "../../etc/passwd", "base": BASE}, {"id": ID, "base": BASE, "mode": 1},
     {"id": ID, "base": BASE, "values": {"link.tls": None}},
     {"id": ID, "base": BASE, "values": {"link.name": ["a"]}},
     {"id": ID, "base": BASE, "values": {"link.name": "a" * 300}},
     {"id": ID, "base": BASE, "values": {"link.port": 10**9}},
     {"id": ID, "base": BASE, "values": {f"k{n}": 1 for n in range(99)}},
     {"id": ID, "base": BASE, "secret": "a" * 300}],
)  # fmt: skip
def test_an_invalid_record_is_refused(record: dict[str, Any]) -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.json.decode(msgspec.json.encode(record), type=SettingsChange)

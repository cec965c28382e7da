"""A change of the owner's settings from a browser or the house: the keys that it may name, and its
record. Pure.

Other keys are changed with an editor only: they decide who is trusted (`unmute`, the page), name
files or programs, or matter only to a person who builds a box.
"""

from __future__ import annotations

from typing import Annotated

import msgspec

from appliance.errors import SettingsError, ShownAs
from appliance.settings.section import Scalar
from appliance.settings.whole import Settings

REQUEST = "settings"  # name of the request (runtime/handed_request.py) and of its unit
HEARING = ("language", "hearing.wake.phrase", "hearing.wake.sensitivity")
HOUSE = ("link.name", "link.broker", "link.port", "link.user", "link.tls")
PANEL = (
    "panel.gpio", "panel.light", "panel.brightness", "panel.night_brightness", "panel.night",
)  # fmt: skip
MODEL = ("thinking.model",)  # only to an installed model (page/on_models.py checks that)
CHANGEABLE = frozenset((*HEARING, *HOUSE, *PANEL, *MODEL))
BROKER = frozenset(("link.broker", "link.port", "link.user", "link.tls"))
MOST_LETTERS = 253  # characters of a value: the longest host name (RFC 1035)
NOT_HERE = "Change it in the settings file."

Fingerprint = Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f]{16}$")]
Letters = Annotated[str, msgspec.Meta(max_length=MOST_LETTERS)]
Number = Annotated[float, msgspec.Meta(ge=-100_000, le=100_000)]
Whole = Annotated[int, msgspec.Meta(ge=-100_000, le=100_000)]


class SettingsChange(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One change, or with `undo` a request to undo the last one.

    `id`: of this change, chosen by the sender. `base`: fingerprint of the file's text that the
    change is based on. `secret`: the new password of the broker's user; "": unchanged.
    """

    id: Fingerprint
    base: Fingerprint
    values: Annotated[dict[str, bool | Whole | Number | Letters], msgspec.Meta(max_length=30)] = {}
    secret: Annotated[str, msgspec.Meta(max_length=200)] = msgspec.field(default="")
    undo: bool = False


def check_allowed(change: SettingsChange, now: Settings) -> None:
    """Raise SettingsError for a key that must not be changed from outside.

    `now`: the present settings. Where the broker may end a mute and the page may not, the page may
    not choose the broker either. Where a mute switch is wired, the panel that reads it is fixed.
    """
    for key in change.values:
        if key not in CHANGEABLE:
            shown = ShownAs.of("page-wrong-not-here", setting=key[:60])
            problem = f"`{key[:60]}` cannot be changed from here."
            raise SettingsError(problem, NOT_HERE, shown=shown)
    if BROKER & change.values.keys() or change.secret:
        check_other_broker(now)
    wires = now.panel.gpio
    if now.panel.mute_switch and change.values.get("panel.gpio", wires) != wires:
        problem = "A mute switch is wired: `panel.gpio` cannot be changed from here."
        raise SettingsError(problem, NOT_HERE, shown=ShownAs.of("page-wrong-panel-switch"))
    if any(not char.isprintable() for char in change.secret):
        problem = "The password has characters that cannot be typed."
        shown = ShownAs.of("page-wrong-password-letters")
        raise SettingsError(problem, "Type it again.", shown=shown)


def check_other_broker(now: Settings) -> None:
    """Raise SettingsError where another broker may be neither set nor tried from outside."""
    if now.link.unmute > now.page.unmute:
        problem = "The broker cannot be changed here: it may end a mute, which the page may not."
        raise SettingsError(problem, NOT_HERE, shown=ShownAs.of("page-wrong-broker-mute"))


def value_of(settings: Settings, key: str) -> Scalar:
    """The value of a dotted key; the key must not name a section."""
    value: object = settings
    for name in key.split("."):
        value = getattr(value, name)
    assert isinstance(value, bool | int | float | str)
    return value

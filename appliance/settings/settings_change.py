"""A change of the owner's settings from a browser or the house: which keys it may name, and the
record in which it is handed over. Pure.

What is not in this list is changed with an editor: it says who is trusted (`unmute`, the page),
names files or programs, or is for whoever builds the box.
"""

from __future__ import annotations

from typing import Annotated

import msgspec

from appliance.errors import SettingsError, ShownAs
from appliance.settings.section import Scalar
from appliance.settings.whole import Settings

REQUEST = "settings"  # its name in runtime/handed_request.py, and its unit's
HEARING = ("language", "hearing.wake.phrase", "hearing.wake.sensitivity")
HOUSE = ("link.name", "link.broker", "link.port", "link.user", "link.tls")
PANEL = (
    "panel.gpio", "panel.light", "panel.brightness", "panel.night_brightness", "panel.night",
)  # fmt: skip
MODEL = ("thinking.model",)  # one that is here (page/on_models.py)
CHANGEABLE = frozenset((*HEARING, *HOUSE, *PANEL, *MODEL))
BROKER = frozenset(("link.broker", "link.port", "link.user", "link.tls"))
MOST_LETTERS = 253  # of a value: the longest name of a host (RFC 1035)
NOT_HERE = "Change it in the settings file."

Fingerprint = Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f]{16}$")]
Letters = Annotated[str, msgspec.Meta(max_length=MOST_LETTERS)]
Number = Annotated[float, msgspec.Meta(ge=-100_000, le=100_000)]
Whole = Annotated[int, msgspec.Meta(ge=-100_000, le=100_000)]


class SettingsChange(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One change, or (`undo`) that the last one is undone.

    `id`: of this change, made up by who asks. `base`: of which text of the file it was made.
    `secret`: the new password of the broker's user; "": as it is.
    """

    id: Fingerprint
    base: Fingerprint
    values: Annotated[dict[str, bool | Whole | Number | Letters], msgspec.Meta(max_length=30)] = {}
    secret: Annotated[str, msgspec.Meta(max_length=200)] = msgspec.field(default="")
    undo: bool = False


def check_allowed(change: SettingsChange, now: Settings) -> None:
    """Raises SettingsError for a key that is not to be changed from outside.

    `now`: the settings as they are. Where the page may not end a mute and the broker may, the page
    does not choose the broker either. Where a mute switch is wired, what reads it stays as it is.
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
    if any(not letter.isprintable() for letter in change.secret):
        problem = "The password has letters that cannot be typed."
        shown = ShownAs.of("page-wrong-password-letters")
        raise SettingsError(problem, "Type it again.", shown=shown)


def check_other_broker(now: Settings) -> None:
    """Raises SettingsError where no other broker may be named from outside, nor tried."""
    if now.link.unmute > now.page.unmute:
        problem = "The broker cannot be changed from here: it may end a mute, and the page may not."
        raise SettingsError(problem, NOT_HERE, shown=ShownAs.of("page-wrong-broker-mute"))


def value_of(settings: Settings, key: str) -> Scalar:
    """The value of a dotted key that is no section."""
    found: object = settings
    for name in key.split("."):
        found = getattr(found, name)
    assert isinstance(found, bool | int | float | str)
    return found

"""What the page may have root change of the machine itself, and have tried in the network: records.
Pure."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from appliance.settings.settings_change import Fingerprint, Letters, check_other_broker
from appliance.settings.surroundings import LinkSettings
from appliance.settings.whole import Settings

NETWORK, BROKER_TRIAL = "network", "broker"  # requests, and their units' (interlude-…)
BROKER_ANSWER = "broker-answer"  # beside its request: the unit is the box's own user

Secret = Annotated[str, msgspec.Meta(max_length=200)]


class NetworkChange(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`doing`: look which Wi-Fis are in reach, enter one, or have another time zone."""

    id: Fingerprint
    doing: Literal["look", "wifi", "timezone"]
    wifi: Letters = ""
    password: Secret = ""
    hidden: bool = False
    timezone: Letters = ""


class BrokerTrial(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A broker to be tried, as the settings would name it. `password` "": the one that is kept,
    if this is the broker that it is kept for."""

    id: Fingerprint
    broker: Letters
    port: Annotated[int, msgspec.Meta(ge=0, le=65_535)]
    user: Letters
    tls: bool
    password: Secret = ""

    def is_of(self, link: LinkSettings) -> bool:
        """The settings name this very broker, and so the password that is kept is for it."""
        asked = (self.broker, self.port, self.user, self.tls)
        return asked == (link.broker, link.port, link.user, link.tls)

    def check_allowed(self, now: Settings) -> None:
        """As a change to this broker (settings_change.py). Raises SettingsError."""
        if self.password or not self.is_of(now.link):
            check_other_broker(now)

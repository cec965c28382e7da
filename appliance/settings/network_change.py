"""Records of the page's requests to root: a change of Wi-Fi or time zone, a trial of a broker.
Pure."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from appliance.settings.settings_change import Fingerprint, Letters, check_other_broker
from appliance.settings.surroundings import LinkSettings
from appliance.settings.whole import Settings

NETWORK, BROKER_TRIAL = "network", "broker"  # names of requests, and of their units (interlude-…)
BROKER_ANSWER = "broker-answer"  # beside its request: the unit runs as the box's own user

Secret = Annotated[str, msgspec.Meta(max_length=200)]


class NetworkChange(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`doing`: list the Wi-Fi networks in reach, join one, confirm the unconfirmed one
    (setup_changes.py), or set the time zone."""

    id: Fingerprint
    doing: Literal["look", "wifi", "confirm", "timezone"]
    wifi: Letters = ""
    password: Secret = ""
    hidden: bool = False
    timezone: Letters = ""


class BrokerTrial(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A broker to be tried, with the fields of the settings. `password` "": the stored password,
    if this is the broker that it is stored for. `pinned`: SHA-256 of the certificate that the box
    remembers of the broker at `pinned_at` (runtime/broker_certificate.py); "": none."""

    id: Fingerprint
    broker: Letters
    port: Annotated[int, msgspec.Meta(ge=0, le=65_535)]
    user: Letters
    tls: bool
    password: Secret = ""
    pinned_at: Letters = ""
    pinned: Letters = ""

    def is_of(self, link: LinkSettings) -> bool:
        """Whether the settings name this broker, so that the stored password belongs to it."""
        address = (self.broker, self.port, self.user, self.tls)
        return address == (link.broker, link.port, link.user, link.tls)

    def check_allowed(self, now: Settings) -> None:
        """Apply the rule for a change to this broker (settings_change.py). Raises SettingsError."""
        if self.password or not self.is_of(now.link):
            check_other_broker(now)

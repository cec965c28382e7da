"""Test connection to a broker before its address is written into the settings.

In: the broker as the owner typed it into the page; the page's process can open no connection
itself. Out: a sentence. The unit interlude-broker runs it as the box's own user.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace

import msgspec

from appliance.errors import InterludeError, LinkError, ShownAs
from appliance.mqtt import one_shot
from appliance.mqtt.broker import broker
from appliance.runtime.broker_certificate import CertificatePin, in_pairs
from appliance.runtime.handed_request import RequestOutcome
from appliance.settings import Settings
from appliance.settings.network_change import BrokerTrial


@dataclass(frozen=True)
class TrialPins:
    """The certificate that the box remembers of the broker at `place`. A trial accepts no other,
    and remembers none, because it sees no file of the box."""

    place: str
    sha256: str

    def load(self, place: str) -> CertificatePin | None:
        known = self.sha256 and place == self.place
        return CertificatePin(place, self.sha256) if known else None

    def save(self, pin: CertificatePin) -> None:
        """Raises LinkError for a broker that only its own certificate vouches for."""
        if pin.sha256 and not pin.refused:
            sha256 = in_pairs(pin.sha256)
            raise LinkError(
                f"No authority vouches for the certificate of the broker at {pin.place} "
                f"(SHA-256 {sha256}). The password was not sent.",
                "Save the settings: at its first connection the box remembers the certificate, and "
                "accepts no other.",
                shown=ShownAs.of("page-wrong-broker-first", at=pin.place, sha256=sha256),
            )


def try_broker(
    asked: BrokerTrial, settings: Settings, environment: Mapping[str, str] = os.environ
) -> RequestOutcome:
    """Connect, subscribe to the box's own topics, disconnect. Errors go into the outcome; none is
    raised.

    The saved password is sent only to the broker of the settings.
    """
    link = msgspec.structs.replace(
        settings.link, broker=asked.broker, port=asked.port, user=asked.user, tls=asked.tls
    )
    candidate = msgspec.structs.replace(settings, link=link)
    try:
        if not asked.broker:
            raise LinkError("No broker is named.", shown=ShownAs.of("page-wrong-broker-none"))
        asked.check_allowed(settings)
        target = broker(link, environment, pins=TrialPins(asked.pinned_at, asked.pinned))
        if asked.password or not asked.is_of(settings.link):
            target = replace(target, password=asked.password)
        how, version = "tls" if target.tls else "plain", one_shot.ask_version(candidate, target)
        success = ShownAs.of("page-set-broker-well", at=target.place, how=how, version=version)
        sentence = one_shot.answer(target, version)
        return RequestOutcome(
            asked.id, names=(sentence,), key=success.key, values=dict(success.values)
        )
    except InterludeError as error:
        return RequestOutcome.of_error(asked.id, error)

"""Test connection to a broker before its address is written into the settings.

In: the broker as the owner typed it into the page; the page's process can open no connection
itself. Out: a sentence. The unit interlude-broker runs it as the box's own user.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace

import msgspec

from appliance.errors import InterludeError, LinkError, ShownAs
from appliance.mqtt import one_shot
from appliance.mqtt.broker import broker
from appliance.runtime.handed_request import RequestOutcome
from appliance.settings import Settings
from appliance.settings.network_change import BrokerTrial


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
    named = msgspec.structs.replace(settings, link=link)
    try:
        if not asked.broker:
            raise LinkError("No broker is named.", shown=ShownAs.of("page-wrong-broker-none"))
        asked.check_allowed(settings)
        at = broker(link, environment)
        if asked.password or not asked.is_of(settings.link):
            at = replace(at, password=asked.password)
        how, version = "tls" if at.tls else "plain", one_shot.ask_version(named, at)
        well = ShownAs.of("page-set-broker-well", at=at.place, how=how, version=version)
        said = one_shot.answer(at, version)
        return RequestOutcome(asked.id, names=(said,), key=well.key, values=dict(well.values))
    except InterludeError as error:
        return RequestOutcome.of_error(asked.id, error)

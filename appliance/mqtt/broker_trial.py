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
    candidate = msgspec.structs.replace(settings, link=link)
    try:
        if not asked.broker:
            raise LinkError("No broker is named.", shown=ShownAs.of("page-wrong-broker-none"))
        asked.check_allowed(settings)
        target = broker(link, environment)
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

"""A one-shot MQTT client for `interlude link remove|add`, `interlude check` and the page's trial.

It has a client id of its own, since the link process may be connected at the same time.
"""

from __future__ import annotations

import select
import sys
import time
from collections.abc import Iterable

from appliance.errors import LinkError, ShownAs, StorageError
from appliance.mqtt import failures
from appliance.mqtt.broker import Broker, broker
from appliance.mqtt.connection import (
    BrokerConnected,
    BrokerDisconnected,
    MqttConnection,
    ProtocolVersion,
    PublishReceipt,
    Subscribed,
)
from appliance.mqtt.failures import BrokerFailure
from appliance.mqtt.identity import DeviceIdentity
from appliance.mqtt.link import removed
from appliance.mqtt.topics import Topics
from appliance.runtime.broker_certificate import CertificatePins
from appliance.runtime.machine import Machine
from appliance.settings import Settings

PATIENCE_S = 12.0  # total timeout; TCP, TLS and CONNACK have shorter ones of their own


def check(settings: Settings) -> str:
    """Connect to the broker of the settings and return a sentence. Raises LinkError on failure."""
    target = broker(settings.link, pins=CertificatePins.of(settings))
    version = ask_version(settings, target)
    return answer(target, version)


def answer(target: Broker, version: str) -> str:
    """The sentence for a broker that accepted the box."""
    how = "encrypted, " if target.tls else ""
    return f"The broker at {target.place} lets us in: {how}MQTT {version}."


def ask_version(settings: Settings, target: Broker) -> str:
    """Connect and return the broker's MQTT version. Raises LinkError if it rejects the box."""
    topics = _topics(settings)
    try:
        version, denied = run(target, _name(settings, "check"), read=topics.commands)
    except OneShotFailed as refused:
        failure = refused.failure
        raise LinkError(failure.problem, failure.remedy, shown=failure.shown) from refused
    if denied:
        raise LinkError(
            f"The broker at {target.place} does not let us read {', '.join(denied)}.",
            "Allow it in the broker's access list; docs/home-assistant.md has one.",
            shown=ShownAs.of("page-wrong-broker-topics", at=target.place, topics=", ".join(denied)),
        )
    return "5" if version == 5 else "3.1.1"


def cli_remove(settings: Settings) -> int:
    """Remove the box from Home Assistant until `cli_add`. Raises LinkError, StorageError."""
    _needs_broker(settings)
    marker = removed(settings)
    try:
        marker.parent.mkdir(parents=True, exist_ok=True)
        marker.touch()
    except OSError as error:
        raise StorageError(f"{marker}: cannot be written ({error.strerror}).") from error
    topics = _topics(settings)
    try:
        target = broker(settings.link, pins=CertificatePins.of(settings))
        run(target, _name(settings, "remove"), clear=topics.retained)
    except OneShotFailed as refused:
        failure = refused.failure
        raise LinkError(
            f"{failure.problem} The box is not announced any more, but what it left there stays.",
            f"{failure.remedy} Then run this again.",
        ) from refused
    return _print_line(
        "Home Assistant has forgotten the box, and will not be told of it again until "
        "`interlude link add`."
    )


def cli_add(settings: Settings) -> int:
    """Undo `cli_remove`. Raises LinkError, StorageError."""
    _needs_broker(settings)
    marker = removed(settings)
    try:
        marker.unlink(missing_ok=True)
    except OSError as error:
        raise StorageError(f"{marker}: cannot be removed ({error.strerror}).") from error
    if not settings.link.discovery:
        return _print_line("The box stays hidden: `link.discovery` is false.")
    return _print_line("The box appears in Home Assistant as soon as it runs.")


class OneShotFailed(Exception):
    """The one-shot connection failed."""

    def __init__(self, failure: BrokerFailure) -> None:
        super().__init__(str(failure))
        self.failure = failure


def run(
    target: Broker, name: str, *, read: tuple[str, ...] = (), clear: Iterable[str] = ()
) -> tuple[ProtocolVersion, tuple[str, ...]]:
    """Connect, subscribe to the topics `read`, empty the topics `clear`, disconnect.

    Returns the MQTT version and the topics of `read` that are denied. Raises OneShotFailed.
    """
    clear = tuple(clear)
    try:
        return _OneShotClient(target, name, 5, read, clear).run()
    except OneShotFailed as failed:
        if not failed.failure.other_protocol:
            raise
    return _OneShotClient(target, name, 4, read, clear).run()


class _OneShotClient:
    def __init__(
        self,
        target: Broker,
        name: str,
        version: ProtocolVersion,
        read: tuple[str, ...],
        clear: tuple[str, ...],
    ) -> None:
        self._target = target
        self._clear = clear
        self._connection = MqttConnection(target, name, subscribe=read, version=version)
        self._version: ProtocolVersion = version
        self._up = False
        self._pending: set[int] = set()  # numbers of messages without a receipt yet
        self._subscribing = bool(read)
        self._denied: tuple[str, ...] = ()

    def run(self) -> tuple[ProtocolVersion, tuple[str, ...]]:
        end_s = time.monotonic() + PATIENCE_S
        try:
            while not (self._up and not self._pending and not self._subscribing):
                if time.monotonic() > end_s:
                    raise OneShotFailed(failures.silent(self._target))
                self._wait()
                for event in self._connection.poll(time.monotonic()):
                    self._handle_event(event)
        finally:
            self._connection.close()
        return self._version, self._denied

    def _wait(self) -> None:
        now_s = time.monotonic()
        poll = select.poll()
        for fd, events in self._connection.interests(now_s):
            poll.register(fd, events)
        poll.poll(1000 * min(0.5, self._connection.wait_s(now_s)))

    def _handle_event(self, event: object) -> None:
        match event:
            case BrokerConnected():
                self._up = True
                for topic in self._clear:
                    number = self._connection.publish(topic, b"", qos=1, retain=True)
                    if number is not None:
                        self._pending.add(number)
            case BrokerDisconnected(failure):
                raise OneShotFailed(failure)
            case PublishReceipt(number, denied):
                self._pending.discard(number)
                if denied:
                    problem = f"The broker at {self._target.place} does not let us write: {denied}."
                    raise OneShotFailed(BrokerFailure("refused", problem, "See its access list."))
            case Subscribed(denied):
                self._subscribing, self._denied = False, denied


def _needs_broker(settings: Settings) -> None:
    if not settings.link.broker:
        raise LinkError("No broker is named in the settings.", "Set `link.broker`.")


def _topics(settings: Settings) -> Topics:
    return Topics.of(settings.link, DeviceIdentity.of(settings.link, Machine()).box)


def _name(settings: Settings, purpose: str) -> str:
    return f"interlude-{DeviceIdentity.of(settings.link, Machine()).box}-{purpose}"


def _print_line(line: str) -> int:
    sys.stdout.write(line + "\n")
    return 0

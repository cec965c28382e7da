"""[process] The link: publishes the box's states and events by MQTT and receives commands.

An unreachable broker is a normal state. home_assistant.py decides what this module transports.
"""

from __future__ import annotations

import math
import random
import select
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

from appliance.errors import LinkError
from appliance.messages.commands import BoxStatus, BrokerChanged, StatusWanted
from appliance.models import download_progress
from appliance.models.store import ModelStore
from appliance.mqtt import failures, stale_topics, update_entity
from appliance.mqtt.backoff import ReconnectBackOff
from appliance.mqtt.broker import Broker, OwnersBroker
from appliance.mqtt.command_topics import CommandRefusal, CommandRejected, LanguageCommand
from appliance.mqtt.connection import (
    BrokerConnected,
    BrokerDisconnected,
    LastWill,
    MessageArrived,
    MqttConnection,
    ProtocolVersion,
    PublishReceipt,
    Subscribed,
)
from appliance.mqtt.discovery import DiscoveryFeatures
from appliance.mqtt.failures import BrokerFailure
from appliance.mqtt.home_assistant import OFFLINE, HomeAssistantState
from appliance.mqtt.identity import DeviceIdentity
from appliance.mqtt.language_setting import LanguageSetting
from appliance.mqtt.stale_topics import StaleTopics
from appliance.mqtt.state_payloads import MachineReading
from appliance.panel import auto_detection
from appliance.runtime import network_status
from appliance.runtime.broker_certificate import CertificatePins
from appliance.runtime.enabled import ESPEAK
from appliance.runtime.machine import LOW_VOLTAGE, Machine
from appliance.runtime.settings_access import settings_access
from appliance.runtime.worker import Worker
from appliance.settings import Settings
from appliance.update import request
from appliance.update.request import UpdateOffer

LOOK_S = 10.0  # between two readings of the machine; varying values go out every interval_s
INSTALL_LOOK_S = 1.0  # between two readings of the progress of an installation
RECEIPT_S = 0.3  # for the broker's receipt of the last message
SWEEP_S = 5.0  # lets Home Assistant subscribe to the new topics before the old ones are emptied
SHORT_S, MOST_SHORT = 10.0, 3  # this many connections in a row that end this soon: flapping
CLOCK_SLACK_S = 30  # changes of the clock below this do not move the published start time


def main(work: Worker) -> None:
    link = Link(work, Machine())
    link.catch_up()
    work.report_ready()
    while not work.stopping:
        link.wait()
        link.run_once(time.monotonic())
        work.beat()
    link.disconnect()


def removed(settings: Settings) -> Path:
    """The marker of `interlude link remove`: while it exists, the box is not announced."""
    return settings.state_path() / "link/removed-from-home-assistant"


def features(settings: Settings, machine: Machine) -> DiscoveryFeatures:
    """Return the optional features of this box."""
    return DiscoveryFeatures(
        voices=(ESPEAK,),  # the speaker reports others once they have spoken
        language=settings.language,
        temperature=machine.temperature_c() is not None,
        throttled=machine.can_be_throttled(),
        button=settings.panel.here,
        mute_switch=settings.panel.mute_switch,
        installs=update_entity.installs(),
    )


def read_machine(machine: Machine, store: ModelStore) -> MachineReading:
    now, _ = machine.throttled()
    return MachineReading(
        temperature_c=machine.temperature_c(),
        throttled=bool(now),
        low_voltage=LOW_VOLTAGE in now,
        memory_percent=machine.memory_used_percent(),
        download_percent=download_progress.percent(store),
    )


class Link:
    """Publishes the box's state to the broker and forwards its commands to the conductor."""

    def __init__(
        self, work: Worker, machine: Machine, network: Path = network_status.FOLDER
    ) -> None:
        settings = work.settings
        identity = DeviceIdentity.of(settings.link, machine)
        self._work = work
        self._machine = machine
        self._store = ModelStore.of(settings)
        self._client_id = f"interlude-{identity.box}"
        self._rng = random.SystemRandom().random
        access = settings_access(time.monotonic, auto_detection.usable)
        self._language = LanguageSetting(access, settings.language)
        available, marker = features(settings, machine), removed(settings)
        self._house = HomeAssistantState(
            settings,
            identity,
            available,
            BoxStatus(
                settings.mode,
                work.floor.muted,
                settings.speaking.volume,
                ESPEAK,  # until the speaker reports its voice
                settings.thinking.model,
            ),
            started=_started(work),
            now_s=time.monotonic(),
            rng=self._rng,
            shown=lambda: settings.link.discovery and not marker.exists(),
        )
        self._stale_topics = StaleTopics(stale_topics.path(settings), self._house.topics.retained)
        self._sweep_at_s = math.inf
        self._connection: MqttConnection | None = None
        self._version: ProtocolVersion = 5
        self._backoff = ReconnectBackOff()
        self._try_at_s = self._look_at_s = self._releases_at_s = 0.0
        self._up_at_s: float | None = None
        self._short_connections = 0  # consecutive connections that ended within SHORT_S
        self._brokers = OwnersBroker(settings.link, network, CertificatePins.of(settings))
        self._warned: set[str] = set()  # since the last successful connection
        self._refused: set[CommandRefusal] = set()

    def catch_up(self) -> None:
        """Handle messages from before this process started, which may be old."""
        for message in self._work.pop_messages():
            self._house.catch_up(message)

    def wait(self) -> None:
        """Block until a message arrives, a descriptor is ready, or a timer expires."""
        now_s = time.monotonic()
        poll = select.poll()
        poll.register(self._work.stop_fd, select.POLLIN)
        poll.register(self._work.channel.fileno(), select.POLLIN)
        due_s = [self._house.wait_s(now_s)]
        if self._connection is None:
            due_s.append(max(0.0, self._try_at_s - now_s))
        else:
            due_s.append(self._connection.wait_s(now_s))
            for fd, events in self._connection.interests(now_s):
                poll.register(fd, events)
        poll.poll(1000 * min(due_s) + 1)

    def run_once(self, now_s: float) -> None:
        """Run one iteration: read messages and the machine, poll the connection, publish."""
        for message in self._work.pop_messages():
            if isinstance(message, StatusWanted):
                self._work.send(BrokerChanged(here=self._up_at_s is not None))
            self._house.handle(message)
        if now_s >= self._look_at_s:
            self._look_at_s = now_s + LOOK_S
            self._house.update_reading(read_machine(self._machine, self._store))
            self._house.started(_started(self._work), CLOCK_SLACK_S)
            self._show_language()
        if now_s >= self._releases_at_s:
            self._house.releases(update_entity.read_update_status(), now_s)
            self._releases_at_s = now_s + (INSTALL_LOOK_S if self._house.installing else LOOK_S)
        if self._connection is None and now_s >= self._try_at_s:
            self._connect(now_s)
        if self._connection is not None:
            if self._house.is_stalled(now_s):
                self._connection.fail(failures.silent(self._connection.broker))
            for event in self._connection.poll(now_s):
                self._handle_event(event, now_s)
        self._publish(now_s)
        if now_s >= self._sweep_at_s:
            self._sweep_at_s = math.inf
            self._clear_stale_topics()

    def disconnect(self) -> None:
        """Publish that the box is offline, so that Home Assistant need not wait for a timeout."""
        connection = self._connection
        if connection is None:
            return
        last = self._house.last_message()
        number = connection.publish(last.topic, last.payload, qos=1, retain=True)
        end_s = time.monotonic() + RECEIPT_S
        while number is not None and (now_s := time.monotonic()) < end_s:
            if connection.is_closed or PublishReceipt(number) in connection.poll(now_s):
                break
            time.sleep(0.005)
        connection.close()

    def _connect(self, now_s: float) -> None:
        topics = self._house.topics
        try:
            self._connection = MqttConnection(
                self._brokers.read(now_s),
                self._client_id,
                will=LastWill(topics.availability, OFFLINE),
                subscribe=(*topics.commands, topics.birth, topics.response),
                version=self._version,
            )
        except LinkError as error:  # a fault in the owner's files, which may be corrected later
            self._on_failure(BrokerFailure("refused", error.problem, error.remedy), now_s)

    def _handle_event(self, event: object, now_s: float) -> None:
        match event:
            case BrokerConnected(version):
                self._up_at_s = now_s
                self._warned.clear()
                self._work.log.info("connected (MQTT %s)", "5" if version == 5 else "3.1.1")
                self._house.connected()
                self._on_connected(now_s)
                self._work.send(BrokerChanged(here=True))
            case BrokerDisconnected(failure):
                assert self._connection is not None
                if self._up_at_s is not None:
                    self._work.send(BrokerChanged(here=False))
                failure = self._check_flapping(failure, self._connection.broker, now_s)
                self._connection, self._sweep_at_s = None, math.inf
                self._house.disconnected()
                self._on_failure(failure, now_s)
            case MessageArrived(topic, payload, retained):
                self._carry_out(topic, payload, now_s, retained=retained)
            case PublishReceipt(number, denied):
                self._save_stale_topics(lambda: self._stale_topics.receipt(number))
                name = self._house.receipt(number)
                if name and denied:
                    self._warn_once(f"The broker does not take {name}: {denied}.")
            case Subscribed(denied) if denied:
                self._warn_once(f"The broker does not let us read {', '.join(denied)}.")

    def _on_connected(self, now_s: float) -> None:
        assert self._connection is not None
        place = self._connection.broker.place
        self._save_stale_topics(lambda: self._stale_topics.on_connected(place))
        self._sweep_at_s = now_s + SWEEP_S

    def _clear_stale_topics(self) -> None:
        """Empty the topics that the box retained here under another prefix, base or id."""
        assert self._connection is not None
        for topic in self._stale_topics.stale:
            number = self._connection.publish(topic, b"", qos=1, retain=True)
            if number is not None:
                self._stale_topics.emptied(number)

    def _save_stale_topics(self, save: Callable[[], None]) -> None:
        try:
            save()
        except OSError as error:
            self._warn_once(f"The list of retained topics cannot be saved ({error.strerror}).")

    def _check_flapping(self, failure: BrokerFailure, peer: Broker, now_s: float) -> BrokerFailure:
        """Return `failure`, or `flapping` after MOST_SHORT short connections in a row. Mosquitto,
        for one, does not tell a client that another one has taken over its id."""
        up_at_s, self._up_at_s = self._up_at_s, None
        if up_at_s is None:
            return failure
        self._version = 5  # the broker may have been upgraded
        self._short_connections = self._short_connections + 1 if now_s - up_at_s < SHORT_S else 0
        if not self._short_connections:
            self._backoff.succeeded()
        if self._short_connections < MOST_SHORT:
            return failure
        return failures.flapping(peer)

    def _on_failure(self, failure: BrokerFailure, now_s: float) -> None:
        if failure.cause == "refused":
            self._brokers.forget()
        if failure.other_protocol:
            self._version = 4 if self._version == 5 else 5
        self._try_at_s = now_s + self._backoff.failed(failure.cause, self._rng())
        self._warn_once(str(failure))

    def _warn_once(self, sentence: str) -> None:
        """Log a warning once per connection."""
        if sentence not in self._warned:
            self._warned.add(sentence)
            self._work.log.warning("%s", sentence)

    def _carry_out(self, topic: str, payload: bytes, now_s: float, *, retained: bool) -> None:
        try:
            command = self._house.on_message(topic, payload, now_s, retained=retained)
        except CommandRejected as refused:
            if refused.refusal not in self._refused:  # log each kind once, without the payload
                self._refused.add(refused.refusal)
                self._work.log.warning("refused a command: %s", refused)
            return
        if isinstance(command, LanguageCommand):
            self._change_language(command.language)
        elif isinstance(command, UpdateOffer):
            self._releases_at_s = now_s
            self._request_install(command)
        elif command is not None and not self._work.send(command):
            self._warn_once("The channel to the conductor is full: a command was dropped.")

    def _change_language(self, language: str) -> None:
        if problem := self._language.choose(language):
            self._work.log.warning("the language is not changed: %s", problem)
        self._show_language()

    def _show_language(self) -> None:
        if problem := self._language.look():
            self._work.log.warning("the language is not changed: %s", problem)
        self._house.set_language(self._language.shown)

    def _request_install(self, offer: UpdateOffer) -> None:
        self._work.log.info("Home Assistant requests version %s", offer.version)
        try:
            request.request_install(offer)
        except OSError as error:
            self._work.log.warning(
                "version %s cannot be requested (%s)", offer.version, error.strerror
            )

    def _publish(self, now_s: float) -> None:
        for publication in self._house.outgoing(now_s):
            if self._connection is None:
                return
            keep = publication.keep
            number = self._connection.publish(
                publication.topic, publication.payload, qos=1 if keep else 0, retain=keep
            )
            if number is not None:
                self._house.sent(publication, number, now_s)


def _started(work: Worker) -> datetime:
    """Start time of the box by the present wall clock."""
    ago = timedelta(seconds=time.monotonic() - work.box_started_s)
    return (datetime.now(UTC) - ago).replace(microsecond=0)

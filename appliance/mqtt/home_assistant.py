"""What is published for Home Assistant, and which of its commands are carried out. Pure: no broker
here.

In: the conductor's messages, readings of the machine, what came over MQTT, and the time. Out:
publications, and messages for the conductor.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime

from appliance.messages.commands import BoxStatus, ButtonPressed, Restart, StateChanged
from appliance.messages.registry import Message
from appliance.messages.tools import HouseRequest, TimerEvent, TimersStatus
from appliance.mqtt.command_topics import (
    CommandFilter,
    CommandLimits,
    CommandRefusal,
    CommandRejected,
    InstallCommand,
    LanguageCommand,
)
from appliance.mqtt.conversation_events import ConversationEvents, EventPayload
from appliance.mqtt.discovery import DiscoveryFeatures, payload
from appliance.mqtt.home_tool import HomeToolBridge
from appliance.mqtt.identity import DeviceIdentity
from appliance.mqtt.retained_topics import STALL_S, RetainedTopics
from appliance.mqtt.state_payloads import MachineReading, StatePayloads, as_json
from appliance.mqtt.timer_payloads import event_payload, status_payload
from appliance.mqtt.topics import Topics
from appliance.mqtt.update_entity import UpdateEntity, UpdateStatus
from appliance.settings import Settings
from appliance.update.request import UpdateOffer

DEAD_S = 10.0  # without a receipt for so long the connection is given up: a new one may do better
BIRTH_S = (0.3, 3.0)  # after Home Assistant has come up: all its devices answer, not at once
ONLINE, OFFLINE = b"online", b"offline"


@dataclass(frozen=True)
class Publication:
    """`keep`: retained, with a receipt; else an event, once and never again."""

    topic: str
    payload: bytes
    keep: bool


class HomeAssistantState:
    """`status`: how the box stands as far as is known at the start. `rng`: 0 to 1.

    `shown`: whether Home Assistant is to know of the box now; the owner may take it away.
    """

    def __init__(
        self,
        settings: Settings,
        identity: DeviceIdentity,
        features: DiscoveryFeatures,
        status: BoxStatus,
        *,
        started: datetime,
        now_s: float,
        rng: Callable[[], float],
        shown: Callable[[], bool] = lambda: True,
    ) -> None:
        link = settings.link
        self.topics = Topics.of(link, identity.box)
        self._rng = rng
        self._home_tool = HomeToolBridge(rng)
        self._shown = shown
        self._identity, self._features = identity, features
        self._discovery = as_json(payload(self.topics, identity, features))
        self._conversation_events = ConversationEvents(link.words)
        self._payloads = StatePayloads(
            self.topics,
            status=status,
            started=started,
            version=identity.version,
            interval_s=link.interval_s,
            language=settings.language,
        )
        self._update_entity = UpdateEntity(identity.version)
        self._timers = TimersStatus()
        self._filter = CommandFilter(
            CommandLimits(features.voices, link.unmute, features.button), now_s
        )
        self._states = RetainedTopics(
            (
                self.topics.discovery,
                self.topics.state,
                self.topics.settings,
                self.topics.telemetry,
                self.topics.update,
                self.topics.timers,
                self.topics.availability,  # last: whoever reads it finds the others in place
            )
        )
        self._states.set(self.topics.availability, ONLINE)
        self._events: list[Publication] = []
        self._connected = False
        self._was_shown = shown()
        self._withdrawn = False  # the broker knows that Home Assistant is not to know of us

    def handle(self, message: Message) -> None:
        """Something the conductor tells."""
        self._payloads.handle(message)
        match message:
            case BoxStatus():
                self._offer(message)
            case ButtonPressed(kind):
                self._happens(self.topics.button, {"event_type": kind})
            case TimerEvent():
                self._happens(self.topics.timer, event_payload(message))
            case TimersStatus():
                self._timers = message
            case HouseRequest():
                asked = self._home_tool.encode_request(message)
                self._events.append(Publication(self.topics.request, asked, keep=False))
        for event in self._conversation_events.handle(message):
            self._happens(self.topics.conversation, event)

    def _offer(self, status: BoxStatus) -> None:
        """The voices that the house may choose from: those that can speak, and the current."""
        named = [*(status.voices or self._features.voices), status.voice]
        voices = tuple(dict.fromkeys(name for name in named if name))
        if voices == self._features.voices:
            return
        self._features = replace(self._features, voices=voices)
        self._discovery = as_json(payload(self.topics, self._identity, self._features))
        self._filter.limits = replace(self._filter.limits, voices=voices)

    def _happens(self, topic: str, event: EventPayload) -> None:
        self._events.append(Publication(topic, as_json(event), keep=False))

    def catch_up(self, message: Message) -> None:
        """The same of something that may be old: it changes states and makes no event."""
        if isinstance(message, StateChanged | BoxStatus):
            self._payloads.handle(message)
            self._conversation_events.handle(message)
            if isinstance(message, BoxStatus):
                self._offer(message)
        elif isinstance(message, TimersStatus):
            self._payloads.handle(message)
            self._timers = message

    def update_reading(self, reading: MachineReading) -> None:
        """The machine, as it is now."""
        self._payloads.update_reading(reading)

    def set_language(self, shown: str) -> None:
        """What the box speaks, or will after its next start."""
        self._payloads.set_language(shown)
        if shown != self._features.language:
            self._features = replace(self._features, language=shown)
            self._discovery = as_json(payload(self.topics, self._identity, self._features))

    def releases(self, ready: UpdateStatus, now_s: float) -> None:
        """What lies ready to be installed, and how an installation goes."""
        self._update_entity.update(ready, now_s)

    @property
    def installing(self) -> bool:
        return self._update_entity.busy

    def started(self, at: datetime, slack_s: float) -> None:
        """When the box began, by a clock that may have been set since."""
        self._payloads.set_started(at, slack_s)

    def connected(self) -> None:
        self._connected = True
        self._events.clear()
        self._states.connected()

    def disconnected(self) -> None:
        self._connected = False
        self._events.clear()

    def receipt(self, number: int) -> str | None:
        """The broker has it. Returns the topic."""
        topic = self._states.acknowledged(number)
        if topic == self.topics.discovery and self._states.value(topic) == b"":
            self._withdrawn = True  # said again, Home Assistant would warn of a device it has not
            self._states.drop(topic)
        return topic

    def sent(self, publication: Publication, number: int, now_s: float) -> None:
        if publication.keep:
            self._states.sent(publication.topic, publication.payload, number, now_s)

    def on_message(
        self, topic: str, payload: bytes, now_s: float, *, retained: bool
    ) -> Message | UpdateOffer | LanguageCommand | None:
        """Something came over MQTT. Returns what it wants of the box, if anything: a message for
        the conductor, a release to be asked for, or a language to be written.

        Raises CommandRejected for what is not carried out.
        """
        if topic == self.topics.birth:
            if payload == ONLINE:  # some have Home Assistant retain it
                first_s, last_s = BIRTH_S
                self._states.again_at(now_s + first_s + (last_s - first_s) * self._rng())
            return None
        if topic == self.topics.response:
            return self._home_tool.parse_response(payload, retained=retained)
        name = self.topics.name_of(topic)
        command = self._filter.parse(name, payload, now_s, retained=retained)
        if isinstance(command, InstallCommand):
            return self._update_entity.install(now_s)
        if isinstance(command, Restart) and self._update_entity.busy:
            raise CommandRejected(CommandRefusal(name, "something is being installed"))
        return command

    def outgoing(self, now_s: float) -> list[Publication]:
        """What is to be published now, in order.

        Events are for those who listen now: without a broker that answers there are none.
        """
        shown = self._shown()
        if shown and not self._was_shown:  # what took the box away took its states, too
            self._states.again_at(now_s)
        self._was_shown = shown
        if shown or not self._withdrawn:
            self._states.set(self.topics.discovery, self._discovery if shown else b"")
        self._withdrawn = self._withdrawn and not shown
        for topic, value in self._payloads.payloads(self._conversation_events, now_s).items():
            self._states.set(topic, value)
        self._states.set(self.topics.update, as_json(self._update_entity.payload()))
        self._states.set(self.topics.timers, as_json(status_payload(self._timers)))
        events, self._events = self._events, []
        if not self._connected:
            return []
        states = [
            Publication(topic, value, keep=True) for topic, value in self._states.pop_due(now_s)
        ]
        if self._states.stalled_s(now_s) > STALL_S:
            events = []
        return states + events

    def is_stalled(self, now_s: float) -> bool:
        """The broker is connected and has not answered for too long."""
        return self._connected and self._states.stalled_s(now_s) > DEAD_S

    def wait_s(self, now_s: float) -> float:
        """How long nothing falls due by itself."""
        next_s = self._states.next_s()
        return 1.0 if next_s is None else max(0.0, min(1.0, next_s - now_s))

    def last_message(self) -> Publication:
        """The last word before a disconnect in order."""
        return Publication(self.topics.availability, OFFLINE, keep=True)

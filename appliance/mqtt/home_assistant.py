"""The box's side of Home Assistant: decides what is published and which commands are carried out.

Pure: it holds no connection. In: the conductor's messages, readings of the machine, messages
received over MQTT, and the time. Out: publications, and messages for the conductor.
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

DEAD_S = 10.0  # without a receipt for this long, the link closes the connection and makes another
BIRTH_S = (0.3, 3.0)  # random delay after Home Assistant's start, as all its devices publish then
ONLINE, OFFLINE = b"online", b"offline"


@dataclass(frozen=True)
class Publication:
    """One message to publish. `keep`: retained, QoS 1; otherwise an event, QoS 0, sent once."""

    topic: str
    payload: bytes
    keep: bool


class HomeAssistantState:
    """`status`: state of the box as far as it is known at the start. `rng`: returns 0 to 1.

    `shown`: whether the box is to be announced to Home Assistant now; the owner may remove it.
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
                self.topics.availability,  # last: the states are published before it says online
            )
        )
        self._states.set(self.topics.availability, ONLINE)
        self._events: list[Publication] = []
        self._connected = False
        self._shown_before = shown()
        self._withdrawn = False  # the broker has acknowledged the empty discovery payload

    def handle(self, message: Message) -> None:
        """Update the states and queue the events for a message of the conductor."""
        self._payloads.handle(message)
        match message:
            case BoxStatus():
                self._offer_voices(message)
            case ButtonPressed(kind):
                self._queue_event(self.topics.button, {"event_type": kind})
            case TimerEvent():
                self._queue_event(self.topics.timer, event_payload(message))
            case TimersStatus():
                self._timers = message
            case HouseRequest():
                request = self._home_tool.encode_request(message)
                self._events.append(Publication(self.topics.request, request, keep=False))
        for event in self._conversation_events.handle(message):
            self._queue_event(self.topics.conversation, event)

    def _offer_voices(self, status: BoxStatus) -> None:
        """Offer the voices that can speak, and the current one, in the discovery payload."""
        named = [*(status.voices or self._features.voices), status.voice]
        voices = tuple(dict.fromkeys(name for name in named if name))
        if voices == self._features.voices:
            return
        self._features = replace(self._features, voices=voices)
        self._discovery = as_json(payload(self.topics, self._identity, self._features))
        self._filter.limits = replace(self._filter.limits, voices=voices)

    def _queue_event(self, topic: str, event: EventPayload) -> None:
        self._events.append(Publication(topic, as_json(event), keep=False))

    def catch_up(self, message: Message) -> None:
        """Like `handle`, for messages that may be old: updates states and makes no events."""
        if isinstance(message, StateChanged | BoxStatus):
            self._payloads.handle(message)
            self._conversation_events.handle(message)
            if isinstance(message, BoxStatus):
                self._offer_voices(message)
        elif isinstance(message, TimersStatus):
            self._payloads.handle(message)
            self._timers = message

    def update_reading(self, reading: MachineReading) -> None:
        """Set the latest reading of the machine."""
        self._payloads.update_reading(reading)

    def set_language(self, shown: str) -> None:
        """Set the language that the box speaks now, or after its next start."""
        self._payloads.set_language(shown)
        if shown != self._features.language:
            self._features = replace(self._features, language=shown)
            self._discovery = as_json(payload(self.topics, self._identity, self._features))

    def releases(self, ready: UpdateStatus, now_s: float) -> None:
        """Set the release that is ready to install and the progress of an installation."""
        self._update_entity.update(ready, now_s)

    @property
    def installing(self) -> bool:
        return self._update_entity.busy

    def started(self, at: datetime, slack_s: float) -> None:
        """Set the box's start time `at` if the clock was changed by more than `slack_s` since."""
        self._payloads.set_started(at, slack_s)

    def connected(self) -> None:
        self._connected = True
        self._events.clear()
        self._states.connected()

    def disconnected(self) -> None:
        self._connected = False
        self._events.clear()

    def receipt(self, number: int) -> str | None:
        """Record the broker's acknowledgement of message `number`. Returns its topic."""
        topic = self._states.acknowledged(number)
        if topic == self.topics.discovery and self._states.value(topic) == b"":
            self._withdrawn = True  # sent twice, Home Assistant warns of an unknown device
            self._states.drop(topic)
        return topic

    def sent(self, publication: Publication, number: int, now_s: float) -> None:
        if publication.keep:
            self._states.sent(publication.topic, publication.payload, number, now_s)

    def on_message(
        self, topic: str, payload: bytes, now_s: float, *, retained: bool
    ) -> Message | UpdateOffer | LanguageCommand | None:
        """Handle a message received over MQTT. Returns a message for the conductor, a release to
        install, a language to write into the settings, or None.

        Raises CommandRejected for a command that is not carried out.
        """
        if topic == self.topics.birth:
            if payload == ONLINE:  # also when retained: Home Assistant can be configured to do so
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
        """Return what is to be published now, in order.

        Events are dropped while the box is not connected or the broker does not acknowledge.
        """
        shown = self._shown()
        if shown and not self._shown_before:  # `interlude link remove` emptied the states too
            self._states.again_at(now_s)
        self._shown_before = shown
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
        """Whether a connected broker has not acknowledged for more than DEAD_S."""
        return self._connected and self._states.stalled_s(now_s) > DEAD_S

    def wait_s(self, now_s: float) -> float:
        """Time until the next scheduled publication, at most 1 s."""
        next_s = self._states.next_s()
        return 1.0 if next_s is None else max(0.0, min(1.0, next_s - now_s))

    def last_message(self) -> Publication:
        """The message to publish before an orderly disconnect."""
        return Publication(self.topics.availability, OFFLINE, keep=True)

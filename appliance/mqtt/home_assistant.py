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
)
from appliance.mqtt.conversation_events import ConversationEvents, EventPayload
from appliance.mqtt.discovery import DiscoveryFeatures, payload
from appliance.mqtt.home_tool import HomeToolBridge
from appliance.mqtt.identity import DeviceIdentity
from appliance.mqtt.retained_topics import STALL_S, RetainedTopics
from appliance.mqtt.state_payloads import MachineReading, StatePayloads, as_json
from appliance.mqtt.timer_payloads import event_payload as timer_event
from appliance.mqtt.timer_payloads import status_payload as timers_standing
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
    """`standing`: how the box stands as far as is known at the start. `dice`: 0 to 1.

    `shown`: whether Home Assistant is to know of the box now; the owner may take it away.
    """

    def __init__(
        self,
        settings: Settings,
        identity: DeviceIdentity,
        offers: DiscoveryFeatures,
        standing: BoxStatus,
        *,
        started: datetime,
        now_s: float,
        dice: Callable[[], float],
        shown: Callable[[], bool] = lambda: True,
    ) -> None:
        link = settings.link
        self.topics = Topics.of(link, identity.box)
        self._dice = dice
        self._bridge = HomeToolBridge(dice)
        self._shown = shown
        self._identity, self._offers = identity, offers
        self._discovery = as_json(payload(self.topics, identity, offers))
        self._story = ConversationEvents(link.words)
        self._picture = StatePayloads(
            self.topics,
            standing=standing,
            started=started,
            version=identity.version,
            interval_s=link.interval_s,
        )
        self._software = UpdateEntity(identity.version)
        self._timers = TimersStatus()
        self._gate = CommandFilter(CommandLimits(offers.voices, link.unmute, offers.button), now_s)
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
        self._picture.handle(message)
        match message:
            case BoxStatus():
                self._offer(message)
            case ButtonPressed(kind):
                self._happens(self.topics.button, {"event_type": kind})
            case TimerEvent():
                self._happens(self.topics.timer, timer_event(message))
            case TimersStatus():
                self._timers = message
            case HouseRequest():
                asked = self._bridge.encode_request(message)
                self._events.append(Publication(self.topics.request, asked, keep=False))
        for event in self._story.handle(message):
            self._happens(self.topics.conversation, event)

    def _offer(self, standing: BoxStatus) -> None:
        """The voices that the house may choose from: those that can speak, and the current."""
        named = [*(standing.voices or self._offers.voices), standing.voice]
        voices = tuple(dict.fromkeys(name for name in named if name))
        if voices == self._offers.voices:
            return
        self._offers = replace(self._offers, voices=voices)
        self._discovery = as_json(payload(self.topics, self._identity, self._offers))
        self._gate.limits = replace(self._gate.limits, voices=voices)

    def _happens(self, topic: str, event: EventPayload) -> None:
        self._events.append(Publication(topic, as_json(event), keep=False))

    def catch_up(self, message: Message) -> None:
        """The same of something that may be old: it changes states and makes no event."""
        if isinstance(message, StateChanged | BoxStatus):
            self._picture.handle(message)
            self._story.handle(message)
            if isinstance(message, BoxStatus):
                self._offer(message)
        elif isinstance(message, TimersStatus):
            self._picture.handle(message)
            self._timers = message

    def update_reading(self, reading: MachineReading) -> None:
        """The machine, as it is now."""
        self._picture.update_reading(reading)

    def releases(self, ready: UpdateStatus, now_s: float) -> None:
        """What lies ready to be installed, and how an installation goes."""
        self._software.update(ready, now_s)

    @property
    def installing(self) -> bool:
        return self._software.busy

    def started(self, at: datetime, slack_s: float) -> None:
        """When the box began, by a clock that may have been set since."""
        self._picture.set_started(at, slack_s)

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
    ) -> Message | UpdateOffer | None:
        """Something came over MQTT. Returns what it wants of the box, if anything: a message for
        the conductor, or a release to be asked for.

        Raises CommandRejected for what is not carried out.
        """
        if topic == self.topics.birth:
            if payload == ONLINE:  # some have Home Assistant retain it
                first_s, last_s = BIRTH_S
                self._states.again_at(now_s + first_s + (last_s - first_s) * self._dice())
            return None
        if topic == self.topics.response:
            return self._bridge.parse_response(payload, retained=retained)
        name = self.topics.name_of(topic)
        wish = self._gate.parse(name, payload, now_s, retained=retained)
        if isinstance(wish, InstallCommand):
            return self._software.install(now_s)
        if isinstance(wish, Restart) and self._software.busy:
            raise CommandRejected(CommandRefusal(name, "something is being installed"))
        return wish

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
        for topic, value in self._picture.payloads(self._story, now_s).items():
            self._states.set(topic, value)
        self._states.set(self.topics.update, as_json(self._software.payload()))
        self._states.set(self.topics.timers, as_json(timers_standing(self._timers)))
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

"""Sends the box's status to the parts that show it, and the dialogue's state to a part that starts.

In: messages of all parts, and the dialogue's state. Out: BoxStatus, at every change and to each
receiver when it starts; copies of some messages to link and page.
"""

from __future__ import annotations

import time

from appliance.dialog.state import DialogState
from appliance.messages.commands import (
    BoxStatus,
    BrokerChanged,
    ButtonFault,
    ButtonTrouble,
    StateChanged,
    VoicesAvailable,
)
from appliance.messages.registry import Message, ObservedMessage
from appliance.messages.routes import passed_on_to, receivers_of
from appliance.messages.speech import SpeakerReady
from appliance.messages.supervision import PartChanged
from appliance.messages.thinking import ThinkerReady
from appliance.messages.tools import TimersStatus
from appliance.runtime.worker import Worker

STATUS_RECEIVERS = tuple(sorted(receivers_of(BoxStatus)))  # receivers of the box's status
STATE_RECEIVERS = receivers_of(StateChanged)
_TIMERS_RECEIVERS = receivers_of(TimersStatus)
_FORWARDED = {part: passed_on_to(part) for part in ("link", "page")}  # who speaks when, no words


class StatusPublisher:
    """Publishes the box's status. `model`, `voice`: those in use. `house`: whether the broker is
    connected; None: there is none. `watchers` get their messages from the conductor."""

    def __init__(self, work: Worker, watchers: list[str]) -> None:
        self._work = work
        self._watchers = watchers
        self.model = work.settings.thinking.model
        self.voice = ""
        self.voices: tuple[str, ...] = ()
        self.house = False if work.settings.link.broker else None
        self._button: ButtonTrouble = ""
        self._status: BoxStatus | None = None

    def on_message(self, message: Message) -> None:
        """Update the status from a message."""
        match message:
            case ThinkerReady(model):
                self.model = model
            case SpeakerReady(voice):
                self.voice = voice
            case VoicesAvailable(voices):
                self.voices = voices
            case BrokerChanged(here):
                self.house = here
            case PartChanged("link", "down" | "failed"):
                self.house = False
            case PartChanged("panel", "down" | "failed"):
                self._button = ""  # the next panel process reports it again
            case ButtonFault(trouble):
                self._button = trouble

    def copy(self, source: str, target: str, message: Message) -> None:
        """Send every watcher a copy of a message from `source` to `target`."""
        copy = ObservedMessage(time.monotonic_ns(), source, target, message)
        for watcher in self._watchers:
            self._work.channels[watcher].send(copy)

    def send_optional(self, part: str, message: Message) -> None:
        """Send to a part that not every box has; if it is lost, newer messages replace it."""
        if part in self._work.channels and part not in self._watchers:
            self._work.channels[part].send(message)

    def send_to_receivers(self, message: Message) -> None:
        """Send to every receiver in the message's route."""
        for part in sorted(receivers_of(type(message))):
            self.send_optional(part, message)

    def publish(
        self, message: Message | None, dialog: DialogState, timers: TimersStatus, *, storage: bool
    ) -> None:
        """Send what has changed after `message`. `storage`: settings cannot be stored."""
        for part, forwarded in _FORWARDED.items():
            if isinstance(message, forwarded):
                self.send_optional(part, message)
        if isinstance(message, PartChanged) and message.state == "up":
            self._catch_up(message.part, dialog, timers)
        status = self._box_status(dialog, storage=storage)
        if status != self._status:
            self._status = status
            for part in STATUS_RECEIVERS:
                self.send_optional(part, status)

    def _catch_up(self, part: str, dialog: DialogState, timers: TimersStatus) -> None:
        """Send `part`, which has just started, the state, the status and the timers it receives."""
        if part in STATE_RECEIVERS:
            state = StateChanged(dialog.state, dialog.turn, time.monotonic_ns(), "as it was")
            self.send_optional(part, state)
        if part in STATUS_RECEIVERS and self._status is not None:
            self.send_optional(part, self._status)
        if part in _TIMERS_RECEIVERS:
            self.send_optional(part, timers)

    def _box_status(self, dialog: DialogState, *, storage: bool) -> BoxStatus:
        broken = tuple(sorted(dialog.parts.failed))
        volume = self._work.settings.speaking.volume if dialog.volume is None else dialog.volume
        return BoxStatus(
            dialog.listening.mode, dialog.listening.muted, volume, self.voice, self.model, broken,
            self.house, self._work.floor.cut, self._button,
            starting=not dialog.parts.thinker_up and "thinker" not in broken, storage=storage,
            voices=self.voices,
        )  # fmt: skip

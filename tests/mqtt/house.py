"""A box with a link: conductor and link as they ship, and a panel on its keyboard if it is wanted;
every other part is played by the test."""

from __future__ import annotations

import contextlib
import json
import socket
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar

from appliance.messages.hearing import SpeechEnded, SpeechStarted
from appliance.messages.playback import PlaybackFinished, PlaybackStarted
from appliance.messages.registry import Message
from appliance.messages.speech import EndAnswer, SpeakerReady, Spoken
from appliance.messages.thinking import RecallWanted, Sentence, ThinkerReady, ThoughtEnded
from appliance.panel.keyboard_socket import place
from appliance.runtime import process_table
from appliance.runtime.supervisor import Supervisor
from appliance.settings import load
from lab.bench.mosquitto import BrokerObserver, Mosquitto

PARTS = ("capture", "playback", "listener", "words", "thinker", "speaker")
PATIENCE_S = 60.0  # on a very busy machine
M = TypeVar("M")


class Box:
    """`box`: its id. `folder`: where it keeps its state. More settings of the link by name, and
    those of tools."""

    def __init__(
        self,
        broker: Mosquitto,
        folder: Path,
        box: str = "x",
        tools: Mapping[str, Any] = {},
        *,
        panel: bool = False,
        **link: Any,
    ) -> None:
        keyboard = {"gpio": "keyboard", "mute_switch": True, "light": "none"}
        self._settings = load(
            None,
            {
                "state_dir": str(folder / f"state-{box}"),
                "link": {"broker": "127.0.0.1", "port": broker.port, "id": box, **link},
                "tools": tools,
                "speaking": {"chime": False},  # no voice is there to sound the opening
                "panel": keyboard if panel else {},
            },
        )
        self.root = f"interlude/{box}"
        names = ("conductor", "link", "panel") if panel else ("conductor", "link")
        rows = tuple(map(process_table.row, names))
        self.supervisor = Supervisor(self._settings, rows=rows, watchers=(*PARTS, "room"))
        self._channels = {peer: self.supervisor.channel(peer) for peer in (*PARTS, "room")}
        self._mail: dict[str, list[object]] = {peer: [] for peer in self._channels}
        self.supervisor.start()
        self.until(lambda: self.supervisor.is_ready)
        self.say("thinker", RecallWanted(), ThinkerReady("pocket"))
        self.say("speaker", SpeakerReady("espeak"))

    def pid(self) -> int:
        """Of the link."""
        child = self.supervisor.parts["link"].child
        assert child is not None
        return child.pid

    def until(self, true: Callable[[], object], seconds: float = PATIENCE_S) -> None:
        """Wait for it; the test fails if it never comes."""
        end_s = time.monotonic() + seconds
        while not true():
            assert time.monotonic() < end_s, "it never came"
            self.supervisor.run_once(0.002)

    def wait(self, seconds: float) -> None:
        end_s = time.monotonic() + seconds
        while time.monotonic() < end_s:
            self.supervisor.run_once(0.01)

    def say(self, peer: str, *messages: Message) -> None:
        for message in messages:
            assert self._channels[peer].send(message)

    def get(self, peer: str, kind: type[M]) -> M:
        """The next message of that kind to `peer`; what came before it is dropped."""
        found: list[M] = []

        def look() -> bool:
            self._mail[peer] += self._channels[peer].receive_all()
            while self._mail[peer] and not found:
                message = self._mail[peer].pop(0)
                if isinstance(message, kind):
                    found.append(message)
            return bool(found)

        self.until(look)
        return found[0]

    def asks(self, utterance: int, index: int = 16_000) -> None:
        """The owner asks something."""
        self.say(
            "listener",
            SpeechStarted(utterance, utterance, index),
            SpeechEnded(utterance, index + 32_000, 32_000, last=True),
        )

    def answers(self, turn: int, index: int = 60_000) -> None:
        """The box begins to answer aloud."""
        self.say("thinker", Sentence(turn, 0, "Under the xylophone."))
        self.say("thinker", ThoughtEnded(turn, 1, "complete"))
        self.get("speaker", EndAnswer)
        self.say("playback", PlaybackStarted(turn, index))
        self.say("speaker", Spoken(turn, 0, 0, 32_000, 5.0))

    def has_answered(self, turn: int) -> None:
        """What it said was heard to its end."""
        self.wait(0.05)  # what the speaker reported is known by now, as it is on a real box
        self.say("playback", PlaybackFinished(turn, 32_000, 99_000))

    def finger(self, *words: str) -> None:
        """On the panel's keyboard, as `interlude panel` would."""
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as finger:
            for word in words:
                finger.sendto(word.encode(), str(place(self._settings)))
                self.wait(0.08)

    def drop_mail(self) -> None:
        """What came to the parts so far is of no interest."""
        for peer, channel in self._channels.items():
            for _ in channel.receive_all():
                continue
            self._mail[peer].clear()

    # ── at the broker ────────────────────────────────────────────────────────────────────────
    def told(self, ear: BrokerObserver, name: str) -> Any:
        """What the topic says now, as JSON."""
        payload = ear.last(f"{self.root}/{name}")
        return None if payload is None else json.loads(payload)

    def is_told(self, ear: BrokerObserver, name: str, **values: object) -> bool:
        """Whether the topic says these."""
        now = self.told(ear, name)
        return now is not None and all(now[key] == value for key, value in values.items())

    def online(self, ear: BrokerObserver) -> bool:
        return ear.last(f"{self.root}/availability") == b"online"

    def events(self, ear: BrokerObserver) -> list[str]:
        """The kinds of events, in order."""
        return [
            json.loads(h.payload)["event_type"]
            for h in ear.messages_of(f"{self.root}/event/conversation")
        ]


@contextlib.contextmanager
def box(broker: Mosquitto, folder: Path, name: str = "x", **link: Any) -> Iterator[Box]:
    made = Box(broker, folder, name, **link)
    try:
        yield made
    finally:
        made.supervisor.stop_all()
        made.supervisor.close()

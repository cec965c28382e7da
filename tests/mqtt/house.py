"""A box with the real conductor and link processes, and optionally the real panel on its keyboard.

The test plays every other process."""

from __future__ import annotations

import contextlib
import json
import socket
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from appliance.messages.hearing import SpeechEnded, SpeechStarted
from appliance.messages.playback import PlaybackFinished, PlaybackStarted
from appliance.messages.speech import EndAnswer, SpeakerReady, Spoken
from appliance.messages.thinking import RecallWanted, Sentence, ThinkerReady, ThoughtEnded
from appliance.panel.keyboard_socket import place
from appliance.settings import load
from lab.bench.mosquitto import BrokerObserver, Mosquitto
from tests.supervised import PlayedParts

PARTS = ("capture", "playback", "listener", "words", "thinker", "speaker")


class Box(PlayedParts):
    """`box`: its id. `folder`: parent of its state folder. `tools`, `link`: settings of these
    sections."""

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
        settings = load(
            None,
            {
                "state_dir": str(folder / f"state-{box}"),
                "link": {"broker": "127.0.0.1", "port": broker.port, "id": box, **link},
                "tools": tools,
                "speaking": {"chime": False},  # no voice synthesises the chime
                "panel": keyboard if panel else {},
            },
        )
        self.root = f"interlude/{box}"
        names = ("conductor", "link", "panel") if panel else ("conductor", "link")
        super().__init__(settings, names, PARTS)
        self.say("thinker", RecallWanted(), ThinkerReady("pocket"))
        self.say("speaker", SpeakerReady("espeak"))

    def owner_asks(self, utterance: int, index: int = 16_000) -> None:
        """Report an utterance of two seconds."""
        self.say(
            "listener",
            SpeechStarted(utterance, utterance, index),
            SpeechEnded(utterance, index + 32_000, 32_000, last=True),
        )

    def begin_answer(self, turn: int, index: int = 60_000) -> None:
        """Play the thinker, the speaker and the playback up to the first block of an answer."""
        self.say("thinker", Sentence(turn, 0, "Under the xylophone."))
        self.say("thinker", ThoughtEnded(turn, 1, "complete"))
        self.get("speaker", EndAnswer)
        self.say("playback", PlaybackStarted(turn, index))
        self.say("speaker", Spoken(turn, 0, 0, 32_000, 5.0))

    def finish_answer(self, turn: int) -> None:
        """Report that the answer was played to its end."""
        self.wait(0.05)  # the conductor has read the message of the speaker, as on a real box
        self.say("playback", PlaybackFinished(turn, 32_000, 99_000))

    def panel_input(self, *words: str) -> None:
        """Send words to the panel's keyboard, as `interlude panel` does."""
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
            for word in words:
                sender.sendto(word.encode(), str(place(self.settings)))
                self.wait(0.08)

    # ── at the broker ────────────────────────────────────────────────────────────────────────
    def newest(self, observer: BrokerObserver, name: str) -> Any:
        """The newest payload of a topic of this box, decoded from JSON."""
        payload = observer.last(f"{self.root}/{name}")
        return None if payload is None else json.loads(payload)

    def shows(self, observer: BrokerObserver, name: str, **values: object) -> bool:
        """Whether the newest payload of the topic has these values."""
        payload = self.newest(observer, name)
        return payload is not None and all(payload[key] == value for key, value in values.items())

    def online(self, observer: BrokerObserver) -> bool:
        return observer.last(f"{self.root}/availability") == b"online"

    def events(self, observer: BrokerObserver) -> list[str]:
        """The kinds of the conversation events, in order."""
        return [
            json.loads(message.payload)["event_type"]
            for message in observer.messages_of(f"{self.root}/event/conversation")
        ]


@contextlib.contextmanager
def running_box(broker: Mosquitto, folder: Path, name: str = "x", **link: Any) -> Iterator[Box]:
    made = Box(broker, folder, name, **link)
    try:
        yield made
    finally:
        made.close()

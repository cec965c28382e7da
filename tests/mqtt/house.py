"""A box with a link: conductor and link as they ship, and a panel on its keyboard if it is wanted;
every other part is played by the test."""

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
        settings = load(
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
        super().__init__(settings, names, PARTS)
        self.say("thinker", RecallWanted(), ThinkerReady("pocket"))
        self.say("speaker", SpeakerReady("espeak"))

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
                finger.sendto(word.encode(), str(place(self.settings)))
                self.wait(0.08)

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
        made.close()

"""The whole box on the simulated card, with a broker: an announcement during an answer, and a
broker that is killed while the box speaks."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from appliance.messages.commands import StateChanged
from appliance.messages.playback import PlaybackStarted
from lab.bench.mosquitto import BrokerMessage, BrokerObserver, Mosquitto
from lab.sim import rehearsal_cli, scene
from lab.sim.rehearsal import Rehearsal
from tests.english import ESPEAK

pytestmark = [pytest.mark.process, pytest.mark.usefixtures("simcard_library")]

WORDS = "Dinner is ready."
SPOKEN = (b"coffee", b"inner", b"ready")  # by the owner, by the box, in the announcement


class House:
    """Announces a text during the answer, then kills the broker and restarts it a second later."""

    def __init__(self, broker: Mosquitto) -> None:
        self.broker = broker
        self.observer = BrokerObserver(broker.port)
        self.step = "talk"
        self.restart_s = 0.0
        self.before_kill: list[BrokerMessage] = []

    def __call__(self, rehearsal: Rehearsal) -> None:
        state = rehearsal.state
        if state is None:
            return
        spoken_s = (time.monotonic_ns() - state.at_ns) / 1e9 if state.state == "speaking" else 0.0
        match self.step:
            case "talk" if spoken_s > 0.5:
                self.observer.publish("interlude/x/cmd/say", WORDS)
                self.step = "announced"
            case "announced" if spoken_s > 1.0:
                self.observer.__exit__()
                self.before_kill = self.observer.heard
                self.broker.kill()
                self.restart_s = time.monotonic() + 1.0
                self.step = "away"
            case "away" if time.monotonic() > self.restart_s:
                self.broker.start()
                self.observer = BrokerObserver(self.broker.port)
                self.step = "back"
            case "back" if self.is_right(state):
                self.step = "done"

    def events(self) -> list[str]:
        """The kinds of the events since the broker was restarted."""
        topic = "interlude/x/event/conversation"
        return [
            json.loads(heard.payload)["event_type"] for heard in self.observer.messages_of(topic)
        ]

    def traffic(self) -> list[BrokerMessage]:
        """All messages that the box published."""
        messages = [*self.before_kill, *self.observer.heard]
        return [heard for heard in messages if "/cmd/" not in heard.topic]

    def is_right(self, state: StateChanged) -> bool:
        payload = self.observer.last("interlude/x/state")
        online = self.observer.last("interlude/x/availability") == b"online"
        return online and payload is not None and json.loads(payload)["state"] == state.state


@pytest.fixture
def played(broker: Mosquitto) -> tuple[House, Any]:
    house = House(broker)
    script = [{"at_s": 0.3, "say": "how do i make coffee"}]
    link = {"broker": "127.0.0.1", "port": broker.port, "id": "x"}
    parsed = scene.parse({"owner": script, "settings": {"link": link}}, name="house", folder=Path())
    reader = rehearsal_cli.perform(parsed, ESPEAK, during=house)
    house.observer.__exit__()
    return house, reader


def test_an_announcement_waits_for_the_answer_and_a_killed_broker_disturbs_neither(
    played: tuple[House, Any],
) -> None:
    house, reader = played
    assert [outcome.outcome for outcome in reader.outcomes()] == ["answered"]
    assert house.step == "done"

    # No topic contains a spoken word.
    assert len(house.traffic()) > 15
    assert not [heard for heard in house.traffic() if any(word in heard.payload for word in SPOKEN)]

    # The answer was played to its end; then the chime and the announcement followed without a gap.
    assert house.events() == ["agent_said", "announced"]
    started = [message.turn for _, message in reader.recording.messages_of(PlaybackStarted)]
    assert len(started) == 2
    announcement = reader.recording.answers[started[1]]
    assert np.abs(announcement[:8000]).max() > 2000  # the chime
    assert len(announcement) > 16_000

"""A broker that lets the box in and then does nothing any more, by a clock that the test moves."""

from __future__ import annotations

import logging
import socket
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import cast

import pytest

from appliance import settings
from appliance.bench.mosquitto import Ear, Mosquitto
from appliance.ipc import floor
from appliance.link.house import DEAD_S
from appliance.link.link import Link
from appliance.link.retry import LONGEST_S
from appliance.machine import Machine
from appliance.messages import HouseChanged, Message, SetVolume, Standing
from appliance.worker import Worker

PATIENCE_S = 20.0


class Desk:
    """What a worker gives to its process, without a process: mail in, messages out."""

    def __init__(self, folder: Path, port: int) -> None:
        link = {"broker": "127.0.0.1", "port": port, "id": "x"}
        self.settings = settings.load(None, {"state_dir": str(folder), "link": link})
        self.floor = floor.Floor(floor.create())
        self.log = logging.getLogger("link")
        self.box_started_s = time.monotonic()
        self.channel, self._other = socket.socketpair()
        self.stop_fd = self._other.fileno()
        self.sent: list[Message] = []
        self.arrived: list[Message] = []

    def send(self, message: Message) -> bool:
        self.sent.append(message)
        return True

    def mail(self) -> list[Message]:
        arrived, self.arrived = self.arrived, []
        return arrived

    def close(self) -> None:
        self.channel.close()
        self._other.close()


class Clock:
    """The link's: the machine's, and what the test adds."""

    def __init__(self, link: Link) -> None:
        self.link = link
        self.ahead_s = 0.0

    def until(self, true: Callable[[], object]) -> bool:
        end_s = time.monotonic() + PATIENCE_S
        while time.monotonic() < end_s:
            self.link.step(time.monotonic() + self.ahead_s)
            if true():
                return True
            time.sleep(0.005)
        return False


@pytest.fixture
def desk(broker: Mosquitto, tmp_path: Path) -> Iterator[Desk]:
    made = Desk(tmp_path / "box", broker.port)
    yield made
    made.close()


def test_a_broker_that_stays_frozen_is_given_up_and_found_again_when_it_thaws(
    broker: Mosquitto, desk: Desk, caplog: pytest.LogCaptureFixture
) -> None:
    clock = Clock(Link(cast("Worker", desk), Machine()))
    assert clock.until(lambda: HouseChanged(here=True) in desk.sent)
    with Ear(broker.port) as ear:
        assert clock.until(lambda: ear.last("interlude/x/availability") == b"online")
    broker.freeze()
    desk.arrived = [Standing("open", False, 0.7)]
    clock.until(lambda: not desk.arrived)
    assert desk.sent[-1] == HouseChanged(here=True)
    clock.ahead_s += DEAD_S + 1.0
    assert clock.until(lambda: desk.sent[-1] == HouseChanged(here=False))
    assert "does not answer" in caplog.text

    broker.thaw()
    clock.ahead_s += LONGEST_S["away"]
    assert clock.until(lambda: desk.sent[-1] == HouseChanged(here=True))
    with Ear(broker.port) as ear:
        clock.until(lambda: b'"volume":70' in (ear.last("interlude/x/settings") or b""))
        assert b'"volume":70' in (ear.last("interlude/x/settings") or b"")
        ear.say("interlude/x/set/volume", b"35")
        assert clock.until(lambda: SetVolume(0.35) in desk.sent)
    clock.link.leave()

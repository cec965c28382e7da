"""A link without a process, and the clock that it goes by."""

from __future__ import annotations

import logging
import socket
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

from appliance import settings
from appliance.ipc import floor
from appliance.link.link import Link
from appliance.machine import Machine
from appliance.messages import Message
from appliance.worker import Worker

PATIENCE_S = 20.0


class Desk:
    """What a worker gives to its process, without a process: mail in, messages out."""

    def __init__(self, folder: Path, port: int, **link: Any) -> None:
        link = {"broker": "127.0.0.1", "port": port, "id": "x", **link}
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

    def __init__(self, desk: Desk) -> None:
        self.link = Link(cast("Worker", desk), Machine())
        self.ahead_s = 0.0

    def until(self, true: Callable[[], object]) -> bool:
        end_s = time.monotonic() + PATIENCE_S
        while time.monotonic() < end_s:
            self.link.step(time.monotonic() + self.ahead_s)
            if true():
                return True
            time.sleep(0.005)
        return False

"""A stand-in for a worker's runtime interface, without a process: messages in and out."""

from __future__ import annotations

import logging
import os
import socket

from appliance.messages.registry import Message
from appliance.runtime.ipc import floor
from appliance.settings import Settings


class Desk:
    """`sent`: messages the code under test has sent; `arrived`: messages it has not read yet."""

    def __init__(self, name: str, settings: Settings, box_started_s: float = 0.0) -> None:
        self.settings = settings
        page = floor.create()
        self.floor = floor.Floor(page)
        os.close(page)  # the mapping stays
        self.log = logging.getLogger(name)
        self.box_started_s = box_started_s
        self.channel, self._other = socket.socketpair()
        self.stop_fd = self._other.fileno()
        self.sent: list[Message] = []
        self.arrived: list[Message] = []

    def send(self, message: Message) -> bool:
        self.sent.append(message)
        return True

    def pop_messages(self) -> list[Message]:
        arrived, self.arrived = self.arrived, []
        return arrived

    def close(self) -> None:
        self.channel.close()
        self._other.close()

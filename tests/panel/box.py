"""A box of four real processes with a panel, whose gestures reach the floor and the conductor; the
test plays the other parts through a channel named `room`."""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from appliance import settings
from appliance.messages.registry import Message, ObservedMessage
from appliance.panel.keyboard_socket import NAME
from appliance.runtime import process_table
from appliance.runtime.supervisor import Supervisor
from lab.sim.launchers import launcher_for

HERE = ("conductor", "listener", "playback", "panel")


class Room:
    """`panel`: its settings. With a keyboard panel, `finger` is a socket that sends presses.

    `silent_s`: replaces the table's heartbeat limits on a machine too slow for them.
    """

    def __init__(
        self,
        folder: Path,
        silent_s: float | None = None,
        **panel: Any,
    ) -> None:
        self.settings = settings.load(
            None,
            {
                "state_dir": str(folder),
                "panel": {"gpio": "keyboard", "mute_switch": True, **panel},
                "card": {"capture": "nowhere", "playback": "nowhere"},
            },
        )
        rows = tuple(process_table.row(name) for name in HERE)
        if silent_s is not None:
            rows = tuple(replace(row, silent_s=silent_s) for row in rows)
        self.box = Supervisor(
            self.settings, rows=rows, watchers=("room",), launcher=launcher_for(os.environ)
        )
        self.floor = self.box.floor()
        self.cut_before_the_start = self.floor.cut
        self.mail = self.box.channel("room")
        self.heard: list[Message] = []
        self.thread = threading.Thread(target=self.box.run)
        self.thread.start()
        self.place = folder / NAME
        self.finger = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.finger.bind(str(folder / "finger"))
        self.finger.settimeout(5.0)

    def until(self, true: Callable[[], bool], wait_s: float = 20.0) -> bool:
        end = time.monotonic() + wait_s
        while time.monotonic() < end:
            self.heard += [
                seen.message if isinstance(seen, ObservedMessage) else seen
                for seen in self.mail.receive_all()
            ]
            if true():
                return True
            time.sleep(0.005)
        return False

    def push(self, word: str) -> None:
        self.finger.sendto(word.encode(), str(self.place))

    def light(self) -> str:
        return self.finger.recv(64).decode().split()[0]

    def close(self) -> None:
        self.box.request_stop()
        self.thread.join()
        self.box.close()
        self.finger.close()

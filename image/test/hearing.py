"""Collects what the box says aloud, in a machine of debian_guest.py.

It opens the control socket with the product's ControlSocket, in place of the conductor.
"""

from __future__ import annotations

import threading
import time
from pathlib import Path

from appliance.dialog.control_socket import ControlSocket
from appliance.messages.commands import Say, StateChanged

LIMIT_S = 400.0  # for what takes a minute, emulated
DOOR = Path("/run/interlude/conductor/control")


class Hearing:
    """Answers all commands on the control socket, in a thread: set-up retries unanswered ones.

    said  the sentences, in their order
    """

    def __init__(self) -> None:
        self.said: list[str] = []
        DOOR.parent.mkdir(parents=True, exist_ok=True)
        threading.Thread(target=self._listen, args=(ControlSocket(DOOR),), daemon=True).start()

    def _listen(self, door: ControlSocket) -> None:
        while True:
            for visitor, command in door.pop_commands():
                if isinstance(command, Say):
                    self.said.append(command.text)
                door.reply(visitor, StateChanged("idle", 0, time.monotonic_ns()))
            time.sleep(0.1)

    def heard(self, wanted: str, since: int = 0) -> str:
        """Wait for the first sentence from number `since` on that contains `wanted`.

        Raises SystemExit if there is none within LIMIT_S.
        """
        limit_s = time.monotonic() + LIMIT_S
        while time.monotonic() < limit_s:
            if found := next((each for each in self.said[since:] if wanted in each), ""):
                return found
            time.sleep(0.1)
        raise SystemExit(f"`{wanted}` was never said: {self.said}")

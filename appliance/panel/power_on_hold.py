"""Requests what a button held at power-on selects: set-up or a factory reset.

The panel runs without privileges. The box's own files are erased when the box restarts
(runtime/factory_reset.py); for the rest the panel writes a request to a folder of root's that only
the box's user may write, where a systemd unit of the system finds it (`wanted-setup`: setup or
reset).
"""

from __future__ import annotations

import logging
import os
import queue
import threading
from pathlib import Path
from typing import Literal

from appliance.errors import StorageError
from appliance.language.catalogue import SOURCE, catalogue
from appliance.messages.commands import Restart, Say
from appliance.messages.registry import Message
from appliance.runtime import factory_reset
from appliance.update.handed_over_file import write_note

REQUEST_FOLDER = Path("/var/lib/interlude-wishes")  # tmpfiles.d
WANTED_SETUP = "wanted-setup"
PowerOnAction = Literal["setup", "reset"]


class PowerOnHold:
    """Carries out a request in a thread of its own: a card may stall for seconds at each write.

    `messages`: for the conductor, as a result.
    """

    def __init__(
        self,
        state: Path,
        log: logging.Logger,
        folder: Path = REQUEST_FOLDER,
        language: str = SOURCE,
    ) -> None:
        """`language`: of the box's own sentences."""
        self._language = language
        self._state = state
        self._log = log
        self._folder = folder
        self.messages: queue.SimpleQueue[Message] = queue.SimpleQueue()

    def start(self, action: PowerOnAction) -> None:
        """Start to carry out a request. Returns at once."""
        target = self._reset if action == "reset" else self._request_setup
        threading.Thread(target=target, name=action, daemon=True).start()

    def _request_setup(self) -> None:
        self._request("setup")

    def _reset(self) -> None:
        """Request the privileged part first, so that a failure of the rest does not prevent it."""
        self._request("reset")
        try:
            factory_reset.request_reset(self._state)
        except OSError as error:
            self._log.error("reset: its note cannot be written (%s)", error.strerror)
            self.messages.put(Say(catalogue(self._language).say("reset-failed")))
            return
        self._log.warning("reset by the button: the box restarts and erases all data of its owner")
        self.messages.put(Restart())

    def _request(self, action: PowerOnAction) -> None:
        try:
            if not write_request(action, self._folder):
                self._log.warning(
                    "this system has no unit for set-up: the settings file stays as it is"
                )
        except (OSError, StorageError) as error:
            self._log.error("%s: the request to the system cannot be written: %s", action, error)


def write_request(action: PowerOnAction, folder: Path = REQUEST_FOLDER) -> bool:
    """Write the request. Returns False if no unit of this system reads it."""
    if not os.access(folder, os.W_OK):
        return False
    write_note(folder / WANTED_SETUP, action)
    return True

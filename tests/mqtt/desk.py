"""A link that runs in the test process, with a clock that the test can advance."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

from appliance import settings
from appliance.mqtt.link import Link
from appliance.runtime import network_status
from appliance.runtime.machine import Machine
from appliance.runtime.worker import Worker
from tests.dialog.desk import Desk

PATIENCE_S = 20.0


def desk_at(folder: Path, port: int, **link: Any) -> Desk:
    """The desk of a link whose broker listens at that local port."""
    link = {"broker": "127.0.0.1", "port": port, "id": "x", **link}
    loaded = settings.load(None, {"state_dir": str(folder), "link": link})
    return Desk("link", loaded, time.monotonic())


class Clock:
    """Runs the link at the monotonic time plus `ahead_s`."""

    def __init__(self, desk: Desk, network: Path = network_status.FOLDER) -> None:
        self.link = Link(cast("Worker", desk), Machine(), network)
        self.ahead_s = 0.0

    def until(self, condition: Callable[[], object]) -> bool:
        end_s = time.monotonic() + PATIENCE_S
        while time.monotonic() < end_s:
            self.link.run_once(time.monotonic() + self.ahead_s)
            if condition():
                return True
            time.sleep(0.005)
        return False

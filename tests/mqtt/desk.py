"""A link without a process, and the clock that it goes by."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

from appliance import settings
from appliance.mqtt.link import Link
from appliance.runtime.machine import Machine
from appliance.runtime.worker import Worker
from tests.dialog.desk import Desk

PATIENCE_S = 20.0


def desk_at(folder: Path, port: int, **link: Any) -> Desk:
    """The link's, with a broker at that port of this machine."""
    link = {"broker": "127.0.0.1", "port": port, "id": "x", **link}
    given = settings.load(None, {"state_dir": str(folder), "link": link})
    return Desk("link", given, time.monotonic())


class Clock:
    """The link's: the machine's, and what the test adds."""

    def __init__(self, desk: Desk) -> None:
        self.link = Link(cast("Worker", desk), Machine())
        self.ahead_s = 0.0

    def until(self, true: Callable[[], object]) -> bool:
        end_s = time.monotonic() + PATIENCE_S
        while time.monotonic() < end_s:
            self.link.run_once(time.monotonic() + self.ahead_s)
            if true():
                return True
            time.sleep(0.005)
        return False

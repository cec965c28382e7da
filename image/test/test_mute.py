"""The real processes with a broker: a box that is muted and then restarted over MQTT stays muted.

The box ignores `cmd/restart` for the first minute after a start, so the test takes longer.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from appliance.runtime.ipc.floor import Floor
from lab.bench.mosquitto import BrokerObserver, Mosquitto

pytestmark = pytest.mark.timeout(400)
TOPIC = "interlude/x/settings"
START_S = 120.0  # limit for the start of all parts with the pocket model, on a busy machine
MINUTE_S = 75.0


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[Mosquitto]:
    folder = tmp_path / "mosquitto"
    folder.mkdir()
    made = Mosquitto(folder, options=("allow_anonymous true",))
    made.start()
    yield made
    made.stop()


def microphone_off(pid: int) -> bool:
    """`microphone_off` of that supervisor's floor."""
    for link in Path(f"/proc/{pid}/fd").iterdir():
        if "interlude-floor" in str(link.readlink()):
            fd = os.open(link, os.O_RDWR)
            try:
                return Floor(fd).microphone_off
            finally:
                os.close(fd)
    raise AssertionError("there is no floor")


def test_a_restart_over_mqtt_unmutes_nothing(broker: Mosquitto, tmp_path: Path) -> None:
    link = {"broker": "127.0.0.1", "port": broker.port, "id": "x", "unmute": False}
    settings = tmp_path / "settings.yaml"
    card = {"capture": "nowhere", "playback": "nowhere"}
    settings.write_text(
        json.dumps({"state_dir": str(tmp_path / "state"), "link": link, "card": card})
    )
    (tmp_path / "run").mkdir()
    environment = {**os.environ, "RUNTIME_DIRECTORY": str(tmp_path / "run")}
    environment.pop("NOTIFY_SOCKET", None)
    command = [sys.executable, "-m", "appliance", "--settings", str(settings), "run"]
    with BrokerObserver(broker.port) as ear:
        box = subprocess.Popen(command, env=environment)
        try:

            def mute() -> str:
                said = ear.last(TOPIC)
                return "" if not said else str(json.loads(said)["mute"])

            assert ear.wait_until(lambda: mute() == "OFF", START_S)
            ear.publish("interlude/x/set/mute", "ON")
            assert ear.wait_until(lambda: mute() == "ON")
            ear.publish("interlude/x/set/mute", "OFF")
            before = len(ear.messages_of(TOPIC))

            def restarted() -> bool:
                ear.publish("interlude/x/cmd/restart", "PRESS")
                return ear.wait_until(
                    lambda: ear.last("interlude/x/availability") == b"offline", 2.0
                )

            assert ear.wait_until(restarted, MINUTE_S)
            assert ear.wait_until(
                lambda: ear.last("interlude/x/availability") == b"online", START_S
            )
            assert ear.wait_until(lambda: len(ear.messages_of(TOPIC)) > before, START_S)
            ear.publish("interlude/x/set/mute", "OFF")
            ear.publish("interlude/x/set/volume", "31")  # its answer comes after the refused one
            assert ear.wait_until(lambda: json.loads(ear.last(TOPIC) or b"{}").get("volume") == 31)
            later = [json.loads(heard.payload)["mute"] for heard in ear.messages_of(TOPIC)[before:]]
            assert set(later) == {"ON"}
            assert microphone_off(box.pid)  # without systemd it is the same process
        finally:
            box.terminate()
            box.wait(60)

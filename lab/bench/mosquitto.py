"""Runs a Mosquitto broker and a client that observes its topics, for tests and benches."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import paho.mqtt.client as paho
from paho.mqtt.enums import CallbackAPIVersion, MQTTProtocolVersion

from appliance.errors import LinkError
from lab.free_port import free_port

STARTS_S = 10.0  # timeout of a start, on a busy machine
SBIN = "/usr/sbin/mosquitto"  # not on every user's PATH


def program() -> str | None:
    """The path of the installed Mosquitto, or None."""
    return shutil.which("mosquitto") or (SBIN if Path(SBIN).exists() else None)


@dataclass
class Mosquitto:
    """A broker in `folder` on `port` of the loopback interface.

    `options`: more lines of its configuration. `lasting`: retained messages survive `stop`.
    """

    folder: Path
    port: int = 0
    options: tuple[str, ...] = ("allow_anonymous true",)
    lasting: bool = False
    _process: subprocess.Popen[bytes] | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        self.port = self.port or free_port()

    def __enter__(self) -> Mosquitto:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def start(self) -> None:
        """Raises LinkError if it is not installed or does not start."""
        path = program()
        if path is None:
            raise LinkError("Mosquitto is not installed.", "Install the package mosquitto.")
        persistence = (
            [f"persistence_location {self.folder}/", "persistence true"] if self.lasting else []
        )
        lines = [f"listener {self.port} 127.0.0.1", *self.options, *persistence, "user root"]
        config = self.folder / "mosquitto.conf"
        config.write_text("\n".join(lines) + "\n")
        with (self.folder / "mosquitto.log").open("ab") as log:
            self._process = subprocess.Popen([path, "-c", config], stderr=log, stdout=log)
        deadline = time.monotonic() + STARTS_S
        while not self._listens():
            if self._process.poll() is not None or time.monotonic() > deadline:
                tail = (self.folder / "mosquitto.log").read_text()[-500:]
                raise LinkError(f"Mosquitto does not come up: {tail}")
            time.sleep(0.01)

    def stop(self) -> None:
        """Shut down cleanly, as after `systemctl stop`."""
        self._end(signal.SIGTERM)

    def kill(self) -> None:
        self._end(signal.SIGKILL)

    def freeze(self) -> None:
        """Stop the process with SIGSTOP: its connections stay open, but it no longer answers."""
        assert self._process is not None
        self._process.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        assert self._process is not None
        self._process.send_signal(signal.SIGCONT)

    def _end(self, signal_number: signal.Signals) -> None:
        if self._process is not None:
            self._process.send_signal(signal.SIGCONT)
            self._process.send_signal(signal_number)
            self._process.wait()
            self._process = None

    def _listens(self) -> bool:
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.port)) == 0


@dataclass(frozen=True)
class BrokerMessage:
    """A received message; `at_ns`: time of its receipt on CLOCK_MONOTONIC."""

    at_ns: int
    topic: str
    payload: bytes
    retained: bool


class BrokerObserver:
    """Another client of the broker: records all messages of `topic`, and can publish."""

    def __init__(self, port: int, *, topic: str = "#", user: str = "", password: str = "") -> None:
        self.heard: list[BrokerMessage] = []
        self._topic = topic
        self._ready = threading.Event()
        self._client = paho.Client(CallbackAPIVersion.VERSION2, protocol=MQTTProtocolVersion.MQTTv5)
        if user:
            self._client.username_pw_set(user, password)
        self._client.on_connect = self._on_connect
        self._client.on_subscribe = lambda *_: self._ready.set()
        self._client.on_message = self._on_message
        self._client.reconnect_delay_set(1, 1)
        self._client.connect("127.0.0.1", port)
        self._client.loop_start()
        if not self._ready.wait(STARTS_S):
            raise LinkError("The broker did not acknowledge the subscription.")

    def __enter__(self) -> BrokerObserver:
        return self

    def __exit__(self, *_: object) -> None:
        self._client.disconnect()
        self._client.loop_stop()

    def publish(
        self, topic: str, payload: bytes | str, *, retain: bool = False, qos: int = 1
    ) -> None:
        """Publish; with `qos` 1 wait for the broker's acknowledgement."""
        info = self._client.publish(topic, payload, qos, retain)
        if qos:
            info.wait_for_publish(STARTS_S)

    def messages_of(self, topic: str) -> list[BrokerMessage]:
        return [heard for heard in self.heard if heard.topic == topic]

    def last(self, topic: str) -> bytes | None:
        found = self.messages_of(topic)
        return found[-1].payload if found else None

    def wait_until(self, condition: Callable[[], Any], seconds: float = 15.0) -> bool:
        """Wait until `condition()` is true. False after `seconds`."""
        deadline = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > deadline:
                return False
            time.sleep(0.002)
        return True

    def _on_connect(self, client: paho.Client, *_: Any) -> None:
        client.subscribe(self._topic, qos=1)

    def _on_message(self, client: paho.Client, data: Any, message: paho.MQTTMessage) -> None:
        now_ns = time.monotonic_ns()
        payload = bytes(message.payload)
        self.heard.append(BrokerMessage(now_ns, message.topic, payload, message.retain))


def resident_mib(pid: int) -> float:
    """Resident memory of a process, private and shared."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20

"""A client that polls a broker connection as the link does, and a scripted fake broker."""

from __future__ import annotations

import select
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

import msgspec

from appliance.mqtt import broker as reach
from appliance.mqtt.broker import Broker
from appliance.mqtt.connection import (
    ANSWER_S,
    MESSAGES_A_SECOND,
    LastWill,
    MqttConnection,
    MqttEvent,
    ProtocolVersion,
)
from appliance.settings import load_defaults
from lab.bench.mosquitto import Mosquitto

PATIENCE_S = 15.0
WILL = LastWill("interlude/x/availability", b"offline")
E = TypeVar("E")


class Caller:
    """Polls a connection as the link does, and keeps its events."""

    def __init__(
        self,
        at: Broker,
        version: ProtocolVersion = 5,
        name: str = "interlude-x",
        *,
        answer_s: float = ANSWER_S,
        messages_a_second: float = MESSAGES_A_SECOND,
    ) -> None:
        self.events: list[MqttEvent] = []
        self.steps = 0
        self.session = MqttConnection(
            at, name, will=WILL, subscribe=("interlude/x/cmd/+",), version=version,
            answer_s=answer_s, messages_a_second=messages_a_second,
        )  # fmt: skip

    def until(self, condition: Callable[[], object], seconds: float = PATIENCE_S) -> bool:
        end_s = time.monotonic() + seconds
        while not condition():
            now_s = time.monotonic()
            if now_s > end_s:
                return False
            poll = select.poll()
            for fd, wanted in self.session.interests(now_s):
                poll.register(fd, wanted)
            poll.poll(1000 * min(0.05, self.session.wait_s(now_s)))
            self.events += self.session.poll(time.monotonic())
            self.steps += 1
        return True

    def get(self, kind: type[E], seconds: float = PATIENCE_S) -> E:
        """The first event of that kind; fails if none arrives within `seconds`."""
        seen = 0

        def arrived() -> bool:
            nonlocal seen
            new, seen = self.events[seen:], len(self.events)
            return any(isinstance(event, kind) for event in new)

        assert self.until(arrived, seconds), f"no {kind.__name__}: {self.events[:9]}"
        return self.of(kind)[0]

    def of(self, kind: type[E]) -> list[E]:
        return [event for event in self.events if isinstance(event, kind)]


Call = Callable[..., Caller]


def at(broker: Mosquitto, user: str = "", password: str = "") -> Broker:
    return Broker("127.0.0.1", broker.port, user, password)


@contextmanager
def fake_broker(answer: Callable[[socket.socket], object]) -> Iterator[Broker]:
    """A TCP server that calls `answer` with the first connection."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(PATIENCE_S)

        def serve() -> None:
            try:
                connection, _ = server.accept()
            except OSError:
                return
            with connection:
                connection.settimeout(PATIENCE_S)
                answer(connection)

        thread = threading.Thread(target=serve)
        thread.start()
        yield Broker("127.0.0.1", server.getsockname()[1])
    thread.join()


CONNACK_5 = b"\x20\x03\x00\x00\x00"


def with_tls(broker: Mosquitto, host: str = "localhost", **files: Path) -> Broker:
    link = msgspec.structs.replace(
        load_defaults().link, broker=host, port=broker.port, tls=True,
        **{name: str(path) for name, path in files.items()},
    )  # fmt: skip
    return reach.broker(link, {})

"""A Mosquitto for tests and its observer: start, stop, freeze, kill, and a failed start."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from appliance.errors import LinkError
from lab.bench.mosquitto import BrokerObserver, Mosquitto, resident_mib


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[Mosquitto]:
    tmp_path.chmod(0o777)  # Mosquitto may run as its own user
    with Mosquitto(tmp_path, lasting=True) as mosquitto:
        yield mosquitto


def listens(port: int) -> bool:
    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", port)) == 0


def test_the_memory_of_a_process_is_read_and_an_ended_process_raises() -> None:
    assert resident_mib(os.getpid()) > 1
    with pytest.raises(OSError, match="No such file"):
        resident_mib(1 << 30)


@pytest.mark.process
def test_messages_reach_an_observer_and_retained_ones_survive_a_restart(
    broker: Mosquitto,
) -> None:
    with (
        BrokerObserver(broker.port) as observer,
        BrokerObserver(broker.port, topic="other") as publisher,
    ):
        publisher.publish("a/b", b"kept", retain=True)
        publisher.publish("a/c", b"gone", retain=False)
        assert observer.wait_until(lambda: observer.last("a/c") == b"gone")
        assert [heard.payload for heard in observer.messages_of("a/b")] == [b"kept"]
        assert publisher.heard == []
    broker.stop()
    assert not listens(broker.port)
    broker.start()
    with BrokerObserver(broker.port) as late:
        assert late.wait_until(lambda: late.last("a/b") == b"kept")
        assert late.messages_of("a/b")[0].retained
        assert late.last("a/c") is None


@pytest.mark.process
def test_a_frozen_broker_keeps_its_port_and_a_killed_one_does_not(broker: Mosquitto) -> None:
    broker.freeze()
    assert listens(broker.port)  # the kernel still accepts the connection
    broker.thaw()
    with BrokerObserver(broker.port) as observer:
        observer.publish("x", b"after")
        assert observer.wait_until(lambda: observer.last("x") == b"after")
    broker.kill()
    assert not listens(broker.port)


@pytest.mark.process
def test_a_broker_that_does_not_start_raises_with_its_own_output(tmp_path: Path) -> None:
    tmp_path.chmod(0o777)
    broken = Mosquitto(tmp_path, options=("no_such_option true",))
    try:
        with pytest.raises(LinkError, match="no_such_option"):
            broken.start()
    finally:
        broken.stop()

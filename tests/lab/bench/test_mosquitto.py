"""A broker of our own and somebody who listens there: it starts, freezes, dies and says why not."""

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
    tmp_path.chmod(0o777)  # it may run as a user of its own
    with Mosquitto(tmp_path, lasting=True) as made:
        yield made


def listens(port: int) -> bool:
    with socket.socket() as knock:
        return knock.connect_ex(("127.0.0.1", port)) == 0


def test_a_process_has_memory_and_one_that_is_gone_has_none() -> None:
    assert resident_mib(os.getpid()) > 1
    with pytest.raises(OSError, match="No such file"):
        resident_mib(1 << 30)


@pytest.mark.process
def test_what_one_publishes_the_other_hears_and_what_is_retained_outlasts_a_stop(
    broker: Mosquitto,
) -> None:
    with BrokerObserver(broker.port) as ear, BrokerObserver(broker.port, topic="other") as other:
        other.publish("a/b", b"kept", retain=True)
        other.publish("a/c", b"gone", retain=False)
        assert ear.wait_until(lambda: ear.last("a/c") == b"gone")
        assert [heard.payload for heard in ear.messages_of("a/b")] == [b"kept"]
        assert other.heard == []
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
    assert listens(broker.port)  # the kernel takes the connection
    broker.thaw()
    with BrokerObserver(broker.port) as ear:
        ear.publish("x", b"after")
        assert ear.wait_until(lambda: ear.last("x") == b"after")
    broker.kill()
    assert not listens(broker.port)


@pytest.mark.process
def test_a_broker_that_does_not_come_up_says_its_own_last_words(tmp_path: Path) -> None:
    tmp_path.chmod(0o777)
    broken = Mosquitto(tmp_path, options=("no_such_option true",))
    try:
        with pytest.raises(LinkError, match="no_such_option"):
            broken.start()
    finally:
        broken.stop()

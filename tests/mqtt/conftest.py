"""Fixtures that start a real Mosquitto."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from appliance.mqtt.broker import Broker
from lab.bench.mosquitto import Mosquitto
from tests.mqtt.caller import Caller

Make = Callable[..., Mosquitto]


@pytest.fixture
def mosquitto_with(tmp_path: Path) -> Iterator[Make]:
    """Starts a broker: `mosquitto_with("max_packet_size 1000", lasting=True)`."""
    made: list[Mosquitto] = []

    def make(*options: str, lasting: bool = False) -> Mosquitto:
        folder = tmp_path / f"mosquitto-{len(made)}"
        folder.mkdir()
        folder.chmod(0o777)  # Mosquitto may run as its own user
        made.append(
            Mosquitto(folder, options=options or ("allow_anonymous true",), lasting=lasting)
        )
        made[-1].start()
        return made[-1]

    yield make
    for broker in made:
        broker.stop()


@pytest.fixture
def broker(mosquitto_with: Make) -> Mosquitto:
    return mosquitto_with()


@pytest.fixture
def call() -> Iterator[Callable[..., Caller]]:
    made: list[Caller] = []

    def start(at: Broker, *args: object, **options: object) -> Caller:
        made.append(Caller(at, *args, **options))  # type: ignore[arg-type]  # passed on to Caller
        return made[-1]

    yield start
    for caller in made:
        caller.session.close()

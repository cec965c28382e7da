"""A broker that accepts the box and then freezes, with a clock that the test advances."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from appliance.messages.commands import BoxStatus, BrokerChanged, SetVolume
from appliance.mqtt.backoff import LONGEST_S
from appliance.mqtt.home_assistant import DEAD_S
from lab.bench.mosquitto import BrokerObserver, Mosquitto
from tests.dialog.desk import Desk
from tests.mqtt.desk import Clock, desk_at

pytestmark = pytest.mark.process


@pytest.fixture
def desk(broker: Mosquitto, tmp_path: Path) -> Iterator[Desk]:
    created = desk_at(tmp_path / "box", broker.port)
    yield created
    created.close()


def test_a_frozen_broker_is_disconnected_and_reconnected_after_it_thaws(
    broker: Mosquitto, desk: Desk, caplog: pytest.LogCaptureFixture
) -> None:
    clock = Clock(desk)
    assert clock.until(lambda: BrokerChanged(here=True) in desk.sent)
    with BrokerObserver(broker.port) as observer:
        assert clock.until(lambda: observer.last("interlude/x/availability") == b"online")
    broker.freeze()
    desk.arrived = [BoxStatus("open", False, 0.7)]
    clock.until(lambda: not desk.arrived)
    assert desk.sent[-1] == BrokerChanged(here=True)
    clock.ahead_s += DEAD_S + 1.0
    assert clock.until(lambda: desk.sent[-1] == BrokerChanged(here=False))
    assert "does not answer" in caplog.text

    broker.thaw()
    clock.ahead_s += LONGEST_S["away"]
    assert clock.until(lambda: desk.sent[-1] == BrokerChanged(here=True))
    with BrokerObserver(broker.port) as observer:
        clock.until(lambda: b'"volume":70' in (observer.last("interlude/x/settings") or b""))
        assert b'"volume":70' in (observer.last("interlude/x/settings") or b"")
        observer.publish("interlude/x/set/volume", b"35")
        assert clock.until(lambda: SetVolume(0.35) in desk.sent)
    clock.link.disconnect()

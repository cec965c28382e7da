"""A broker that lets the box in and then does nothing any more, by a clock that the test moves."""

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
    made = desk_at(tmp_path / "box", broker.port)
    yield made
    made.close()


def test_a_broker_that_stays_frozen_is_given_up_and_found_again_when_it_thaws(
    broker: Mosquitto, desk: Desk, caplog: pytest.LogCaptureFixture
) -> None:
    clock = Clock(desk)
    assert clock.until(lambda: BrokerChanged(here=True) in desk.sent)
    with BrokerObserver(broker.port) as ear:
        assert clock.until(lambda: ear.last("interlude/x/availability") == b"online")
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
    with BrokerObserver(broker.port) as ear:
        clock.until(lambda: b'"volume":70' in (ear.last("interlude/x/settings") or b""))
        assert b'"volume":70' in (ear.last("interlude/x/settings") or b"")
        ear.publish("interlude/x/set/volume", b"35")
        assert clock.until(lambda: SetVolume(0.35) in desk.sent)
    clock.link.disconnect()

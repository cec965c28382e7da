"""What the box left at its broker before its owner gave it another prefix, base or id."""

from __future__ import annotations

from pathlib import Path

import pytest

from appliance.bench.mosquitto import Ear, Mosquitto
from appliance.link import leftovers
from appliance.link.leftovers import Leftovers
from appliance.link.link import SWEEP_S
from appliance.messages import HouseChanged
from tests.link.desk import Clock, Desk

BEFORE, NOW = ("a/x/config", "i/x/state"), ("b/x/config", "i/x/state")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "state" / "left.json"


def test_of_a_new_box_nothing_is_left(file: Path) -> None:
    assert Leftovers(file, NOW).at("here:1883") == ()


def test_what_has_another_name_now_is_emptied_and_the_rest_is_not(file: Path) -> None:
    Leftovers(file, BEFORE).at("here:1883")
    assert Leftovers(file, NOW).at("here:1883") == ("a/x/config",)


def test_it_is_emptied_again_until_the_broker_has_said_that_it_is(file: Path) -> None:
    Leftovers(file, BEFORE).at("here:1883")
    one = Leftovers(file, NOW)
    for receipt in (None, 8, 7):  # none; of something else; its own
        assert one.at("here:1883") == ("a/x/config",)
        one.emptied(7)
        if receipt is not None:
            one.receipt(receipt)
    assert one.at("here:1883") == ()


def test_at_another_broker_there_is_nothing_of_ours(file: Path) -> None:
    Leftovers(file, BEFORE).at("here:1883")
    assert Leftovers(file, NOW).at("there:1883") == ()


@pytest.mark.parametrize("data", [b"", b"{", b'{"place":"here:1883","topics":["#"]}', b"\xff"])
def test_a_file_that_makes_no_sense_empties_nothing(file: Path, data: bytes) -> None:
    file.parent.mkdir()
    file.write_bytes(data)
    assert Leftovers(file, NOW).at("here:1883") == ()


def runs(broker: Mosquitto, folder: Path, **link: str) -> None:
    """A box with these settings is at the broker until it has written down what it left there."""
    desk = Desk(folder, broker.port, **link)
    clock, file = Clock(desk), leftovers.path(desk.settings)
    assert clock.until(lambda: HouseChanged(here=True) in desk.sent)
    clock.ahead_s += SWEEP_S
    prefix = desk.settings.link.discovery_prefix
    assert clock.until(lambda: file.exists() and f'"{prefix}/' in file.read_text(encoding="utf-8"))
    clock.link.leave()
    desk.close()


def test_no_ghost_stays_when_prefix_and_base_are_changed(broker: Mosquitto, tmp_path: Path) -> None:
    runs(broker, tmp_path)
    runs(broker, tmp_path, base="voice", discovery_prefix="ha")
    with Ear(broker.port) as ear:
        assert ear.until(lambda: ear.last("voice/x/availability"))
        topics = {heard.topic for heard in ear.heard}
    assert "ha/device/interlude_x/config" in topics
    assert not {topic for topic in topics if topic.startswith(("interlude/", "homeassistant/"))}

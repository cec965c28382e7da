"""What the box left at its broker before its owner gave it another prefix, base or id."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from appliance.messages.commands import BrokerChanged
from appliance.mqtt import stale_topics
from appliance.mqtt.link import SWEEP_S
from appliance.mqtt.stale_topics import StaleTopics
from appliance.mqtt.topics import Topics
from lab.bench.mosquitto import BrokerObserver, Mosquitto
from tests.mqtt.desk import Clock, desk_at

BEFORE, NOW = ("a/x/config", "i/x/state"), ("b/x/config", "i/x/state")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "state" / "left.json"


def stale(file: Path, ours: tuple[str, ...], place: str = "here:1883") -> tuple[str, ...]:
    """What a box with these topics finds to be emptied there. It does not get round to it."""
    topics = StaleTopics(file, ours)
    topics.on_connected(place)
    return topics.stale


def test_of_a_new_box_nothing_is_left(file: Path) -> None:
    assert stale(file, NOW) == ()


def test_what_has_another_name_now_is_emptied_and_the_rest_is_not(file: Path) -> None:
    assert stale(file, BEFORE) == ()
    assert stale(file, NOW) == ("a/x/config",)


def test_names_that_lasted_for_a_moment_are_not_forgotten(file: Path) -> None:
    stale(file, BEFORE)
    stale(file, NOW)
    assert stale(file, ("c/x/config",)) == ("a/x/config", "b/x/config", "i/x/state")


def test_it_is_emptied_again_until_the_broker_has_said_that_it_is(file: Path) -> None:
    stale(file, BEFORE)
    one = StaleTopics(file, NOW)
    for receipt in (8, 7):  # of something else; its own
        one.on_connected("here:1883")
        assert one.stale == ("a/x/config",)
        one.emptied(7)
        one.receipt(receipt)
    assert one.stale == stale(file, NOW) == ()


def test_at_another_broker_there_is_nothing_of_ours(file: Path) -> None:
    stale(file, BEFORE)
    assert stale(file, NOW, "there:1883") == ()


@pytest.mark.parametrize("data", [b"", b"{", b'{"place":"here:1883","topics":["#"]}', b"\xff"])
def test_a_file_that_makes_no_sense_empties_nothing(file: Path, data: bytes) -> None:
    file.parent.mkdir()
    file.write_bytes(data)
    assert stale(file, NOW) == ()


def runs(broker: Mosquitto, folder: Path, **link: str) -> None:
    """A box with these settings is at the broker until it has written down what it left there."""
    desk = desk_at(folder, broker.port, **link)
    clock, file = Clock(desk), stale_topics.path(desk.settings)
    assert clock.until(lambda: BrokerChanged(here=True) in desk.sent)
    clock.ahead_s += SWEEP_S
    ours = list(Topics.of(desk.settings.link, "x").retained)
    assert clock.until(lambda: json.loads(file.read_text(encoding="utf-8"))["topics"] == ours)
    clock.link.disconnect()
    desk.close()


@pytest.mark.process
def test_no_ghost_stays_when_prefix_and_base_are_changed(broker: Mosquitto, tmp_path: Path) -> None:
    runs(broker, tmp_path)
    runs(broker, tmp_path, base="voice", discovery_prefix="ha")
    with BrokerObserver(broker.port) as ear:
        assert ear.wait_until(lambda: ear.last("voice/x/availability"))
        topics = {heard.topic for heard in ear.heard}
    assert "ha/device/interlude_x/config" in topics
    assert not {topic for topic in topics if topic.startswith(("interlude/", "homeassistant/"))}

"""Topics retained at the broker under an earlier prefix, base or id."""

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


def stale(file: Path, current: tuple[str, ...], place: str = "here:1883") -> tuple[str, ...]:
    """The stale topics of a box with the topics `current` at that broker. None is emptied."""
    topics = StaleTopics(file, current)
    topics.on_connected(place)
    return topics.stale


def test_a_new_box_has_no_stale_topics(file: Path) -> None:
    assert stale(file, NOW) == ()


def test_only_topics_with_a_changed_name_are_emptied(file: Path) -> None:
    assert stale(file, BEFORE) == ()
    assert stale(file, NOW) == ("a/x/config",)


def test_topics_of_short_lived_settings_are_remembered(file: Path) -> None:
    stale(file, BEFORE)
    stale(file, NOW)
    assert stale(file, ("c/x/config",)) == ("a/x/config", "b/x/config", "i/x/state")


def test_a_stale_topic_is_emptied_again_until_the_broker_acknowledges_it(file: Path) -> None:
    stale(file, BEFORE)
    stale_topics_now = StaleTopics(file, NOW)
    for receipt in (8, 7):  # an unrelated receipt, then its own
        stale_topics_now.on_connected("here:1883")
        assert stale_topics_now.stale == ("a/x/config",)
        stale_topics_now.emptied(7)
        stale_topics_now.receipt(receipt)
    assert stale_topics_now.stale == stale(file, NOW) == ()


def test_another_broker_has_no_stale_topics(file: Path) -> None:
    stale(file, BEFORE)
    assert stale(file, NOW, "there:1883") == ()


@pytest.mark.parametrize("data", [b"", b"{", b'{"place":"here:1883","topics":["#"]}', b"\xff"])
def test_an_invalid_file_empties_nothing(file: Path, data: bytes) -> None:
    file.parent.mkdir()
    file.write_bytes(data)
    assert stale(file, NOW) == ()


def run_until_saved(broker: Mosquitto, folder: Path, **link: str) -> None:
    """Connect a box with these settings until it has saved the list of its retained topics."""
    desk = desk_at(folder, broker.port, **link)
    clock, file = Clock(desk), stale_topics.path(desk.settings)
    assert clock.until(lambda: BrokerChanged(here=True) in desk.sent)
    clock.ahead_s += SWEEP_S
    current = list(Topics.of(desk.settings.link, "x").retained)
    assert clock.until(lambda: json.loads(file.read_text(encoding="utf-8"))["topics"] == current)
    clock.link.disconnect()
    desk.close()


@pytest.mark.process
def test_a_changed_prefix_and_base_leave_no_retained_topic_behind(
    broker: Mosquitto, tmp_path: Path
) -> None:
    run_until_saved(broker, tmp_path)
    run_until_saved(broker, tmp_path, base="voice", discovery_prefix="ha")
    with BrokerObserver(broker.port) as observer:
        assert observer.wait_until(lambda: observer.last("voice/x/availability"))
        topics = {heard.topic for heard in observer.heard}
    assert "ha/device/interlude_x/config" in topics
    assert not {topic for topic in topics if topic.startswith(("interlude/", "homeassistant/"))}

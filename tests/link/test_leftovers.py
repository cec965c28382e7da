"""What the box left at its broker before its owner gave it another prefix, base or id."""

from __future__ import annotations

from pathlib import Path

import pytest

from appliance.bench.mosquitto import Ear, Mosquitto
from appliance.link.leftovers import Leftovers
from tests.link.house import box

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


def test_no_ghost_stays_when_prefix_and_base_are_changed(broker: Mosquitto, tmp_path: Path) -> None:
    with box(broker, tmp_path) as one, Ear(broker.port) as ear:
        one.until(lambda: one.online(ear))
    with box(broker, tmp_path, base="voice", discovery_prefix="ha") as one:
        one.root = "voice/x"
        with Ear(broker.port) as ear:
            one.until(lambda: one.online(ear))  # its last word: all before it is done
    with Ear(broker.port) as ear:
        assert ear.until(lambda: ear.last("voice/x/availability"))
        topics = {heard.topic for heard in ear.heard}
    assert not {topic for topic in topics if topic.startswith(("interlude/", "homeassistant/"))}

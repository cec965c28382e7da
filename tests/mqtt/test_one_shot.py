"""`interlude link remove|add`, and the broker test of `interlude check`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from appliance.errors import LinkError
from appliance.mqtt import one_shot
from appliance.mqtt.link import removed
from appliance.settings import Settings, load
from lab.bench.mosquitto import BrokerObserver, Mosquitto
from tests.mqtt.conftest import Make
from tests.mqtt.elder import without_mqtt_5
from tests.mqtt.house import running_box

pytestmark = pytest.mark.process

CONFIG = "homeassistant/device/interlude_x/config"


def settings(broker: Mosquitto, tmp_path: Path, **link: Any) -> Settings:
    """The same settings as in `house.Box`."""
    required = {"broker": "127.0.0.1", "port": broker.port, "id": "x"}
    return load(None, {"state_dir": str(tmp_path / "state-x"), "link": required | link})


# ── check ────────────────────────────────────────────────────────────────────────────────────
def test_check_accepts_a_broker_that_accepts_us(broker: Mosquitto, tmp_path: Path) -> None:
    result = one_shot.check(settings(broker, tmp_path))
    assert result == f"The broker at 127.0.0.1:{broker.port} lets us in: MQTT 5."


def test_check_accepts_a_broker_without_mqtt_5(broker: Mosquitto, tmp_path: Path) -> None:
    with without_mqtt_5(broker) as old:
        assert one_shot.check(settings(old, tmp_path)).endswith("lets us in: MQTT 3.1.1.")


def test_a_broker_that_is_not_there_is_a_problem_with_a_remedy(
    broker: Mosquitto, tmp_path: Path
) -> None:
    broker.stop()
    with pytest.raises(LinkError, match="No broker listens") as wrong:
        one_shot.check(settings(broker, tmp_path))
    assert wrong.value.remedy


def test_a_broker_that_requires_a_login_is_a_problem(mosquitto_with: Make, tmp_path: Path) -> None:
    guarded = mosquitto_with("allow_anonymous false")
    with pytest.raises(LinkError, match="requires a login"):
        one_shot.check(settings(guarded, tmp_path))


def test_a_password_that_others_may_read_is_a_problem(broker: Mosquitto, tmp_path: Path) -> None:
    readable = tmp_path / "password"
    readable.write_text("x")
    readable.chmod(0o644)
    with pytest.raises(LinkError, match="Others may read the password"):
        one_shot.check(settings(broker, tmp_path, password_file=str(readable)))


def test_check_does_not_disturb_a_running_box(broker: Mosquitto, tmp_path: Path) -> None:
    with running_box(broker, tmp_path) as box, BrokerObserver(broker.port) as observer:
        box.until(lambda: box.online(observer))
        one_shot.check(settings(broker, tmp_path))
        box.wait(0.3)
        assert b"offline" not in {
            heard.payload for heard in observer.messages_of("interlude/x/availability")
        }


# ── remove and add ───────────────────────────────────────────────────────────────────────────
def test_a_removed_box_empties_its_topics_and_stays_hidden_until_added(
    broker: Mosquitto, tmp_path: Path
) -> None:
    box_settings = settings(broker, tmp_path)
    with running_box(broker, tmp_path) as box, BrokerObserver(broker.port) as observer:
        box.until(lambda: box.online(observer))
        assert one_shot.cli_remove(box_settings) == 0
        # Both empty the topic: the command, and the box when it sees the removal.
        box.until(
            lambda: [heard.payload for heard in observer.messages_of(CONFIG)][-2:] == [b"", b""]
        )
        observer.heard.clear()
        observer.publish("homeassistant/status", b"online")  # the birth message of Home Assistant
        box.until(lambda: box.online(observer))  # availability is published last
        assert not observer.messages_of(CONFIG)
        observer.heard.clear()
        assert one_shot.cli_add(box_settings) == 0
        box.until(lambda: box.online(observer))  # the state topics are republished as well
        assert json.loads(observer.last(CONFIG) or b"")["dev"]["ids"] == ["interlude_x"]
        assert box.shows(observer, "settings", volume=80)


def test_removal_empties_the_topics_of_a_stopped_box(broker: Mosquitto, tmp_path: Path) -> None:
    with running_box(broker, tmp_path) as box, BrokerObserver(broker.port) as observer:
        box.until(lambda: box.online(observer))
    one_shot.cli_remove(settings(broker, tmp_path))
    with BrokerObserver(broker.port) as later:
        assert not later.wait_until(lambda: later.heard, 0.3)


def test_removal_without_a_broker_is_reported_and_remembered(
    broker: Mosquitto, tmp_path: Path
) -> None:
    broker.stop()
    box_settings = settings(broker, tmp_path)
    with pytest.raises(LinkError, match="what it left there stays"):
        one_shot.cli_remove(box_settings)
    assert removed(box_settings).exists()
    one_shot.cli_add(box_settings)
    assert not removed(box_settings).exists()


def test_without_a_broker_in_the_settings_there_is_nothing_to_remove(tmp_path: Path) -> None:
    no_broker = load(None, {"state_dir": str(tmp_path)})
    for verb in (one_shot.cli_remove, one_shot.cli_add):
        with pytest.raises(LinkError, match="No broker is named"):
            verb(no_broker)
    assert list(tmp_path.iterdir()) == []


def test_adding_a_box_with_discovery_off_names_the_setting(
    broker: Mosquitto, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one_shot.cli_add(settings(broker, tmp_path, discovery=False))
    assert "link.discovery" in capsys.readouterr().out

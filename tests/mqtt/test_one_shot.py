"""`interlude link remove|add` and what `interlude check` finds of the broker."""

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
from tests.mqtt.elder import elder
from tests.mqtt.house import box

pytestmark = pytest.mark.process

CONFIG = "homeassistant/device/interlude_x/config"


def settings(broker: Mosquitto, tmp_path: Path, **link: Any) -> Settings:
    """As in `house.Box`."""
    at = {"broker": "127.0.0.1", "port": broker.port, "id": "x"}
    return load(None, {"state_dir": str(tmp_path / "state-x"), "link": at | link})


# ── check ────────────────────────────────────────────────────────────────────────────────────
def test_a_broker_that_lets_us_in_is_well(broker: Mosquitto, tmp_path: Path) -> None:
    said = one_shot.check(settings(broker, tmp_path))
    assert said == f"The broker at 127.0.0.1:{broker.port} lets us in: MQTT 5."


def test_an_older_broker_is_as_well(broker: Mosquitto, tmp_path: Path) -> None:
    with elder(broker) as old:
        assert one_shot.check(settings(old, tmp_path)).endswith("lets us in: MQTT 3.1.1.")


def test_a_broker_that_is_not_there_is_a_problem_with_a_remedy(
    broker: Mosquitto, tmp_path: Path
) -> None:
    broker.stop()
    with pytest.raises(LinkError, match="No broker listens") as wrong:
        one_shot.check(settings(broker, tmp_path))
    assert wrong.value.remedy


def test_a_broker_that_wants_a_login_is_a_problem(mosquitto_with: Make, tmp_path: Path) -> None:
    guarded = mosquitto_with("allow_anonymous false")
    with pytest.raises(LinkError, match="requires a login"):
        one_shot.check(settings(guarded, tmp_path))


def test_a_password_that_others_may_read_is_a_problem(broker: Mosquitto, tmp_path: Path) -> None:
    wide = tmp_path / "password"
    wide.write_text("x")
    wide.chmod(0o644)
    with pytest.raises(LinkError, match="Others may read the password"):
        one_shot.check(settings(broker, tmp_path, password_file=str(wide)))


def test_looking_does_not_disturb_a_box_that_runs(broker: Mosquitto, tmp_path: Path) -> None:
    with box(broker, tmp_path) as one, BrokerObserver(broker.port) as ear:
        one.until(lambda: one.online(ear))
        one_shot.check(settings(broker, tmp_path))
        one.wait(0.3)
        assert b"offline" not in {
            heard.payload for heard in ear.messages_of("interlude/x/availability")
        }


# ── remove and add ───────────────────────────────────────────────────────────────────────────
def test_a_box_that_is_removed_leaves_nothing_and_stays_away_until_it_is_added(
    broker: Mosquitto, tmp_path: Path
) -> None:
    ours = settings(broker, tmp_path)
    with box(broker, tmp_path) as one, BrokerObserver(broker.port) as ear:
        one.until(lambda: one.online(ear))
        assert one_shot.cli_remove(ours) == 0
        # Both say so: the errand, and the box when it sees that it is not wanted.
        one.until(lambda: [heard.payload for heard in ear.messages_of(CONFIG)][-2:] == [b"", b""])
        ear.heard.clear()
        ear.publish("homeassistant/status", b"online")  # Home Assistant asks who is there
        one.until(lambda: one.online(ear))  # and is told, last of all, that the box is
        assert not ear.messages_of(CONFIG)
        ear.heard.clear()
        assert one_shot.cli_add(ours) == 0
        one.until(lambda: one.online(ear))  # what was taken away with it is back as well
        assert json.loads(ear.last(CONFIG) or b"")["dev"]["ids"] == ["interlude_x"]
        assert one.is_told(ear, "settings", volume=80)


def test_a_box_that_does_not_run_takes_all_it_left_with_it(
    broker: Mosquitto, tmp_path: Path
) -> None:
    with box(broker, tmp_path) as one, BrokerObserver(broker.port) as ear:
        one.until(lambda: one.online(ear))
    one_shot.cli_remove(settings(broker, tmp_path))
    with BrokerObserver(broker.port) as later:
        assert not later.wait_until(lambda: later.heard, 0.3)


def test_removal_without_a_broker_is_said_and_holds_all_the_same(
    broker: Mosquitto, tmp_path: Path
) -> None:
    broker.stop()
    ours = settings(broker, tmp_path)
    with pytest.raises(LinkError, match="what it left there stays"):
        one_shot.cli_remove(ours)
    assert removed(ours).exists()
    one_shot.cli_add(ours)
    assert not removed(ours).exists()


def test_without_a_broker_in_the_settings_there_is_nothing_to_remove(tmp_path: Path) -> None:
    alone = load(None, {"state_dir": str(tmp_path)})
    for verb in (one_shot.cli_remove, one_shot.cli_add):
        with pytest.raises(LinkError, match="No broker is named"):
            verb(alone)
    assert list(tmp_path.iterdir()) == []


def test_a_hidden_box_says_why_it_does_not_appear(
    broker: Mosquitto, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one_shot.cli_add(settings(broker, tmp_path, discovery=False))
    assert "link.discovery" in capsys.readouterr().out

"""The link as a process, with a real conductor and a real Mosquitto that goes and comes."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

import pytest

from appliance.messages.commands import BoxStatus, SetVolume
from appliance.messages.thinking import Think
from appliance.mqtt.connection import KEEPALIVE_S
from lab.bench.mosquitto import BrokerObserver, Mosquitto
from tests.mqtt.conftest import Make
from tests.mqtt.elder import elder
from tests.mqtt.house import box

pytestmark = pytest.mark.process

CONFIG = "homeassistant/device/interlude_x/config"


def test_a_box_says_so_when_it_stops_and_is_missed_at_once_when_it_is_killed(
    broker: Mosquitto, tmp_path: Path
) -> None:
    with BrokerObserver(broker.port) as ear:
        with box(broker, tmp_path) as one:
            one.until(lambda: one.online(ear))
            pid = one.pid("link")
            one.say("room", SetVolume(0.1))
            one.until(lambda: one.is_told(ear, "settings", volume=10))
            os.kill(pid, signal.SIGKILL)
            # Not by a silence that lasts: TCP says so.
            one.until(lambda: not one.online(ear), seconds=KEEPALIVE_S)
            ear.heard.clear()
            one.say("room", SetVolume(0.2))
            one.until(lambda: one.online(ear))  # the supervisor has started it again
            assert one.pid("link") != pid
            one.until(lambda: one.is_told(ear, "settings", volume=20))
            assert one.events(ear) == []
        assert ear.wait_until(lambda: not one.online(ear))


@pytest.mark.parametrize("lasting", [True, False], ids=["with memory", "without"])
def test_after_a_restart_of_the_broker_all_is_right_again_and_no_event_is_late(
    mosquitto_with: Make, tmp_path: Path, lasting: bool
) -> None:
    broker = mosquitto_with(lasting=lasting)
    with box(broker, tmp_path) as one:
        with BrokerObserver(broker.port) as ear:
            one.until(lambda: one.online(ear))
        one.until(lambda: one.get("words", BoxStatus).house)
        broker.stop()
        one.until(lambda: one.get("words", BoxStatus).house is False)
        one.asks(5)  # the box goes on meanwhile
        one.answers(one.get("thinker", Think).turn)
        one.say("room", SetVolume(0.1))
        one.wait(0.3)
        broker.start()
        with BrokerObserver(broker.port) as ear:
            one.until(lambda: one.online(ear) and one.is_told(ear, "settings", volume=10))
            one.until(lambda: one.is_told(ear, "state", state="speaking"))
            assert ear.last(CONFIG)
            one.wait(0.3)
            assert one.events(ear) == []  # of what happened while it was away


def test_a_conductor_that_takes_over_knows_that_the_broker_is_here(
    broker: Mosquitto, tmp_path: Path
) -> None:
    with box(broker, tmp_path) as one:
        one.until(lambda: one.get("words", BoxStatus).house)
        pid = one.pid("conductor")
        os.kill(pid, signal.SIGKILL)
        os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)  # it is the supervisor's to reap
        one.drop_mail()
        one.until(lambda: one.get("words", BoxStatus).house)


def test_a_broker_that_comes_up_after_the_box_is_found(broker: Mosquitto, tmp_path: Path) -> None:
    broker.stop()
    with box(broker, tmp_path) as one:
        one.wait(0.3)
        broker.start()
        with BrokerObserver(broker.port) as ear:
            one.until(lambda: one.online(ear))


def test_a_broker_that_knows_only_3_1_1_is_spoken_to_in_that(
    broker: Mosquitto, tmp_path: Path
) -> None:
    with elder(broker) as old, BrokerObserver(broker.port) as ear, box(old, tmp_path) as one:
        one.until(lambda: one.online(ear))
        ear.publish("interlude/x/set/volume", b"35")
        one.until(lambda: one.is_told(ear, "settings", volume=35))


def test_a_language_that_the_house_chooses_is_in_the_owners_file_and_on_the_device(
    broker: Mosquitto, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    file = tmp_path / "interlude/settings.yaml"
    file.parent.mkdir()
    file.write_text("# mine\nlink: {id: x}\n")
    with box(broker, tmp_path) as one, BrokerObserver(broker.port) as ear:
        one.until(lambda: one.is_told(ear, "settings", language="auto"))
        ear.publish("interlude/x/set/language", b"klingon")
        ear.publish("interlude/x/set/language", b"de")
        one.until(lambda: one.is_told(ear, "settings", language="de"))
    assert file.read_text() == "# mine\nlink: {id: x}\nlanguage: de\n"


def test_a_secret_that_others_may_read_is_not_used_until_it_is_mended(
    broker: Mosquitto, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    password = tmp_path / "password"
    password.write_text("right")
    password.chmod(0o644)
    with box(broker, tmp_path, user="box", password_file=str(password)) as one:
        said: list[str] = []

        def refused() -> bool:
            said.append(capfd.readouterr().err)
            return f"Others may read the password in {password} (mode 0644)." in "".join(said)

        one.until(refused)
        assert "connected" not in "".join(said)
        password.chmod(0o600)
        with BrokerObserver(broker.port) as ear:
            one.until(lambda: one.online(ear))
        said.append(capfd.readouterr().err)
        assert "".join(said).count("Others may read") == 1


def test_a_frozen_broker_gets_the_newest_state_and_no_late_event_when_it_thaws(
    broker: Mosquitto, tmp_path: Path
) -> None:
    with box(broker, tmp_path) as one, BrokerObserver(broker.port) as ear:
        one.until(lambda: one.online(ear))
        one.until(lambda: one.is_told(ear, "state", state="idle"))
        broker.freeze()
        one.asks(5)  # the states that follow are owed; the events right now may still be on the way
        turn = one.get("thinker", Think).turn
        one.wait(1.3)
        one.answers(turn)
        for number in range(30):
            one.say("room", SetVolume(number / 100))
            one.wait(0.01)
        one.has_answered(turn)
        one.wait(0.3)
        broker.thaw()
        one.until(lambda: one.is_told(ear, "settings", volume=29))
        one.until(lambda: one.is_told(ear, "state", state="idle"))
        one.wait(0.3)
        assert "agent_said" not in one.events(ear)
        assert len(ear.messages_of("interlude/x/settings")) < 5


def test_two_boxes_on_one_broker_do_not_hear_each_others_commands(
    broker: Mosquitto, tmp_path: Path
) -> None:
    with (
        box(broker, tmp_path, "x") as one,
        box(broker, tmp_path, "y") as other,
        BrokerObserver(broker.port) as ear,
    ):
        one.until(lambda: one.online(ear))
        other.until(lambda: other.online(ear))
        ear.publish("interlude/y/set/volume", b"10")
        other.until(lambda: other.is_told(ear, "settings", volume=10))
        one.wait(0.2)
        assert one.told(ear, "settings")["volume"] == 80
        ids = {json.loads(h.payload)["dev"]["ids"][0] for h in ear.heard if "config" in h.topic}
        assert ids == {"interlude_x", "interlude_y"}


def test_two_boxes_of_one_id_give_way_to_each_other_and_say_why(
    broker: Mosquitto, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with box(broker, tmp_path / "a", "x") as one, box(broker, tmp_path / "b", "x") as other:
        said: list[str] = []

        def explained() -> bool:
            other.supervisor.run_once(0.002)
            said.append(capfd.readouterr().err)
            return "same `link.id`" in "".join(said)

        one.until(explained)


def test_the_button_and_the_switch_on_the_housing_are_known_to_the_house(
    broker: Mosquitto, tmp_path: Path
) -> None:
    with BrokerObserver(broker.port) as ear, box(broker, tmp_path, panel=True) as one:
        one.until(lambda: one.online(ear))
        one.finger("on")
        one.until(lambda: one.is_told(ear, "telemetry", hw_mute=False))
        one.finger("press")
        one.until(lambda: ear.messages_of("interlude/x/event/button"))  # it is held for long enough
        one.finger("release")
        one.until(lambda: len(ear.messages_of("interlude/x/event/button")) == 2)
        pressed = ear.messages_of("interlude/x/event/button")
        kinds = [json.loads(heard.payload)["event_type"] for heard in pressed]
        assert kinds == ["long_press", "release"]
        assert not any(heard.retained for heard in pressed)
        one.finger("off")
        one.until(lambda: one.is_told(ear, "telemetry", hw_mute=True))
        ear.publish("interlude/x/set/mute", b"OFF")  # a switch that cuts is not undone from afar
        one.wait(0.3)
        one.until(lambda: one.is_told(ear, "settings", mute="ON"))
        one.until(lambda: one.is_told(ear, "state", state="muted"))

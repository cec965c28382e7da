"""The link process with a real conductor and a real Mosquitto that stops and starts."""

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
from tests.mqtt.elder import without_mqtt_5
from tests.mqtt.house import running_box
from tests.supervised import kill_and_wait

pytestmark = pytest.mark.process

CONFIG = "homeassistant/device/interlude_x/config"


def test_a_stopped_box_and_a_killed_link_are_shown_offline_at_once(
    broker: Mosquitto, tmp_path: Path
) -> None:
    with BrokerObserver(broker.port) as observer:
        with running_box(broker, tmp_path) as box:
            box.until(lambda: box.online(observer))
            pid = box.pid("link")
            box.say("room", SetVolume(0.1))
            box.until(lambda: box.shows(observer, "settings", volume=10))
            os.kill(pid, signal.SIGKILL)
            # Noticed by the closed TCP connection, before the keep-alive expires.
            box.until(lambda: not box.online(observer), seconds=KEEPALIVE_S)
            observer.heard.clear()
            box.say("room", SetVolume(0.2))
            box.until(lambda: box.online(observer))  # the supervisor has started it again
            assert box.pid("link") != pid
            box.until(lambda: box.shows(observer, "settings", volume=20))
            assert box.events(observer) == []
        assert observer.wait_until(lambda: not box.online(observer))


@pytest.mark.parametrize("lasting", [True, False], ids=["persistent", "not persistent"])
def test_a_restarted_broker_gets_all_current_values_and_no_late_event(
    mosquitto_with: Make, tmp_path: Path, lasting: bool
) -> None:
    broker = mosquitto_with(lasting=lasting)
    with running_box(broker, tmp_path) as box:
        with BrokerObserver(broker.port) as observer:
            box.until(lambda: box.online(observer))
        box.until(lambda: box.get("words", BoxStatus).house)
        broker.stop()
        box.until(lambda: box.get("words", BoxStatus).house is False)
        box.owner_asks(5)  # the conversation continues meanwhile
        box.begin_answer(box.get("thinker", Think).turn)
        box.say("room", SetVolume(0.1))
        box.wait(0.3)
        broker.start()
        with BrokerObserver(broker.port) as observer:
            box.until(lambda: box.online(observer) and box.shows(observer, "settings", volume=10))
            box.until(lambda: box.shows(observer, "state", state="speaking"))
            assert observer.last(CONFIG)
            box.wait(0.3)
            assert box.events(observer) == []  # none for what happened during the outage


def test_a_restarted_conductor_knows_that_the_broker_is_connected(
    broker: Mosquitto, tmp_path: Path
) -> None:
    with running_box(broker, tmp_path) as box:
        box.until(lambda: box.get("words", BoxStatus).house)
        kill_and_wait(box.pid("conductor"))
        box.drop_mail()
        box.until(lambda: box.get("words", BoxStatus).house)


def test_a_broker_that_comes_up_after_the_box_is_found(broker: Mosquitto, tmp_path: Path) -> None:
    broker.stop()
    with running_box(broker, tmp_path) as box:
        box.wait(0.3)
        broker.start()
        with BrokerObserver(broker.port) as observer:
            box.until(lambda: box.online(observer))


def test_the_link_speaks_mqtt_3_1_1_to_a_broker_without_mqtt_5(
    broker: Mosquitto, tmp_path: Path
) -> None:
    with (
        without_mqtt_5(broker) as old,
        BrokerObserver(broker.port) as observer,
        running_box(old, tmp_path) as box,
    ):
        box.until(lambda: box.online(observer))
        observer.publish("interlude/x/set/volume", b"35")
        box.until(lambda: box.shows(observer, "settings", volume=35))


def test_a_language_chosen_over_mqtt_is_saved_and_published(
    broker: Mosquitto, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    file = tmp_path / "interlude/settings.yaml"
    file.parent.mkdir()
    file.write_text("# mine\nlink: {id: x}\n")
    with running_box(broker, tmp_path) as box, BrokerObserver(broker.port) as observer:
        box.until(lambda: box.shows(observer, "settings", language="auto"))
        observer.publish("interlude/x/set/language", b"klingon")
        observer.publish("interlude/x/set/language", b"de")
        box.until(lambda: box.shows(observer, "settings", language="de"))
    assert file.read_text() == "# mine\nlink: {id: x}\nlanguage: de\n"


def test_a_password_file_that_others_may_read_is_not_used_until_it_is_corrected(
    broker: Mosquitto, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    password = tmp_path / "password"
    password.write_text("right")
    password.chmod(0o644)
    with running_box(broker, tmp_path, user="box", password_file=str(password)) as box:
        log: list[str] = []

        def refused() -> bool:
            log.append(capfd.readouterr().err)
            return f"Others may read the password in {password} (mode 0644)." in "".join(log)

        box.until(refused)
        assert "connected" not in "".join(log)
        password.chmod(0o600)
        with BrokerObserver(broker.port) as observer:
            box.until(lambda: box.online(observer))
        log.append(capfd.readouterr().err)
        assert "".join(log).count("Others may read") == 1


def test_a_frozen_broker_gets_the_newest_state_and_no_late_event_when_it_thaws(
    broker: Mosquitto, tmp_path: Path
) -> None:
    with running_box(broker, tmp_path) as box, BrokerObserver(broker.port) as observer:
        box.until(lambda: box.online(observer))
        box.until(lambda: box.shows(observer, "state", state="idle"))
        broker.freeze()
        # Later states wait for receipts; the first events may already be in flight.
        box.owner_asks(5)
        turn = box.get("thinker", Think).turn
        box.wait(1.3)
        box.begin_answer(turn)
        for number in range(30):
            box.say("room", SetVolume(number / 100))
            box.wait(0.01)
        box.finish_answer(turn)
        box.wait(0.3)
        broker.thaw()
        box.until(lambda: box.shows(observer, "settings", volume=29))
        box.until(lambda: box.shows(observer, "state", state="idle"))
        box.wait(0.3)
        assert "agent_said" not in box.events(observer)
        assert len(observer.messages_of("interlude/x/settings")) < 5


def test_two_boxes_on_one_broker_do_not_hear_each_others_commands(
    broker: Mosquitto, tmp_path: Path
) -> None:
    with (
        running_box(broker, tmp_path, "x") as box,
        running_box(broker, tmp_path, "y") as other_box,
        BrokerObserver(broker.port) as observer,
    ):
        box.until(lambda: box.online(observer))
        other_box.until(lambda: other_box.online(observer))
        observer.publish("interlude/y/set/volume", b"10")
        other_box.until(lambda: other_box.shows(observer, "settings", volume=10))
        box.wait(0.2)
        assert box.newest(observer, "settings")["volume"] == 80
        ids = {
            json.loads(message.payload)["dev"]["ids"][0]
            for message in observer.heard
            if "config" in message.topic
        }
        assert ids == {"interlude_x", "interlude_y"}


def test_two_boxes_with_one_id_report_the_conflict(
    broker: Mosquitto, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with (
        running_box(broker, tmp_path / "a", "x") as box,
        running_box(broker, tmp_path / "b", "x") as other_box,
    ):
        log: list[str] = []

        def explained() -> bool:
            other_box.supervisor.run_once(0.002)
            log.append(capfd.readouterr().err)
            return "same `link.id`" in "".join(log)

        box.until(explained)


def test_button_presses_and_the_mute_switch_are_published(
    broker: Mosquitto, tmp_path: Path
) -> None:
    with BrokerObserver(broker.port) as observer, running_box(broker, tmp_path, panel=True) as box:
        box.until(lambda: box.online(observer))
        box.panel_input("on")
        box.until(lambda: box.shows(observer, "telemetry", hw_mute=False))
        box.panel_input("press")
        box.until(
            lambda: observer.messages_of("interlude/x/event/button")
        )  # the press has lasted long enough
        box.panel_input("release")
        box.until(lambda: len(observer.messages_of("interlude/x/event/button")) == 2)
        pressed = observer.messages_of("interlude/x/event/button")
        kinds = [json.loads(message.payload)["event_type"] for message in pressed]
        assert kinds == ["long_press", "release"]
        assert not any(message.retained for message in pressed)
        box.panel_input("off")
        box.until(lambda: box.shows(observer, "telemetry", hw_mute=True))
        observer.publish(
            "interlude/x/set/mute", b"OFF"
        )  # a remote command does not override the switch
        box.wait(0.3)
        box.until(lambda: box.shows(observer, "settings", mute="ON"))
        box.until(lambda: box.shows(observer, "state", state="muted"))

"""What the link forwards and what it does not: commands, events, floods, spoken words."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from appliance.messages.commands import Ask, Mute, Say, SetVoice, SetVolume, StopSpeaking
from appliance.messages.speech import Speak
from appliance.messages.thinking import Think
from appliance.messages.tools import ToolCalled
from lab.bench.mosquitto import BrokerObserver, Mosquitto, resident_mib
from tests.mqtt.house import Box, running_box

pytestmark = pytest.mark.process

CONVERSATION = "interlude/x/event/conversation"


@dataclass
class RunningHouse:
    """A running box, the port of its broker, and an observer of the broker."""

    box: Box
    observer: BrokerObserver
    port: int


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningHouse]:
    """One running box for all tests of this file."""
    folder = tmp_path_factory.mktemp("house")
    folder.chmod(0o777)
    with Mosquitto(folder) as broker, BrokerObserver(broker.port) as observer:
        observer.publish("interlude/x/set/volume", b"1", retain=True)
        with running_box(broker, folder) as box:
            box.until(lambda: box.online(observer))
            yield RunningHouse(box, observer, broker.port)


@pytest.fixture
def house(running: RunningHouse) -> RunningHouse:
    """The running box, idle, with default settings and an observer without old events."""
    box, observer = running.box, running.observer
    box.say("room", Mute(on=False), StopSpeaking(), SetVolume(0.8))
    box.until(lambda: box.shows(observer, "state", state="idle"))
    box.until(lambda: box.shows(observer, "settings", volume=80, mute="OFF"))
    box.wait(0.1)
    box.drop_mail()
    newest = {message.topic: message for message in observer.heard}
    observer.heard[:] = [message for topic, message in newest.items() if topic != CONVERSATION]
    return running


def test_a_box_publishes_its_discovery_settings_and_state(house: RunningHouse) -> None:
    box, observer = house.box, house.observer
    config = json.loads(observer.last("homeassistant/device/interlude_x/config") or b"")
    assert config["dev"]["name"] == "Interlude"
    assert box.newest(observer, "settings") == {
        "mute": "OFF", "volume": 80, "voice": "espeak", "mode": "open", "language": "auto",
    }  # fmt: skip
    assert box.newest(observer, "state") == {"state": "idle"}


def test_states_and_events_follow_the_conversation(house: RunningHouse) -> None:
    box, observer = house.box, house.observer
    box.owner_asks(5)
    turn = box.get("thinker", Think).turn
    box.until(lambda: box.shows(observer, "state", state="thinking"))
    box.begin_answer(turn)
    box.until(lambda: box.shows(observer, "state", state="speaking"))
    box.finish_answer(turn)
    box.until(lambda: box.events(observer) == ["user_said", "agent_said"])
    event = json.loads(observer.messages_of(CONVERSATION)[-1].payload)
    assert (event["duration_ms"], event["latency_ms"]) == (2000, 750)
    assert not any(message.retained for message in observer.messages_of(CONVERSATION))


def test_settings_from_mqtt_are_applied_and_published(house: RunningHouse) -> None:
    box, observer = house.box, house.observer
    observer.publish("interlude/x/set/volume", b"35")
    box.until(lambda: box.shows(observer, "settings", volume=35))
    assert box.get("playback", SetVolume) == SetVolume(0.35)
    observer.publish("interlude/x/set/mode", b"wake_word")
    box.until(lambda: box.shows(observer, "settings", mode="wake_word"))
    observer.publish("interlude/x/set/mode", b"open")
    box.until(lambda: box.shows(observer, "settings", mode="open"))
    observer.publish("interlude/x/set/voice", b"espeak")
    assert box.get("speaker", SetVoice) == SetVoice("espeak")
    observer.publish("interlude/x/set/mute", b"ON")
    box.until(lambda: box.shows(observer, "settings", mute="ON"))
    box.until(lambda: box.shows(observer, "state", state="muted"))


def test_ask_stop_and_say_commands_reach_the_conversation(house: RunningHouse) -> None:
    box, observer = house.box, house.observer
    observer.publish("interlude/x/cmd/ask", b"what is the moon")
    assert box.get("thinker", Think).text == "what is the moon"
    observer.publish("interlude/x/cmd/stop", b"PRESS")
    box.until(lambda: box.shows(observer, "state", state="idle"))
    observer.publish("interlude/x/cmd/say", b"Dinner is ready.")
    spoken = box.get("speaker", Speak)
    assert (spoken.text, spoken.chime) == ("Dinner is ready.", True)


def test_settings_changed_elsewhere_are_published(house: RunningHouse) -> None:
    box, observer = house.box, house.observer
    box.say("room", SetVolume(0.1), Mute(on=True))
    box.until(lambda: box.shows(observer, "settings", mute="ON", volume=10))


def test_a_retained_command_is_not_obeyed(house: RunningHouse) -> None:
    assert house.box.newest(house.observer, "settings")["volume"] == 80


def test_home_assistants_birth_is_answered_with_everything(house: RunningHouse) -> None:
    box, observer = house.box, house.observer
    observer.heard.clear()
    observer.publish("homeassistant/status", b"online")
    box.until(lambda: box.online(observer))
    for name in ("state", "settings", "telemetry", "update"):
        assert box.newest(observer, name)
    assert observer.last("homeassistant/device/interlude_x/config")


def test_at_most_five_announcements_and_questions_wait(house: RunningHouse) -> None:
    box, observer = house.box, house.observer
    box.say("room", Say("first"), Ask("x"), Ask("x"), Ask("x"), Ask("x"))
    for word in (b"a", b"b", b"c"):
        observer.publish("interlude/x/cmd/say", word)
    box.wait(0.3)
    observer.publish("interlude/x/cmd/stop", b"PRESS")
    box.until(lambda: box.shows(observer, "state", state="idle"))
    box.wait(0.2)
    assert box.shows(observer, "state", state="idle")  # the queue is empty


def test_a_flood_changes_nothing_and_a_later_command_still_works(
    house: RunningHouse,
) -> None:
    box, observer = house.box, house.observer
    before = resident_mib(box.pid("link"))
    with BrokerObserver(house.port, topic="nothing") as flooder:
        for number in range(800):
            topic = ("set/volume", "cmd/say", "cmd/x", "set/mute")[number % 4]
            flooder.publish(f"interlude/x/{topic}", b"\xff" * (number % 300), qos=0)
    box.until(lambda: obeys(box, observer), 30.0)
    assert box.newest(observer, "settings")["mute"] == "OFF"
    assert resident_mib(box.pid("link")) - before < 5.0


def obeys(box: Box, observer: BrokerObserver) -> bool:
    observer.publish("interlude/x/set/volume", b"42")
    box.wait(0.3)
    return box.shows(observer, "settings", volume=42)


# ── privacy ──────────────────────────────────────────────────────────────────────────────────
def talk(box: Box, observer: BrokerObserver) -> None:
    """Ask by text, answer with recognisable words, and set a named timer."""
    observer.publish(f"{box.root}/cmd/ask", b"where is the zanzibar key")
    turn = box.get("thinker", Think).turn
    box.begin_answer(turn)  # "Under the xylophone."
    box.until(lambda: box.shows(observer, "state", state="speaking"))
    box.finish_answer(turn)
    box.until(lambda: "agent_said" in box.events(observer))
    observer.publish(f"{box.root}/cmd/ask", b"time the zanzibar")
    turn = box.get("thinker", Think).turn
    box.say("thinker", ToolCalled(turn, 0, "timer", {"minutes": 60, "name": "zanzibar"}))
    box.until(lambda: observer.messages_of(f"{box.root}/event/timer"))
    observer.publish(f"{box.root}/cmd/stop", b"PRESS")
    box.until(lambda: box.shows(observer, "state", state="idle"))


def test_no_topic_contains_spoken_words_by_default(house: RunningHouse) -> None:
    box, observer = house.box, house.observer
    talk(box, observer)
    ours = [
        message for message in observer.heard if not message.topic.startswith("interlude/x/cmd/")
    ]
    assert not any(
        word in message.payload for message in ours for word in (b"xylophone", b"zanzibar")
    )


def test_enabled_words_are_in_events_only_and_neither_retained_nor_logged(
    running: RunningHouse, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    at = Mosquitto(tmp_path, running.port)  # the broker that already runs
    with (
        running_box(at, tmp_path, "w", words=True) as box,
        BrokerObserver(running.port) as observer,
    ):
        box.until(lambda: box.online(observer))
        talk(box, observer)
        for number in range(5):
            observer.publish("interlude/w/set/volume", f"zanzibar{number}")
        observer.publish("interlude/w/cmd/listen", b"\x00")
        box.wait(0.3)
        with_words = [message for message in observer.heard if b"xylophone" in message.payload]
    assert {message.topic for message in with_words} == {"interlude/w/event/conversation"}
    log = capfd.readouterr().err
    assert log.count("refused a command: set/volume: not a number") == 1
    assert log.count("refused a command: cmd/listen") == 1
    assert "zanzibar" not in log
    assert "xylophone" not in log
    with BrokerObserver(running.port) as later:
        assert not later.wait_until(
            lambda: any(b"xylophone" in message.payload for message in later.heard), 0.3
        )

"""What goes through the link, and what does not: commands, events, floods, words."""

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
from tests.mqtt.house import Box, box

pytestmark = pytest.mark.process

CONVERSATION = "interlude/x/event/conversation"


@dataclass
class House:
    """A box that runs, the broker, and who listens there."""

    box: Box
    ear: BrokerObserver
    port: int


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """One for all tests here."""
    folder = tmp_path_factory.mktemp("house")
    folder.chmod(0o777)
    with Mosquitto(folder) as broker, BrokerObserver(broker.port) as ear:
        ear.publish("interlude/x/set/volume", b"1", retain=True)
        with box(broker, folder) as one:
            one.until(lambda: one.online(ear))
            yield House(one, ear, broker.port)


@pytest.fixture
def house(running: House) -> House:
    """At rest, and nothing heard yet of this test."""
    one, ear = running.box, running.ear
    one.say("room", Mute(on=False), StopSpeaking(), SetVolume(0.8))
    one.until(lambda: one.is_told(ear, "state", state="idle"))
    one.until(lambda: one.is_told(ear, "settings", volume=80, mute="OFF"))
    one.wait(0.1)
    one.drop_mail()
    now = {heard.topic: heard for heard in ear.heard}
    ear.heard[:] = [heard for topic, heard in now.items() if topic != CONVERSATION]
    return running


def test_a_box_appears_by_itself_and_says_what_is_so(house: House) -> None:
    one, ear = house.box, house.ear
    config = json.loads(ear.last("homeassistant/device/interlude_x/config") or b"")
    assert config["dev"]["name"] == "Interlude"
    assert one.told(ear, "settings") == {
        "mute": "OFF", "volume": 80, "voice": "espeak", "mode": "open", "language": "auto",
    }  # fmt: skip
    assert one.told(ear, "state") == {"state": "idle"}


def test_states_and_events_follow_the_conversation(house: House) -> None:
    one, ear = house.box, house.ear
    one.asks(5)
    turn = one.get("thinker", Think).turn
    one.until(lambda: one.is_told(ear, "state", state="thinking"))
    one.answers(turn)
    one.until(lambda: one.is_told(ear, "state", state="speaking"))
    one.has_answered(turn)
    one.until(lambda: one.events(ear) == ["user_said", "agent_said"])
    said = json.loads(ear.messages_of(CONVERSATION)[-1].payload)
    assert (said["duration_ms"], said["latency_ms"]) == (2000, 750)
    assert not any(heard.retained for heard in ear.messages_of(CONVERSATION))


def test_settings_from_the_house_are_set_and_told_back(house: House) -> None:
    one, ear = house.box, house.ear
    ear.publish("interlude/x/set/volume", b"35")
    one.until(lambda: one.is_told(ear, "settings", volume=35))
    assert one.get("playback", SetVolume) == SetVolume(0.35)
    ear.publish("interlude/x/set/mode", b"wake_word")
    one.until(lambda: one.is_told(ear, "settings", mode="wake_word"))
    ear.publish("interlude/x/set/mode", b"open")
    one.until(lambda: one.is_told(ear, "settings", mode="open"))
    ear.publish("interlude/x/set/voice", b"espeak")
    assert one.get("speaker", SetVoice) == SetVoice("espeak")
    ear.publish("interlude/x/set/mute", b"ON")
    one.until(lambda: one.is_told(ear, "settings", mute="ON"))
    one.until(lambda: one.is_told(ear, "state", state="muted"))


def test_the_house_asks_stops_and_announces(house: House) -> None:
    one, ear = house.box, house.ear
    ear.publish("interlude/x/cmd/ask", b"what is the moon")
    assert one.get("thinker", Think).text == "what is the moon"
    ear.publish("interlude/x/cmd/stop", b"PRESS")
    one.until(lambda: one.is_told(ear, "state", state="idle"))
    ear.publish("interlude/x/cmd/say", b"Dinner is ready.")
    spoken = one.get("speaker", Speak)
    assert (spoken.text, spoken.chime) == ("Dinner is ready.", True)


def test_what_is_set_elsewhere_is_told_to_the_house(house: House) -> None:
    one, ear = house.box, house.ear
    one.say("room", SetVolume(0.1), Mute(on=True))
    one.until(lambda: one.is_told(ear, "settings", mute="ON", volume=10))


def test_a_retained_command_was_not_obeyed(house: House) -> None:
    assert house.box.told(house.ear, "settings")["volume"] == 80


def test_home_assistants_birth_is_answered_with_everything(house: House) -> None:
    one, ear = house.box, house.ear
    ear.heard.clear()
    ear.publish("homeassistant/status", b"online")
    one.until(lambda: one.online(ear))
    for name in ("state", "settings", "telemetry", "update"):
        assert one.told(ear, name)
    assert ear.last("homeassistant/device/interlude_x/config")


def test_only_five_things_wait_to_be_said(house: House) -> None:
    one, ear = house.box, house.ear
    one.say("room", Say("first"), Ask("x"), Ask("x"), Ask("x"), Ask("x"))
    for word in (b"a", b"b", b"c"):
        ear.publish("interlude/x/cmd/say", word)
    one.wait(0.3)
    ear.publish("interlude/x/cmd/stop", b"PRESS")
    one.until(lambda: one.is_told(ear, "state", state="idle"))
    one.wait(0.2)
    assert one.is_told(ear, "state", state="idle")  # nothing waits any more


def test_a_flood_leaves_the_box_as_it_was_and_lets_the_next_command_through(
    house: House,
) -> None:
    one, ear = house.box, house.ear
    before = resident_mib(one.pid("link"))
    with BrokerObserver(house.port, topic="nothing") as flooder:
        for number in range(800):
            topic = ("set/volume", "cmd/say", "cmd/x", "set/mute")[number % 4]
            flooder.publish(f"interlude/x/{topic}", b"\xff" * (number % 300), qos=0)
    one.until(lambda: obeys(one, ear), 30.0)
    assert one.told(ear, "settings")["mute"] == "OFF"
    assert resident_mib(one.pid("link")) - before < 5.0


def obeys(one: Box, ear: BrokerObserver) -> bool:
    ear.publish("interlude/x/set/volume", b"42")
    one.wait(0.3)
    return one.is_told(ear, "settings", volume=42)


# ── privacy ──────────────────────────────────────────────────────────────────────────────────
def talk(one: Box, ear: BrokerObserver) -> None:
    """Somebody asks by text and is answered in words, and sets a timer with a name."""
    ear.publish(f"{one.root}/cmd/ask", b"where is the zanzibar key")
    turn = one.get("thinker", Think).turn
    one.answers(turn)  # "Under the xylophone."
    one.until(lambda: one.is_told(ear, "state", state="speaking"))
    one.has_answered(turn)
    one.until(lambda: "agent_said" in one.events(ear))
    ear.publish(f"{one.root}/cmd/ask", b"time the zanzibar")
    turn = one.get("thinker", Think).turn
    one.say("thinker", ToolCalled(turn, 0, "timer", {"minutes": 60, "name": "zanzibar"}))
    one.until(lambda: ear.messages_of(f"{one.root}/event/timer"))
    ear.publish(f"{one.root}/cmd/stop", b"PRESS")
    one.until(lambda: one.is_told(ear, "state", state="idle"))


def test_no_word_is_on_mqtt_in_any_topic_by_default(house: House) -> None:
    one, ear = house.box, house.ear
    talk(one, ear)
    ours = [heard for heard in ear.heard if not heard.topic.startswith("interlude/x/cmd/")]
    assert not any(word in heard.payload for heard in ours for word in (b"xylophone", b"zanzibar"))


def test_words_that_the_owner_lets_out_are_in_events_only_and_never_kept_nor_logged(
    running: House, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    at = Mosquitto(tmp_path, running.port)  # the one that runs already
    with box(at, tmp_path, "w", words=True) as one, BrokerObserver(running.port) as ear:
        one.until(lambda: one.online(ear))
        talk(one, ear)
        for number in range(5):
            ear.publish("interlude/w/set/volume", f"zanzibar{number}")
        ear.publish("interlude/w/cmd/listen", b"\x00")
        one.wait(0.3)
        told = [heard for heard in ear.heard if b"xylophone" in heard.payload]
    assert {heard.topic for heard in told} == {"interlude/w/event/conversation"}
    log = capfd.readouterr().err
    assert log.count("refused a command: set/volume: not a number") == 1
    assert log.count("refused a command: cmd/listen") == 1
    assert "zanzibar" not in log
    assert "xylophone" not in log
    with BrokerObserver(running.port) as later:
        assert not later.wait_until(
            lambda: any(b"xylophone" in h.payload for h in later.heard), 0.3
        )

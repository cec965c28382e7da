"""With `link.unmute: false` nothing that comes over MQTT makes a muted microphone hear."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from appliance import settings
from appliance.dialog.actions import SetMuted
from appliance.messages.commands import BoxStatus, ModeName, Mute, Restart, SetVolume
from appliance.messages.registry import Message
from appliance.mqtt.command_topics import COMMANDS, CommandRejected
from appliance.mqtt.discovery import DiscoveryFeatures
from appliance.mqtt.home_assistant import HomeAssistantState
from appliance.mqtt.identity import DeviceIdentity
from appliance.mqtt.update_entity import UpdateStatus
from appliance.update.request import UpdateOffer
from lab.bench.mosquitto import BrokerObserver, Mosquitto
from tests.dialog.life import Life
from tests.dialog.talk import talk_in
from tests.mqtt import house

pytestmark = pytest.mark.process

NAMES = [command.name for command in COMMANDS]
OTHERS = ["ha/response", "state", "settings", "availability", "set/unmute", "cmd/unmute", "set/"]
WORDS = [
    b"ON", b"OFF", b"off", b"OFF ", b"PRESS", b"", b"install", b"0", b"50", b"espeak", b"de",
    b"false", *(mode.encode() for mode in get_args(ModeName)), b"unmute",
    b'{"id":"1","type":"action_done"}',
]  # fmt: skip
MORE_S = 100.0  # between two commands, so that none is refused for its rate


def shut() -> HomeAssistantState:
    given_settings = settings.load(None, {"link": {"unmute": False, "broker": "x"}})
    made = HomeAssistantState(
        given_settings,
        DeviceIdentity("x", "Interlude"),
        DiscoveryFeatures(("espeak",)),
        BoxStatus("open", True, 0.8, "espeak", "pocket"),
        started=datetime(2026, 11, 21, tzinfo=UTC),
        now_s=-1000.0,
        rng=lambda: 0.5,
    )
    made.releases(UpdateStatus(UpdateOffer("9.9.9", Path("x.release"))), 0.0)
    return made


Sent = tuple[str, bytes, bool]


@given(
    st.lists(
        st.tuples(
            st.sampled_from([*NAMES, *OTHERS]),
            st.one_of(st.sampled_from(WORDS), st.binary(max_size=40)),
            st.booleans(),
        ),
        max_size=12,
    ),
    st.sampled_from(("idle", "thinking", "speaking", "holding", "listening", "failed")),
)
def test_no_command_makes_a_muted_conversation_listen(sent: list[Sent], state: str) -> None:
    made, talk = shut(), talk_in(state)
    talk(Mute(on=True))
    for number, (name, payload, retained) in enumerate(sent):
        try:
            wish = made.on_message(
                f"interlude/x/{name}", payload, MORE_S * number, retained=retained
            )
        except CommandRejected:
            continue
        if not isinstance(wish, Message):
            continue
        talk(wish, after_s=1.0)
        assert SetMuted(on=False) not in talk.said
        assert talk.it.listening.muted
        assert talk.it.listening.sent is not None
        assert not talk.it.listening.sent.on
        assert talk.state not in ("listening", "holding")


def test_what_is_tried_above_is_obeyed_where_it_is_allowed() -> None:
    """Else a gate that lets nothing through at all would pass."""
    made = shut()
    obeyed: set[str] = set()
    now_s = 0.0
    for name in NAMES:
        for payload in WORDS:
            now_s += MORE_S
            try:
                made.on_message(f"interlude/x/{name}", payload, now_s, retained=False)
            except CommandRejected:
                continue
            obeyed.add(name)
    assert obeyed >= set(NAMES) - {"cmd/restart"}  # which waits while something is installed


@pytest.fixture
def box(broker: Mosquitto, tmp_path: Path) -> Iterator[house.Box]:
    with house.box(broker, tmp_path, unmute=False) as made:
        yield made


def test_a_link_that_asks_for_it_all_the_same_is_not_heard(box: house.Box) -> None:
    """It reads bytes of strangers, and so may be another program than it was."""
    box.say("room", Mute(on=True))
    box.until(lambda: box.supervisor.floor().muted)
    link = box.supervisor.channel("link")
    assert link.send(Mute(on=False))
    assert link.send(SetVolume(0.31))
    assert box.get("playback", SetVolume) == SetVolume(0.31)  # so that came before it
    assert box.supervisor.floor().muted
    box.say("room", Mute(on=False))  # its owner at the box may
    box.until(lambda: not box.supervisor.floor().microphone_off)


def test_a_box_that_was_muted_is_muted_after_every_restart_as_the_house_sees_it(
    broker: Mosquitto, tmp_path: Path
) -> None:
    link = {"broker": "127.0.0.1", "port": broker.port, "id": "x", "unmute": False}
    life = Life(tmp_path, "conductor", "link", link=link)

    def told(**values: object) -> bool:
        """Since this start."""
        said = ear.last("interlude/x/settings")
        now = {} if said is None else json.loads(said)
        return all(now.get(key) == value for key, value in values.items())

    try:
        with BrokerObserver(broker.port) as ear:
            assert ear.wait_until(lambda: told(mute="OFF"), 30.0)
            assert not life.microphone_off()
            ear.publish("interlude/x/set/mute", "ON")
            ear.publish("interlude/x/set/volume", "43")
            ear.publish("interlude/x/set/mode", "wake_word")
            assert ear.wait_until(lambda: told(mute="ON", volume=43, mode="wake_word"))
            for restart in ("asked for", "killed"):
                heard, before = len(ear.heard), len(ear.messages_of("interlude/x/settings"))
                if restart == "killed":
                    life.kill()
                    life.start()
                else:
                    life.tell(Restart())
                    life.child.wait(30.0)
                    life.start()
                topic = "interlude/x/settings"
                assert ear.wait_until(lambda: len(ear.messages_of(topic)) > before, 30.0)  # noqa: B023
                ear.publish("interlude/x/set/mute", "OFF")
                ear.publish("interlude/x/cmd/listen", "PRESS")
                ear.publish("interlude/x/set/volume", "43")  # answered after what was refused
                assert ear.wait_until(lambda: told(mute="ON", volume=43, mode="wake_word"))
                assert life.microphone_off()
                told_since = [
                    json.loads(later.payload)["mute"]
                    for later in ear.heard[heard:]
                    if later.topic == "interlude/x/settings" and later.payload
                ]
                assert set(told_since) == {"ON"}
    finally:
        life.kill()

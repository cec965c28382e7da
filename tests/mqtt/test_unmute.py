"""With `link.unmute: false`, no MQTT message unmutes the microphone."""

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


def state_without_unmute() -> HomeAssistantState:
    given_settings = settings.load(None, {"link": {"unmute": False, "broker": "x"}})
    home = HomeAssistantState(
        given_settings,
        DeviceIdentity("x", "Interlude"),
        DiscoveryFeatures(("espeak",)),
        BoxStatus("open", True, 0.8, "espeak", "pocket"),
        started=datetime(2026, 11, 21, tzinfo=UTC),
        now_s=-1000.0,
        rng=lambda: 0.5,
    )
    home.releases(UpdateStatus(UpdateOffer("9.9.9", Path("x.release"))), 0.0)
    return home


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
    home, talk = state_without_unmute(), talk_in(state)
    talk(Mute(on=True))
    for number, (name, payload, retained) in enumerate(sent):
        try:
            received = home.on_message(
                f"interlude/x/{name}", payload, MORE_S * number, retained=retained
            )
        except CommandRejected:
            continue
        if not isinstance(received, Message):
            continue
        talk(received, after_s=1.0)
        assert SetMuted(on=False) not in talk.said
        assert talk.it.listening.muted
        assert talk.it.listening.sent is not None
        assert not talk.it.listening.sent.on
        assert talk.state not in ("listening", "holding")


def test_without_a_mute_the_same_commands_are_obeyed() -> None:
    """Otherwise a filter that refuses every command would pass the test above."""
    home = state_without_unmute()
    obeyed: set[str] = set()
    now_s = 0.0
    for name in NAMES:
        for payload in WORDS:
            now_s += MORE_S
            try:
                home.on_message(f"interlude/x/{name}", payload, now_s, retained=False)
            except CommandRejected:
                continue
            obeyed.add(name)
    assert obeyed >= set(NAMES) - {"cmd/restart"}  # which waits while something is installed


@pytest.fixture
def box(broker: Mosquitto, tmp_path: Path) -> Iterator[house.Box]:
    with house.running_box(broker, tmp_path, unmute=False) as home:
        yield home


def test_the_conductor_ignores_an_unmute_from_the_link(box: house.Box) -> None:
    """The link parses bytes from outside, so an attacker may control it."""
    box.say("room", Mute(on=True))
    box.until(lambda: box.supervisor.floor().muted)
    link = box.supervisor.channel("link")
    assert link.send(Mute(on=False))
    assert link.send(SetVolume(0.31))
    assert box.get("playback", SetVolume) == SetVolume(
        0.31
    )  # the mute command, sent earlier, has been handled
    assert box.supervisor.floor().muted
    box.say("room", Mute(on=False))  # the owner at the box may unmute
    box.until(lambda: not box.supervisor.floor().microphone_off)


def test_a_muted_box_is_published_as_muted_after_every_restart(
    broker: Mosquitto, tmp_path: Path
) -> None:
    link = {"broker": "127.0.0.1", "port": broker.port, "id": "x", "unmute": False}
    life = Life(tmp_path, "conductor", "link", link=link)

    def shows(**values: object) -> bool:
        """Whether the newest settings payload has these values."""
        payload = observer.last("interlude/x/settings")
        newest = {} if payload is None else json.loads(payload)
        return all(newest.get(key) == value for key, value in values.items())

    try:
        with BrokerObserver(broker.port) as observer:
            assert observer.wait_until(lambda: shows(mute="OFF"), 30.0)
            assert not life.microphone_off()
            observer.publish("interlude/x/set/mute", "ON")
            observer.publish("interlude/x/set/volume", "43")
            observer.publish("interlude/x/set/mode", "wake_word")
            assert observer.wait_until(lambda: shows(mute="ON", volume=43, mode="wake_word"))
            for restart in ("asked for", "killed"):
                heard, before = (
                    len(observer.heard),
                    len(observer.messages_of("interlude/x/settings")),
                )
                if restart == "killed":
                    life.kill()
                    life.start()
                else:
                    life.tell(Restart())
                    life.child.wait(30.0)
                    life.start()
                topic = "interlude/x/settings"
                assert observer.wait_until(lambda: len(observer.messages_of(topic)) > before, 30.0)  # noqa: B023
                observer.publish("interlude/x/set/mute", "OFF")
                observer.publish("interlude/x/cmd/listen", "PRESS")
                observer.publish(
                    "interlude/x/set/volume", "43"
                )  # its answer comes after the refusals
                assert observer.wait_until(lambda: shows(mute="ON", volume=43, mode="wake_word"))
                assert life.microphone_off()
                mutes_since = [
                    json.loads(later.payload)["mute"]
                    for later in observer.heard[heard:]
                    if later.topic == "interlude/x/settings" and later.payload
                ]
                assert set(mutes_since) == {"ON"}
    finally:
        life.kill()

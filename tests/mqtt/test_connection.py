"""One connection to a real Mosquitto or a fake broker: logins, versions, floods, garbage."""

from __future__ import annotations

import os
import random
import socket
import struct
import subprocess
import time
from pathlib import Path

import pytest

from appliance.mqtt import connection as mqtt
from appliance.mqtt.connection import (
    BrokerConnected,
    BrokerDisconnected,
    MessageArrived,
    MqttEvent,
    ProtocolVersion,
    PublishReceipt,
    Subscribed,
)
from lab.bench.mosquitto import BrokerObserver, Mosquitto
from tests.mqtt.caller import CONNACK_5, WILL, Call, at, fake_broker
from tests.mqtt.conftest import Make

pytestmark = pytest.mark.process


# ── connected ────────────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize("version", [5, 4])
def test_a_broker_accepts_us_and_sends_a_receipt(
    broker: Mosquitto, call: Call, version: ProtocolVersion
) -> None:
    caller = call(at(broker), version)
    assert caller.get(BrokerConnected).version == version
    assert caller.get(Subscribed).denied == ()
    number = caller.session.publish("interlude/x/state", b"idle", qos=1, retain=True)
    assert caller.get(PublishReceipt) == PublishReceipt(number or 0)
    with BrokerObserver(broker.port) as observer:
        assert observer.wait_until(lambda: observer.last("interlude/x/state") == b"idle")
        assert observer.messages_of("interlude/x/state")[0].retained


@pytest.mark.parametrize("version", [5, 4])
def test_a_command_arrives_and_an_older_retained_one_is_marked_retained(
    broker: Mosquitto, call: Call, version: ProtocolVersion
) -> None:
    with BrokerObserver(broker.port) as observer:
        observer.publish("interlude/x/cmd/say", b"old", retain=True)
        caller = call(at(broker), version)
        caller.get(Subscribed)
        observer.publish("interlude/x/cmd/say", b"new")
        assert caller.until(lambda: any(a.payload == b"new" for a in caller.of(MessageArrived)))
    assert [a for a in caller.of(MessageArrived) if not a.retained] == [
        MessageArrived("interlude/x/cmd/say", b"new", retained=False)
    ]
    assert all(a.retained for a in caller.of(MessageArrived) if a.payload == b"old")


def test_a_command_published_with_retain_is_marked_retained(broker: Mosquitto, call: Call) -> None:
    caller = call(at(broker))
    caller.get(Subscribed)
    with BrokerObserver(broker.port) as observer:
        observer.publish("interlude/x/cmd/say", b"for ever", retain=True)
        assert caller.get(MessageArrived) == MessageArrived(
            "interlude/x/cmd/say", b"for ever", retained=True
        )


def test_a_clean_disconnect_sends_no_will_and_a_broken_connection_does(
    broker: Mosquitto, call: Call
) -> None:
    with BrokerObserver(broker.port) as observer:
        first = call(at(broker))
        first.get(BrokerConnected)
        first.session.close()
        second = call(at(broker))
        second.get(BrokerConnected)
        assert observer.last(WILL.topic) is None
        wire = socket.socket(fileno=os.dup(second.session.interests(0.0)[0][0]))
        wire.shutdown(socket.SHUT_RDWR)
        assert observer.wait_until(lambda: observer.last(WILL.topic) == b"offline")


def test_a_killed_broker_is_noticed_at_once(broker: Mosquitto, call: Call) -> None:
    caller = call(at(broker))
    caller.get(BrokerConnected)
    broker.kill()
    began_s = time.monotonic()
    assert caller.get(BrokerDisconnected).failure.cause == "away"
    assert time.monotonic() - began_s < mqtt.KEEPALIVE_S  # noticed before the keep-alive expires
    assert caller.session.publish("a", b"", qos=1, retain=True) is None
    assert caller.session.poll(time.monotonic()) == []


def test_a_missing_broker_is_an_ordinary_failure(call: Call, broker: Mosquitto) -> None:
    broker.stop()
    assert "No broker listens" in call(at(broker)).get(BrokerDisconnected).failure.problem


def test_a_session_taken_over_by_another_client_is_not_a_missing_broker(call: Call) -> None:
    def take_over(connection: socket.socket) -> None:
        connection.recv(1000)
        connection.sendall(CONNACK_5 + b"\xe0\x02\x8e\x00")  # DISCONNECT, session taken over
        connection.recv(1000)

    with fake_broker(take_over) as fake:
        assert call(fake).get(BrokerDisconnected).failure.cause == "taken"


# ── refused ──────────────────────────────────────────────────────────────────────────────────
@pytest.fixture
def guarded(mosquitto_with: Make, tmp_path: Path) -> Mosquitto:
    """A broker that requires a login, with the access list of the owners' page for `box`."""
    passwords, rules = tmp_path / "passwords", tmp_path / "rules"
    for user in ("box", "other"):
        create = () if passwords.exists() else ("-c",)
        subprocess.run(
            ["mosquitto_passwd", "-b", *create, passwords, user, "right"],
            check=True, capture_output=True,
        )  # fmt: skip
    rules.write_text(
        "user box\ntopic readwrite interlude/x/#\ntopic read homeassistant/status\nuser other\n"
    )
    return mosquitto_with(
        "allow_anonymous false", f"password_file {passwords}", f"acl_file {rules}"
    )


@pytest.mark.parametrize("version", [5, 4])
@pytest.mark.parametrize(
    ("user", "password", "problem"),
    [("box", "wrong", "refuses the login of box"), ("", "", "requires a login")],
)
def test_a_wrong_password_is_reported_as_a_refused_login(
    guarded: Mosquitto, call: Call, version: ProtocolVersion, user: str, password: str, problem: str
) -> None:
    failure = (
        call(at(guarded, user=user, password=password), version).get(BrokerDisconnected).failure
    )
    assert failure.cause == "refused"
    assert problem in failure.problem
    assert not failure.other_protocol


def test_the_right_password_is_accepted(guarded: Mosquitto, call: Call) -> None:
    caller = call(at(guarded, user="box", password="right"))
    assert caller.get(Subscribed).denied == ()


def test_the_receipt_reports_a_topic_that_we_may_not_write(guarded: Mosquitto, call: Call) -> None:
    caller = call(at(guarded, user="box", password="right"))
    caller.get(BrokerConnected)
    caller.session.publish("interlude/y/state", b"idle", qos=1, retain=True)
    assert caller.get(PublishReceipt).denied == "Not authorized"


def test_a_broker_without_mqtt_5_is_recognised_by_its_answer(call: Call) -> None:
    def refuse(connection: socket.socket) -> None:
        connection.recv(1000)
        connection.sendall(b"\x20\x02\x00\x01")  # CONNACK, unacceptable protocol version
        connection.recv(1000)

    with fake_broker(refuse) as old:
        assert call(old).get(BrokerDisconnected).failure.other_protocol


def test_a_broker_that_hangs_up_on_mqtt_5_may_accept_an_older_version(call: Call) -> None:
    with fake_broker(lambda connection: connection.recv(1000)) as old:
        assert call(old).get(BrokerDisconnected).failure.other_protocol


def test_a_connection_without_an_answer_times_out(call: Call) -> None:
    with fake_broker(lambda connection: time.sleep(1.0)) as silent:
        failure = call(silent, answer_s=0.3).get(BrokerDisconnected).failure
    assert "does not answer" in failure.problem
    assert not failure.other_protocol


def garbage(dice: random.Random) -> bytes:
    """Random bytes that resemble MQTT packets."""
    kind = dice.choice([0x20, 0x30, 0x32, 0x40, 0x90, 0xB0, 0xD0, 0xE0, 0xF0, 0x00])
    body = dice.randbytes(dice.randrange(40))
    length = dice.choice([bytes([len(body)]), b"\xff\xff\xff\xff", b"\xff\x7f", b"\x00"])
    topic = b"interlude/x/cmd/say"
    return dice.choice([
        bytes([kind]) + length + body,
        b"\x30" + bytes([2 + len(topic) + 1]) + struct.pack(">H", len(topic)) + topic + b"\x00",
        b"\x30\x05" + struct.pack(">H", 500) + b"abc",
        dice.randbytes(dice.randrange(1, 60)),
    ])  # fmt: skip


@pytest.mark.parametrize("seed", range(40))
def test_garbage_from_a_broker_ends_the_connection_at_worst(call: Call, seed: int) -> None:
    dice = random.Random(seed)

    def storm(connection: socket.socket) -> None:
        connection.recv(1000)
        if dice.random() < 0.8:
            connection.sendall(CONNACK_5)
        try:
            for _ in range(20):
                connection.sendall(garbage(dice))
        except OSError:
            return  # the client closed the connection, as expected

    with fake_broker(storm) as faulty:
        caller = call(faulty)
        caller.get(BrokerDisconnected)
    assert all(isinstance(event, MqttEvent) for event in caller.events)


# ── floods and stalls ────────────────────────────────────────────────────────────────────────
def test_a_flood_is_read_at_a_limited_rate(broker: Mosquitto, call: Call) -> None:
    caller = call(at(broker))
    caller.get(Subscribed)
    with BrokerObserver(broker.port, topic="nothing") as flooder:
        for _ in range(5000):
            flooder.publish("interlude/x/cmd/say", b"a" * 50, qos=0)
        began_s = time.monotonic()
        assert caller.until(lambda: len(caller.of(MessageArrived)) > 100)
        caller.until(lambda: False, 1.0)
        seconds = time.monotonic() - began_s
    most = mqtt.BURST + mqtt.MESSAGES_A_SECOND * (seconds + 1.0)
    assert len(caller.of(MessageArrived)) <= most


def test_publishing_to_a_frozen_broker_does_not_block(broker: Mosquitto, call: Call) -> None:
    caller = call(at(broker))
    caller.get(BrokerConnected)
    broker.freeze()
    try:
        slowest_s = 0.0
        for number in range(200):
            began_s = time.monotonic()
            caller.session.publish("interlude/x/state", b"%d" % number, qos=1, retain=True)
            slowest_s = max(slowest_s, time.monotonic() - began_s)
    finally:
        broker.thaw()
    assert slowest_s < 2  # margin for a busy machine; the frozen broker never answered
    assert caller.until(lambda: caller.of(PublishReceipt))

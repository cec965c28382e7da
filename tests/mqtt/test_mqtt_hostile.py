"""A hostile broker or publisher: large packets, QoS 2 without release, receipts left unread."""

from __future__ import annotations

import contextlib
import os
import socket
import struct
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from appliance.mqtt import connection as mqtt
from appliance.mqtt.broker import Broker
from appliance.mqtt.connection import (
    BrokerConnected,
    BrokerDisconnected,
    MessageArrived,
    ProtocolVersion,
    Subscribed,
)
from lab.bench.mosquitto import BrokerObserver, Mosquitto
from tests.certificates import Authority
from tests.memory_peak import Peak
from tests.mqtt.caller import CONNACK_5, PATIENCE_S, Call, Caller, at, fake_broker, with_tls
from tests.mqtt.conftest import Make

LARGE = 64 * 2**20
TOPIC = "interlude/x/cmd/say"
CONNACK_3 = b"\x20\x02\x00\x00"


def publish(payload: int, qos: int = 0, number: int = 1) -> bytes:
    """The first bytes of a PUBLISH that announces `payload` bytes of payload (MQTT 3.1.1)."""
    head = struct.pack(">H", len(TOPIC)) + TOPIC.encode()
    head += struct.pack(">H", number) if qos else b""
    return bytes([0x30 | qos << 1]) + remaining(len(head) + payload) + head


def remaining(length: int) -> bytes:
    """The remaining length in MQTT's encoding: seven bits a byte."""
    encoded = bytearray()
    while True:
        length, seven = divmod(length, 128)
        encoded.append(seven | (0x80 if length else 0))
        if not length:
            return bytes(encoded)


def after_connack(storm: Callable[[socket.socket], object]) -> Callable[[socket.socket], None]:
    def answer(connection: socket.socket) -> None:
        connection.recv(1000)
        connection.sendall(CONNACK_3)
        connection.recv(1000)  # SUBSCRIBE
        connection.sendall(b"\x90\x03\x00\x01\x01")
        try:
            storm(connection)
        except OSError:
            return  # the client closed the connection, as it should

    return answer


def publish_large(broker: Broker, megabytes: int) -> None:
    """Publish so many MiB over MQTT 3.1.1, in pieces, so that the peak memory stays low."""
    with socket.create_connection((broker.host, broker.port), PATIENCE_S) as plain:
        wire = broker.tls.wrap_socket(plain, server_hostname=broker.host) if broker.tls else plain
        wire.sendall(b"\x10\x0d\x00\x04MQTT\x04\x02\x00\x3c\x00\x01w")
        assert wire.recv(4) == CONNACK_3
        wire.sendall(publish(megabytes * 2**20))
        for _ in range(megabytes):
            wire.sendall(b"x" * 2**20)
        wire.sendall(b"\xe0\x00")


# ── 64 MB through a real broker ──────────────────────────────────────────────────────────────
@pytest.mark.process
@pytest.mark.parametrize("sealed", [False, True], ids=["plain", "TLS"])
def test_a_64_megabyte_packet_is_refused_unread_and_reported(
    mosquitto_with: Make, tmp_path: Path, call: Call, sealed: bool
) -> None:
    authority = Authority(tmp_path)
    options = ["allow_anonymous true"]
    if sealed:
        certificate, key = authority.issue("localhost")
        key.chmod(0o644)
        options += [f"certfile {certificate}", f"keyfile {key}"]
    broker = mosquitto_with(*options)
    where = with_tls(broker, ca_file=authority.certificate) if sealed else at(broker)
    caller = call(where, 4)
    caller.get(Subscribed)
    peak = Peak()
    publish_large(where, 64)
    failure = caller.get(BrokerDisconnected).failure
    assert peak.mib < 16
    assert f"a packet of {LARGE + len(TOPIC) + 2} bytes" in failure.problem
    assert failure.cause == "refused"  # a long back-off: the message may be retained
    assert "retained" in failure.remedy
    assert not caller.of(MessageArrived)


@pytest.mark.parametrize("version", [4, 5])
def test_an_announced_length_reserves_no_memory(call: Call, version: ProtocolVersion) -> None:
    """The announced length is the largest that MQTT can encode, 256 MB."""
    peak = Peak()

    def announce_large_packet(connection: socket.socket) -> None:
        connection.recv(1000)
        connection.sendall(CONNACK_3 if version == 4 else CONNACK_5)
        connection.sendall(b"\x30\xff\xff\xff\x7f" + b"x" * 1000)
        with contextlib.suppress(ConnectionResetError):
            while connection.recv(1000):
                pass

    with fake_broker(announce_large_packet) as faulty:
        assert "268435455" in call(faulty, version).get(BrokerDisconnected).failure.problem
    assert peak.mib < 16


@pytest.mark.process
@pytest.mark.parametrize("version", [4, 5])
def test_the_largest_accepted_packet_arrives(
    broker: Mosquitto, call: Call, version: ProtocolVersion
) -> None:
    caller = call(at(broker), version)
    caller.get(Subscribed)
    payload = b"y" * (mqtt.MOST_BYTES - 100)
    with BrokerObserver(broker.port, topic="nothing") as observer:
        observer.publish(TOPIC, payload)
        assert caller.get(MessageArrived).payload == payload


# ── what a well-behaved broker never does ────────────────────────────────────────────────────
def test_unreleased_qos_2_messages_are_not_buffered(call: Call) -> None:
    def storm(connection: socket.socket) -> None:
        for number in range(1, 60_000):
            connection.sendall(publish(10_000, qos=2, number=number) + b"z" * 10_000)

    peak = Peak()
    with fake_broker(after_connack(storm)) as faulty:
        caller = call(faulty, 4)
        assert "does not speak MQTT" in caller.get(BrokerDisconnected).failure.problem
    assert not caller.of(MessageArrived)
    assert peak.mib < 16


@pytest.mark.long
def test_a_broker_that_does_not_read_our_receipts_is_disconnected(call: Call) -> None:
    def storm(connection: socket.socket) -> None:
        # With 2,048 the full buffer also dropped what acknowledged the storm, and TCP stood still;
        # with 65,536 a busy machine needs longer to fill it than the keepalive allows.
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 16_384)
        connection.settimeout(60.0)  # the caller ends it; on a busy machine that takes a while
        message = publish(1, qos=1) + b"q"
        while True:
            connection.sendall(message * 1000)

    with fake_broker(after_connack(storm)) as faulty:
        caller: Caller = call(faulty, 4, messages_a_second=1e6)
        caller.get(BrokerConnected)
        wire = socket.socket(fileno=os.dup(caller.session.interests(0.0)[0][0]))
        wire.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
        broken = caller.get(BrokerDisconnected, 60.0)  # the storm's length depends on the machine
        assert "does not speak MQTT" in broken.failure.problem
        wire.close()


def test_a_packet_that_arrives_byte_by_byte_is_read(call: Call) -> None:
    def send_slowly(connection: socket.socket) -> None:
        for byte in publish(3) + b"abc":
            connection.sendall(bytes([byte]))
            time.sleep(0.01)
        connection.recv(1000)

    with fake_broker(after_connack(send_slowly)) as slow:
        caller = call(slow, 4)
        assert caller.get(MessageArrived).payload == b"abc"
        assert not caller.session.is_closed
        caller.session.close()

"""One connection to a broker, from the attempt to the disconnect. The only user of paho-mqtt.

Only the connect thread blocks: it resolves the name, connects TCP and does the TLS handshake. After
that all work happens in `poll`, in the caller's thread. A lost connection is not re-established;
the caller makes a new object, so that no old message is sent late.
"""

from __future__ import annotations

import os
import select
import threading
import time
from collections import deque
from dataclasses import dataclass
from typing import Any, Literal

import paho.mqtt.client as paho
from paho.mqtt.enums import CallbackAPIVersion, MQTTErrorCode, MQTTProtocolVersion
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties
from paho.mqtt.subscribeoptions import SubscribeOptions

from appliance.mqtt import failures
from appliance.mqtt.broker import Broker
from appliance.mqtt.failures import BrokerFailure
from appliance.token_bucket import TokenBucket

KEEPALIVE_S = 15  # the broker publishes the last will after 1.5 times this; paho's 60 s give 90 s
CONNECT_S = 3.0  # for TCP and for TLS, each; the broker's CONNACK may take ANSWER_S
ANSWER_S = 5.0
# Largest accepted packet; the longest command is 4 kB. MQTT 5 can announce it, 3.1.1 cannot.
MOST_BYTES = 16_384
MOST_OWED = 1000  # packets queued for a broker that reads none of them
# Rate limit of reading, so that a flood does not keep the link busy. Messages above it wait in the
# broker's queue, or the broker drops them.
MESSAGES_A_SECOND, BURST = 200.0, 200

ProtocolVersion = Literal[4, 5]  # protocol level: 4 is MQTT 3.1.1


@dataclass(frozen=True)
class BrokerConnected:
    """The broker accepted the connection."""

    version: ProtocolVersion


@dataclass(frozen=True)
class BrokerDisconnected:
    """The connection ended, or could not be established."""

    failure: BrokerFailure


@dataclass(frozen=True)
class MessageArrived:
    topic: str
    payload: bytes
    retained: bool


@dataclass(frozen=True)
class PublishReceipt:
    """The broker acknowledged message `number`; `denied`: its reason when it rejected it."""

    number: int
    denied: str = ""


@dataclass(frozen=True)
class Subscribed:
    """Result of the subscription. `denied`: the topics that the broker does not let us read."""

    denied: tuple[str, ...] = ()


MqttEvent = BrokerConnected | BrokerDisconnected | MessageArrived | PublishReceipt | Subscribed


@dataclass(frozen=True)
class LastWill:
    """Message that the broker publishes when the connection ends without a DISCONNECT."""

    topic: str
    payload: bytes


class _Client(paho.Client):
    """paho's client with a limit on the packet size.

    paho trusts the length in a packet's header, up to 256 MB, and allocates it at once. It reads
    the at most five bytes of the header one by one, then the rest in one call. The names with an
    underscore are paho's private ones; a test sends a 64 MB packet to check that they still apply.
    """

    claimed = 0  # bytes of a packet that was too large

    def _sock_recv(self, bufsize: int) -> bytes:
        if bufsize > MOST_BYTES:
            self.claimed = bufsize
            raise ConnectionAbortedError("too large a packet")
        return super()._sock_recv(bufsize)

    @property
    def strained(self) -> bool:
        """Whether the broker makes this client's memory grow: it sends messages of QoS 2 and never
        releases them, or it does not read our packets."""
        return bool(self._in_messages) or len(self._out_packet) > MOST_OWED


class MqttConnection:
    """A connection that is being established or is up. `close` ends it in either state."""

    def __init__(
        self,
        broker: Broker,
        client_id: str,
        *,
        will: LastWill | None = None,
        subscribe: tuple[str, ...] = (),
        version: ProtocolVersion = 5,
        answer_s: float = ANSWER_S,
        messages_a_second: float = MESSAGES_A_SECOND,
    ) -> None:
        self.broker = broker
        self._topics = subscribe
        self._version: ProtocolVersion = version
        self._events: deque[MqttEvent] = deque()
        self._ended = False
        self._up = False
        self._answer_s, self._connack_due_s = answer_s, 0.0
        self._bucket = TokenBucket(BURST, messages_a_second, time.monotonic())
        self._client = self._make_client(client_id, will)
        self._connect_done_fd = os.eventfd(0, os.EFD_NONBLOCK | os.EFD_CLOEXEC)
        self._connect_done = False
        self._connect_error: BaseException | None = None
        self._thread = threading.Thread(target=self._connect, name="mqtt-connect", daemon=True)
        self._thread.start()

    @property
    def is_closed(self) -> bool:
        """Whether the connection has ended."""
        return self._ended

    def interests(self, now_s: float) -> list[tuple[int, int]]:
        """File descriptors and the poll(2) events to wait for."""
        socket = self._client.socket() if self._connect_done else None
        if self._ended:
            return []
        if socket is None:
            return [(self._connect_done_fd, select.POLLIN)]
        events = select.POLLIN if self._bucket.tokens(now_s) >= 1.0 else 0
        events |= select.POLLOUT if self._client.want_write() else 0
        return [(socket.fileno(), events)]

    def wait_s(self, now_s: float) -> float:
        """Longest time until the next `poll` if no descriptor becomes ready."""
        if not self._connect_done or self._ended:
            return 1.0
        if self._bucket.tokens(now_s) < 1.0:
            return 0.05
        return 0.0 if self._bytes_pending() else 1.0

    def poll(self, now_s: float) -> list[MqttEvent]:
        """Read, write and check timeouts without blocking; return the events since the last call.

        The last event is BrokerDisconnected, unless `close` ended the connection.
        """
        if not self._ended:
            self._advance(now_s)
        if self._ended:
            self._close_socket()
        events, self._events = list(self._events), deque()
        return events

    def _advance(self, now_s: float) -> None:
        if not self._connect_done:
            self._poll_connect(now_s)
            return
        self._read(now_s)
        if self._client.want_write():
            self._check(self._client.loop_write())
        self._check(self._client.loop_misc())
        if not self._up and now_s > self._connack_due_s:
            self._end(failures.silent(self.broker))

    def publish(self, topic: str, payload: bytes, *, qos: int, retain: bool) -> int | None:
        """Queue a message. Returns the number of its receipt, or None if it was not accepted."""
        if not self._up or self._ended:
            return None
        info = self._client.publish(topic, payload, qos, retain)
        return info.mid if info.rc == MQTTErrorCode.MQTT_ERR_SUCCESS else None

    def fail(self, failure: BrokerFailure) -> None:
        """End the connection with `failure`, for a broker that is connected and does not answer."""
        self._end(failure)

    def close(self) -> None:
        """Send DISCONNECT, so that the broker does not publish the will. Does not block."""
        if self._up and not self._ended:
            self._client.disconnect()
            if self._client.want_write():
                self._client.loop_write()
        self._ended = True
        self._close_socket()

    def _make_client(self, client_id: str, will: LastWill | None) -> _Client:
        is_v5 = self._version == 5
        client = _Client(
            CallbackAPIVersion.VERSION2,
            client_id,
            clean_session=None if is_v5 else True,
            protocol=MQTTProtocolVersion.MQTTv5 if is_v5 else MQTTProtocolVersion.MQTTv311,
            reconnect_on_failure=False,
        )
        client.connect_timeout = CONNECT_S
        if self.broker.user:
            client.username_pw_set(self.broker.user, self.broker.password or None)
        if self.broker.tls is not None:
            client.tls_set_context(self.broker.tls)
        if will is not None:
            client.will_set(will.topic, will.payload, qos=1, retain=True)
        client.on_connect = self._on_connect
        client.on_disconnect = self._on_disconnect
        client.on_message = self._on_message
        client.on_publish = self._on_publish
        client.on_subscribe = self._on_subscribe
        return client

    def _connect(self) -> None:
        """Connect thread: resolve the name, connect, do the TLS handshake, send CONNECT."""
        properties = None
        if self._version == 5:
            properties = Properties(PacketTypes.CONNECT)  # type: ignore[no-untyped-call]
            properties.MaximumPacketSize = MOST_BYTES
        broker = self.broker
        try:
            self._client.connect(broker.host, broker.port, KEEPALIVE_S, properties=properties)
        except Exception as error:  # noqa: BLE001  # any error: `poll` reports it to the caller
            self._connect_error = error
        os.eventfd_write(self._connect_done_fd, 1)

    def _poll_connect(self, now_s: float) -> None:
        try:
            os.eventfd_read(self._connect_done_fd)
        except BlockingIOError:
            return
        self._connect_done = True
        self._connack_due_s = now_s + self._answer_s
        if self._connect_error is not None:
            self._end(failures.not_reached(self._connect_error, self.broker))
        else:
            self._check(MQTTErrorCode.MQTT_ERR_SUCCESS)

    def _read(self, now_s: float) -> None:
        """Read received packets up to the rate limit."""
        while not self._ended and self._bucket.tokens(now_s) >= 1.0 and self._readable():
            before = len(self._events)
            try:
                self._check(self._client.loop_read())
            except Exception:  # noqa: BLE001  # paho's parser raises on bytes that are not MQTT
                self._end(failures.nonsense(self.broker))
            if self._client.strained:
                self._end(failures.nonsense(self.broker))
            self._bucket.spend(max(1, len(self._events) - before))

    def _readable(self) -> bool:
        socket = self._client.socket()
        if socket is None:
            return False
        if self._bytes_pending():
            return True
        poll = select.poll()  # select(2) is limited to descriptors below 1,024
        poll.register(socket, select.POLLIN)
        return bool(poll.poll(0))

    def _bytes_pending(self) -> bool:
        """Whether the TLS layer holds decrypted bytes, which poll(2) does not report."""
        pending = getattr(self._client.socket(), "pending", None)
        return pending is not None and pending() > 0

    def _check(self, code: MQTTErrorCode) -> None:
        """End the connection if paho failed or closed its socket. If a callback has given a more
        specific reason, that one stays."""
        if self._ended or (code == MQTTErrorCode.MQTT_ERR_SUCCESS and self._client.socket()):
            return
        if self._client.claimed:
            self._end(failures.too_large(self.broker, self._client.claimed, MOST_BYTES))
        self._end(failures.lost(self.broker) if self._up else failures.closed(self.broker))

    def _end(self, failure: BrokerFailure) -> None:
        """Mark the connection as ended; only the first reason is reported."""
        if self._ended:
            return
        self._ended = True
        self._up = False
        self._events.append(BrokerDisconnected(failure))

    def _close_socket(self) -> None:
        """Close the socket without a DISCONNECT. The result of a connect thread that still runs is
        ignored."""
        if not self._connect_done or self._connect_done_fd < 0:
            return
        socket = self._client.socket()
        if socket is not None:
            socket.close()
        os.close(self._connect_done_fd)
        self._connect_done_fd = -1

    def _on_connect(
        self, client: paho.Client, data: Any, flags: Any, reason: Any, properties: Any
    ) -> None:
        if reason.is_failure:
            self._end(failures.refused(reason.value, reason.getName(), self.broker))
            return
        self._up = True
        self._events.append(BrokerConnected(self._version))
        if self._topics:
            client.subscribe(self._subscriptions())

    def _subscriptions(self) -> list[Any]:
        if self._version == 5:
            # retainHandling 2: do not deliver retained messages at the subscription. With
            # retainAsPublished new ones keep their flag, so that the command filter rejects them.
            options = SubscribeOptions(
                qos=1, noLocal=True, retainAsPublished=True, retainHandling=2
            )
            return [(topic, options) for topic in self._topics]
        return [(topic, 1) for topic in self._topics]

    def _on_disconnect(
        self, client: paho.Client, data: Any, flags: Any, reason: Any, properties: Any
    ) -> None:
        if flags.is_disconnect_packet_from_server and not self._ended:
            self._end(failures.refused(reason.value, reason.getName(), self.broker))

    def _on_message(self, client: paho.Client, data: Any, message: paho.MQTTMessage) -> None:
        self._events.append(MessageArrived(message.topic, bytes(message.payload), message.retain))

    def _on_publish(
        self, client: paho.Client, data: Any, number: int, reason: Any, properties: Any
    ) -> None:
        self._events.append(PublishReceipt(number, reason.getName() if reason.is_failure else ""))

    def _on_subscribe(
        self, client: paho.Client, data: Any, number: int, reasons: Any, properties: Any
    ) -> None:
        pairs = zip(self._topics, reasons, strict=False)
        self._events.append(Subscribed(tuple(t for t, reason in pairs if reason.is_failure)))

"""HTTP over real connections: limits per client, and the response to each attack."""

from __future__ import annotations

import http.client
import select
import socket
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from appliance.page.connection_places import MOST_OF_ONE
from appliance.page.http_server import MOST_BODY
from appliance.page.live import Event
from appliance.page.requests import EventStream, Reply, Request
from appliance.page.viewers import MOST
from appliance.runtime.listening_socket import BACKLOG
from tests.page.desk import Desk
from tests.page.served import Served, is_closed, paired, stream
from tests.waiting import until

pytestmark = pytest.mark.process  # connections time out after seconds


def test_a_page_is_answered_with_a_strict_policy(served: Served) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", served.port, timeout=20)
    for _ in range(3):  # over one connection
        connection.request("GET", "/", headers={"Host": served.host()})
        reply = connection.getresponse()
        assert (reply.status, b"<title>Interlude" in reply.read()) == (200, True)
        policy = reply.headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert reply.headers["Cache-Control"] == "no-store"
        assert reply.headers.get("Server") is None
    connection.close()


def test_pipelined_requests_are_answered_in_order(served: Served) -> None:
    with served.connect() as connection:
        one = f"GET /static/page.css HTTP/1.1\r\nHost: {served.host()}\r\n"
        connection.sendall(f"{one}\r\n{one}Connection: close\r\n\r\n".encode())
        data = b""
        while piece := connection.recv(65_536):
            data += piece
    assert data.count(b"HTTP/1.1 200") == 2


@pytest.mark.parametrize(
    "lines",
    [
        b"GET / HTTP/1.1\r\nHost: a\r\nHost: b",
        b"GET http://x/ HTTP/1.1\r\nHost: a",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",  # TLS
        b"GET / HTTP/1.1",
        b"\r\n\r\n\r\nx",
        b"GET /%ff HTTP/1.1\r\nHost: a",
        b"GET /?a=1&a=2 HTTP/1.1\r\nHost: a",
        b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0",
        b"GET / HTTP/1.1\r\nHost: a\r\nX: " + b"y" * 40_000,
    ],
)
def test_a_malformed_request_is_refused_and_the_next_connection_is_served(
    served: Served, lines: bytes
) -> None:
    with served.connect() as connection:
        connection.sendall(lines + b"\r\n\r\n")
        reply = connection.recv(65_536)
        assert not reply.startswith(b"HTTP/1.1 2")
        assert b"Traceback" not in reply
    assert served.ask("GET", "/")[0] == 200


def test_a_client_that_does_not_read_has_one_reply_buffered_and_is_disconnected(
    served: Served,
) -> None:
    """200,000 pipelined requests for a file: 3 GB of replies if all were buffered."""
    one = f"GET /static/live.js HTTP/1.1\r\nHost: {served.host()}\r\n\r\n".encode()
    script = len(served.ask("GET", "/static/live.js")[1])
    with served.connect() as silent_reader:
        silent_reader.setblocking(False)
        left = one * 200_000
        buffered: list[int] = []
        until_s = time.monotonic() + 2.0
        while time.monotonic() < until_s and left:
            try:
                left = left[silent_reader.send(left) :]
            except BlockingIOError:
                buffered.append(unsent_bytes(served))
                time.sleep(0.005)
        assert 0 < max(buffered) < 2 * script, "the unsent part of one reply"
        assert left, "no more requests are read than fit the buffers"
        assert served.ask("GET", "/")[0] == 200


def unsent_bytes(served: Served) -> int:
    """Bytes in the server's write buffers."""
    found: list[int] = []
    served.do(
        lambda: found.append(
            sum(each._transport.get_write_buffer_size() for each in served.server.connections)
        )
    )
    return found[0]


def test_a_client_that_reads_late_gets_every_reply(served: Served) -> None:
    one = f"GET /static/live.js HTTP/1.1\r\nHost: {served.host()}\r\n"
    many = 60
    with served.connect() as slow:
        slow.sendall((f"{one}\r\n" * (many - 1) + f"{one}Connection: close\r\n\r\n").encode())
        until(lambda: unsent_bytes(served) > 0)
        data = b""
        while piece := slow.recv(65_536):
            data += piece
    assert data.count(b"HTTP/1.1 200") == many


def test_an_upload_of_a_gigabyte_is_refused_before_it_is_received(served: Served) -> None:
    with served.connect() as connection:
        connection.sendall(
            f"POST /pair HTTP/1.1\r\nHost: {served.host()}\r\n"
            f"Content-Length: {1 << 30}\r\n\r\n".encode()
        )
        sent = 0
        try:
            while sent < 64 << 20:
                sent += connection.send(b"x" * 65_536)
        except (ConnectionError, TimeoutError):
            pass
        assert sent < 32 << 20, "only the kernel's buffers were filled"
    assert served.ask("GET", "/")[0] == 200


def test_a_body_over_the_limit_is_refused_and_one_within_it_is_read(served: Served) -> None:
    form = "application/x-www-form-urlencoded"
    headers = {"Origin": f"http://{served.host()}", "Content_Type": form}
    assert served.ask("POST", "/pair", b"code=" + b"1" * (MOST_BODY - 5), **headers)[0] == 403
    assert served.ask("POST", "/pair", b"code=" + b"1" * MOST_BODY, **headers)[0] == 413


def test_at_most_a_backlog_of_connections_is_accepted_at_once(served: Served) -> None:
    held, crowd = threading.Event(), [socket.socket() for _ in range(3 * BACKLOG)]
    served.loop.call_soon_threadsafe(held.wait, 20)
    poll = select.poll()
    for each in crowd:
        each.setblocking(False)
        each.connect_ex(("127.0.0.1", served.port))
        poll.register(each, select.POLLOUT)
    connected = len(poll.poll(500))
    held.set()
    for each in crowd:
        each.close()
    assert 0 < connected <= BACKLOG + 1  # Linux accepts one more than the backlog

    served.patience_s = 5.0

    def answers() -> bool:  # the connections count until the server has noticed that they closed
        try:
            return served.ask("GET", "/")[0] == 200
        except OSError:
            return False

    until(answers)


def test_a_client_that_sends_byte_by_byte_is_disconnected(served: Served) -> None:
    served.server.request_s = 1.0
    with served.connect() as slow:
        begun_s = time.monotonic()
        ended = threading.Event()

        def watch() -> None:
            is_closed(slow)
            ended.set()

        threading.Thread(target=watch, daemon=True).start()
        for byte in b"GET / HTTP/1.1\r\nHost: interlude.local\r\nX-Slow: " + b"y" * 200:
            try:
                slow.sendall(bytes([byte]))
            except OSError:
                break
            if ended.wait(0.05):
                break
        assert ended.wait(10)
        assert time.monotonic() - begun_s < 8
    assert served.ask("GET", "/")[0] == 200


def test_a_silent_client_is_disconnected(served: Served) -> None:
    served.server.request_s = 0.3
    with served.connect() as silent:
        assert is_closed(silent)


def test_connections_per_address_are_limited_and_200_do_no_harm(served: Served) -> None:
    crowd = [served.connect() for _ in range(200)]
    until(lambda: len(served.server.connections) == MOST_OF_ONE)
    assert served.ask("GET", "/")[0] == 200, "the same address displaces its own"
    for one in crowd:
        one.close()
    until(lambda: not served.server.connections)


def test_events_arrive_as_they_happen_and_end_with_the_browser(
    served: Served, desk: Desk, tmp_path: Path
) -> None:
    cookies = paired(served, desk)
    one = stream(served, cookies)
    until(lambda: desk.viewers.any)
    served.do(lambda: desk.viewers.show([{"k": "state", "state": "thinking"}]))
    data = b""
    while b"thinking" not in data:
        data += one.recv(65_536)
    one.close()
    until(lambda: not desk.viewers.any)

    # A browser that does not read its events is disconnected without blocking others.
    stuck = stream(served, cookies)
    until(lambda: desk.viewers.any)
    event: Event = {"k": "levels", "text": "x" * 60_000}
    for _ in range(200):
        served.do(lambda: desk.viewers.show([event]))
        if not desk.viewers.any:
            break
    until(lambda: not desk.viewers.any)
    stuck.close()

    # The number of viewers is limited.
    many = [stream(served, cookies) for _ in range(MOST)]
    until(lambda: desk.viewers.full)
    assert served.ask("GET", "/events", Cookie=cookies)[0] == 503
    for each in many:
        each.close()


def test_an_event_stream_ends_in_order_after_its_time_and_can_be_reopened(
    served: Served, desk: Desk
) -> None:
    served.server.stream_s = 0.2
    cookies = paired(served, desk)
    for _ in range(2):
        with stream(served, cookies) as one:
            data = b""
            while piece := one.recv(65_536):
                data += piece
        assert data.endswith(b"0\r\n\r\n"), "the end of a chunked reply, not a broken connection"
        assert b'"k":"hello"' in data
        until(lambda: not desk.viewers.any)


def test_a_revoked_browser_cannot_reopen_its_event_stream(served: Served, desk: Desk) -> None:
    served.server.stream_s = 0.2
    cookies = paired(served, desk)
    with stream(served, cookies) as one:
        assert is_closed(one)
    served.do(lambda: desk.box.access.revoke(desk.box.access.browsers[0].id))
    assert served.ask("GET", "/events", Cookie=cookies)[0] == 403


class Faulty:
    """A site that fails at every request."""

    def answer(self, request: Request) -> Reply:
        raise RuntimeError(request.path)

    def receive(self, request: Request) -> None:
        """It accepts no upload."""

    def knows(self, request: Request) -> bool:
        return False

    def join(self, stream: EventStream, send: Callable[[bytes], None]) -> object:
        raise NotImplementedError

    def leave(self, viewer: object) -> None:
        raise NotImplementedError


def test_a_fault_in_a_page_fails_only_its_request(
    served: Served, desk: Desk, caplog: pytest.LogCaptureFixture
) -> None:
    served.server.site = Faulty()
    status, body = served.ask("GET", "/")
    assert (status, b"Traceback" in body) == (500, False)
    assert "could not be answered" in caplog.text
    served.server.site = desk.site
    assert served.ask("GET", "/static/page.css")[0] == 200

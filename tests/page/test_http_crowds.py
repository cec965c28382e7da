"""Strangers who want every connection, from several addresses: each browser is still served."""

from __future__ import annotations

import socket
import threading
import time

import pytest

from appliance.page.connection_places import MOST_CONNECTIONS, MOST_OF_ONE, MOST_UNPAIRED
from tests.page.desk import Desk
from tests.page.served import Served, is_closed, paired, stream
from tests.waiting import until

pytestmark = pytest.mark.process  # connections time out after seconds


ATTACKERS = [f"127.0.0.{number}" for number in range(1, 9)]


def hold(served: Served, stop: threading.Event, source: str, cookie: str) -> None:
    """Keep as many connections as an address may have, as a stranger who wants all places: each
    sends a request a second, and is opened anew when it is dropped."""
    head = f"GET / HTTP/1.1\r\nHost: {served.host()}\r\nCookie: interlude={cookie}\r\n\r\n"
    held: list[socket.socket] = []
    while not stop.wait(1.0 if len(held) == MOST_OF_ONE else 0.0):
        for each in held.copy():
            try:
                each.setblocking(False)
                each.send(head.encode())
                while each.recv(65_536):
                    continue
                held.remove(each)  # dropped
            except BlockingIOError:
                pass
            except OSError:
                held.remove(each)
        held += [served.connect(source) for _ in range(MOST_OF_ONE - len(held))]
    for each in held:
        each.close()


@pytest.mark.parametrize("cookie", ["", "forged"])
def test_eight_addresses_that_want_all_places_keep_no_browser_out(
    served: Served, desk: Desk, cookie: str
) -> None:
    cookies = paired(served, desk)
    live = stream(served, cookies)
    until(lambda: desk.viewers.any)
    stop = threading.Event()
    crowd = [threading.Thread(target=hold, args=(served, stop, a, cookie)) for a in ATTACKERS]
    for each in crowd:
        each.start()
    try:
        until(lambda: len(served.server.connections) > MOST_UNPAIRED)
        served.patience_s = 5.0
        for _ in range(20):
            assert served.ask("GET", "/", source="127.0.0.9", Cookie=cookies)[0] == 200
            assert served.ask("GET", "/", source="127.0.0.10")[0] == 200
            assert len(served.server.connections) <= MOST_CONNECTIONS
        assert desk.viewers.any, "the live view is still open"
    finally:
        stop.set()
        for each in crowd:
            each.join()
        live.close()


@pytest.mark.parametrize(("known", "kept"), [(False, False), (True, True)])
def test_an_idle_connection_is_kept_longer_for_a_paired_browser(
    served: Served, desk: Desk, known: bool, kept: bool
) -> None:
    served.server.idle_s = 0.3
    cookies = paired(served, desk) if known else "interlude=forged"
    with served.connect() as idle:
        idle.sendall(
            f"GET / HTTP/1.1\r\nHost: {served.host()}\r\nCookie: {cookies}\r\n\r\n".encode()
        )
        assert idle.recv(65_536).startswith(b"HTTP/1.1 200")
        idle.settimeout(2.0)
        assert is_closed(idle) != kept


def test_a_request_that_begins_in_time_has_the_full_time(served: Served) -> None:
    one = f"GET /static/page.css HTTP/1.1\r\nHost: {served.host()}\r\n"
    served.server.idle_s = 0.6
    with served.connect() as slow:
        slow.sendall(f"{one}\r\n{one}".encode())
        for _ in range(5):
            time.sleep(0.2)
            slow.sendall(b"X: y\r\n")
        slow.sendall(b"Connection: close\r\n\r\n")
        data = b""
        while piece := slow.recv(65_536):
            data += piece
    assert data.count(b"HTTP/1.1 200") == 2

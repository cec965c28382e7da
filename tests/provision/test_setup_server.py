"""The set-up page over a socket: headers, lengths, several connections, and how it ends."""

from __future__ import annotations

import asyncio
import http.client
import socket
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import msgspec
import pytest

from appliance.page.http_server import MOST_OF_ONE
from appliance.page.requests import FORM
from appliance.provision.setup_server import CONNECTION_S, OPEN, SetupAccess, serve, server
from appliance.provision.setup_site import MOST_BYTES
from appliance.provision.submitted_form import last_used_ns
from appliance.runtime.listening_socket import try_listen
from tests.waiting import until

pytestmark = pytest.mark.process  # connections are let go after seconds


@dataclass
class SetupServed:
    """The page on a port of this machine. `folder`: root's and the page's in one."""

    folder: Path
    port: int

    def ask(
        self, method: str, head: dict[str, str] | None = None, path: str = "/"
    ) -> tuple[int, dict[str, str], str]:
        line = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        line.request(method, path, b"", head or {})
        reply = line.getresponse()
        found = reply.status, dict(reply.getheaders()), reply.read().decode()
        line.close()
        return found


@pytest.fixture
def served(tmp_path: Path) -> Iterator[SetupServed]:
    """As the unit runs it; it ends when root says that the set-up is over."""
    with try_listen(("127.0.0.1", 0)) as free:
        port = int(free.getsockname()[1])
    access = tmp_path / OPEN
    access.write_bytes(msgspec.json.encode(SetupAccess("127.0.0.1", port)))
    thread = threading.Thread(target=serve, args=(tmp_path, tmp_path))
    thread.start()
    until(lambda: accepts(port))
    yield SetupServed(tmp_path, port)
    access.unlink(missing_ok=True)
    thread.join(20)
    assert not thread.is_alive()


def accepts(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=20).close()
    except OSError:
        return False
    return True


def test_the_page_is_served_with_headers_that_allow_nothing(served: SetupServed) -> None:
    status, head, shown = served.ask("GET")
    assert status == 200
    assert "<form" in shown
    assert "default-src 'none'" in head["Content-Security-Policy"]
    assert "unsafe" not in head["Content-Security-Policy"]
    assert head["X-Frame-Options"] == "DENY"
    assert head["Cache-Control"] == "no-store"
    assert "Server" not in head


def test_its_style_and_its_sign_are_served_too(served: SetupServed) -> None:
    for path in ("/static/page.css", "/static/icon.svg"):
        assert served.ask("GET", path=path)[0] == 200


def test_the_last_problem_is_on_it(served: SetupServed) -> None:
    (served.folder / "problem").write_text("The Wi-Fi did not let me in.")
    assert "did not let me in" in served.ask("GET")[2]


@pytest.mark.parametrize(
    ("length", "status"), [("-1", 400), ("x", 400), (str(MOST_BYTES + 1), 413), ("", 400)]
)
def test_a_length_that_is_none_or_too_large_is_refused_unread(
    served: SetupServed, length: str, status: int
) -> None:
    head = {"Content-Length": length, "Content-Type": FORM}
    assert served.ask("POST", head)[0] == status


def test_what_is_longer_than_it_was_said_to_be_is_refused(served: SetupServed) -> None:
    with socket.create_connection(("127.0.0.1", served.port), timeout=20) as line:
        line.sendall(b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n")
        line.sendall(b"%x\r\n" % (MOST_BYTES + 1) + b"x" * (MOST_BYTES + 1) + b"\r\n")
        assert line.recv(65_536).startswith(b"HTTP/1.1 413 ")


def test_silent_connections_keep_nobody_from_the_page(served: SetupServed) -> None:
    """A browser opens some ahead."""
    silent = [socket.create_connection(("127.0.0.1", served.port)) for _ in range(4)]
    try:
        begun_s = time.monotonic()
        assert served.ask("GET")[0] == 200
        assert time.monotonic() - begun_s < CONNECTION_S
    finally:
        for each in silent:
            each.close()


def test_no_more_connections_are_held_than_there_is_room_for(served: SetupServed) -> None:
    silent = [socket.create_connection(("127.0.0.1", served.port)) for _ in range(MOST_OF_ONE)]
    try:
        with pytest.raises((http.client.HTTPException, OSError)):
            served.ask("GET")
    finally:
        for each in silent:
            each.close()

    def answers() -> bool:
        try:
            return served.ask("GET")[0] == 200
        except (http.client.HTTPException, OSError):
            return False

    until(answers)


def test_the_form_is_a_use_of_the_page_and_a_phones_look_for_the_world_is_none(
    served: SetupServed,
) -> None:
    assert served.ask("GET", {"Host": "captive.apple.com"})[0] == 302
    assert last_used_ns(served.folder) is None
    assert served.ask("GET")[0] == 200
    first = last_used_ns(served.folder)
    assert first is not None

    def used_again() -> bool:  # the clock of files has a grain of some ms
        assert served.ask("POST", {"Content-Length": "0", "Content-Type": FORM})[0] != 302
        return last_used_ns(served.folder) != first

    until(used_again)


def test_another_method_is_refused(served: SetupServed) -> None:
    assert served.ask("DELETE")[0] == 405


def test_where_there_is_no_set_up_nothing_is_served(tmp_path: Path) -> None:
    serve(tmp_path, tmp_path)


def test_it_listens_on_the_access_points_address_and_no_other(tmp_path: Path) -> None:
    async def listening() -> list[str]:
        made = server(tmp_path, SetupAccess("127.0.0.2", 0), tmp_path)
        await made.start()
        assert made._server is not None
        found = [str(each.getsockname()[0]) for each in made._server.sockets]
        made.close()
        return found

    assert asyncio.run(listening()) == ["127.0.0.2"]

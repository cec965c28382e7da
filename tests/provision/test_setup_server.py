"""The set-up page over a socket: headers, content lengths, connections and the shutdown."""

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

from appliance.page.connection_places import MOST_OF_ONE
from appliance.page.requests import FORM
from appliance.provision.setup_access import OPEN, SetupAccess
from appliance.provision.setup_server import CONNECTION_S, serve, server
from appliance.provision.setup_site import MOST_BYTES
from appliance.provision.submitted_form import last_used_ns
from appliance.runtime.listening_socket import try_listen
from tests.page.served import is_closed
from tests.waiting import until

pytestmark = pytest.mark.process  # idle connections are closed after seconds


@dataclass
class SetupServed:
    """The page on a local port. `folder`: used as the folder of root and of the page."""

    folder: Path
    port: int

    def ask(
        self, method: str, head: dict[str, str] | None = None, path: str = "/"
    ) -> tuple[int, dict[str, str], str]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        connection.request(method, path, b"", head or {})
        reply = connection.getresponse()
        found = reply.status, dict(reply.getheaders()), reply.read().decode()
        connection.close()
        return found


@pytest.fixture
def served(tmp_path: Path) -> Iterator[SetupServed]:
    """The server as the unit runs it; it ends when root removes the access file."""
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


def test_the_page_is_served_with_restrictive_headers(served: SetupServed) -> None:
    status, head, shown = served.ask("GET")
    assert status == 200
    assert "<form" in shown
    assert "default-src 'none'" in head["Content-Security-Policy"]
    assert "unsafe" not in head["Content-Security-Policy"]
    assert head["X-Frame-Options"] == "DENY"
    assert head["Cache-Control"] == "no-store"
    assert "Server" not in head


def test_stylesheet_and_icon_are_served_too(served: SetupServed) -> None:
    for path in ("/static/page.css", "/static/icon.svg"):
        assert served.ask("GET", path=path)[0] == 200


def test_the_last_problem_is_shown_on_the_page(served: SetupServed) -> None:
    (served.folder / "problem").write_text("The Wi-Fi did not let me in.")
    assert "did not let me in" in served.ask("GET")[2]


@pytest.mark.parametrize(
    ("length", "status"), [("-1", 400), ("x", 400), (str(MOST_BYTES + 1), 413), ("", 400)]
)
def test_an_invalid_or_too_large_content_length_is_refused_before_the_body_is_read(
    served: SetupServed, length: str, status: int
) -> None:
    head = {"Content-Length": length, "Content-Type": FORM}
    assert served.ask("POST", head)[0] == status


def test_a_chunked_body_above_the_limit_is_refused(served: SetupServed) -> None:
    with socket.create_connection(("127.0.0.1", served.port), timeout=20) as connection:
        connection.sendall(b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n")
        connection.sendall(b"%x\r\n" % (MOST_BYTES + 1) + b"x" * (MOST_BYTES + 1) + b"\r\n")
        assert connection.recv(65_536).startswith(b"HTTP/1.1 413 ")


def test_idle_connections_do_not_block_the_page(served: SetupServed) -> None:
    """A browser opens some in advance."""
    silent = [socket.create_connection(("127.0.0.1", served.port)) for _ in range(4)]
    try:
        began_s = time.monotonic()
        assert served.ask("GET")[0] == 200
        assert time.monotonic() - began_s < CONNECTION_S
    finally:
        for connection in silent:
            connection.close()


def test_silent_connections_of_a_client_are_limited_and_displaced_by_its_newer_ones(
    served: SetupServed,
) -> None:
    silent = [socket.create_connection(("127.0.0.1", served.port)) for _ in range(MOST_OF_ONE)]
    try:
        assert served.ask("GET")[0] == 200
        assert is_closed(silent[0]), "the oldest made room"
        silent[1].settimeout(0.5)
        assert not is_closed(silent[1])
    finally:
        for each in silent:
            each.close()


def test_loading_the_form_counts_as_a_use_and_a_connectivity_check_does_not(
    served: SetupServed,
) -> None:
    assert served.ask("GET", {"Host": "captive.apple.com"})[0] == 302
    assert last_used_ns(served.folder) is None
    assert served.ask("GET")[0] == 200
    first = last_used_ns(served.folder)
    assert first is not None

    def used_again() -> bool:  # file times have a resolution of some ms
        assert served.ask("POST", {"Content-Length": "0", "Content-Type": FORM})[0] != 302
        return last_used_ns(served.folder) != first

    until(used_again)


def test_another_method_is_refused(served: SetupServed) -> None:
    assert served.ask("DELETE")[0] == 405


def test_without_a_set_up_nothing_is_served(tmp_path: Path) -> None:
    serve(tmp_path, tmp_path)


def test_the_server_listens_only_on_the_address_of_the_access_point(tmp_path: Path) -> None:
    async def listening() -> list[str]:
        made = server(tmp_path, SetupAccess("127.0.0.2", 0), tmp_path)
        await made.start()
        assert made._server is not None
        found = [str(listener.getsockname()[0]) for listener in made._server.sockets]
        made.close()
        return found

    assert asyncio.run(listening()) == ["127.0.0.2"]

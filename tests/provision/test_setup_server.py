"""The set-up page over a socket: headers, lengths, several connections, and who uses it."""

from __future__ import annotations

import http.client
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from appliance.provision.setup_page import FORM, MOST_BYTES
from appliance.provision.setup_server import (
    CONNECTION_S,
    MOST_CONNECTIONS,
    OPEN,
    SetupAccess,
    server,
)
from appliance.provision.submitted_form import (
    last_used_ns,
)


# ── over a socket ────────────────────────────────────────────────────────────────────────────
@pytest.fixture
def served(tmp_path: Path) -> Iterator[tuple[Path, int]]:
    """The page on a port of this machine."""
    said = SetupAccess("127.0.0.1", 0)
    (tmp_path / OPEN).write_bytes(msgspec.json.encode(said))
    made = server(tmp_path, said, tmp_path)
    thread = threading.Thread(target=made.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield tmp_path, made.server_address[1]
    made.shutdown()
    thread.join()
    made.server_close()


def ask(
    port: int, method: str, head: dict[str, str] | None = None
) -> tuple[int, dict[str, str], str]:
    line = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    line.request(method, "/", b"", head or {})
    reply = line.getresponse()
    return reply.status, dict(reply.getheaders()), reply.read().decode()


def test_the_page_is_served_with_headers_that_allow_nothing(served: tuple[Path, int]) -> None:
    status, head, shown = ask(served[1], "GET")
    assert status == 200
    assert "<form" in shown
    assert "default-src 'none'" in head["Content-Security-Policy"]
    assert head["X-Frame-Options"] == "DENY"
    assert "Python" not in head["Server"]


def test_the_last_problem_is_on_it(served: tuple[Path, int]) -> None:
    folder, port = served
    (folder / "problem").write_text("The Wi-Fi did not let me in.")
    assert "did not let me in" in ask(port, "GET")[2]


@pytest.mark.parametrize("length", ["-1", "x", str(MOST_BYTES + 1), ""])
def test_a_length_that_is_none_or_too_large_is_refused_unread(
    served: tuple[Path, int], length: str
) -> None:
    head = {"Content-Length": length, "Content-Type": FORM}
    assert ask(served[1], "POST", head)[0] == 413


def test_silent_connections_keep_nobody_from_the_page(served: tuple[Path, int]) -> None:
    """A browser opens some ahead; each would have taken its 5 s while the others waited."""
    silent = [socket.create_connection(("127.0.0.1", served[1])) for _ in range(4)]
    try:
        begun_s = time.monotonic()
        assert ask(served[1], "GET")[0] == 200
        assert time.monotonic() - begun_s < CONNECTION_S
    finally:
        for each in silent:
            each.close()


def test_no_more_connections_are_held_than_there_is_room_for(served: tuple[Path, int]) -> None:
    silent = [socket.create_connection(("127.0.0.1", served[1])) for _ in range(MOST_CONNECTIONS)]
    try:
        with pytest.raises((http.client.HTTPException, OSError)):
            ask(served[1], "GET")
    finally:
        for each in silent:
            each.close()
    limit_s = time.monotonic() + 20
    while True:
        try:
            assert ask(served[1], "GET")[0] == 200
        except (http.client.HTTPException, OSError):
            assert time.monotonic() < limit_s
        else:
            return


def test_the_form_is_a_use_of_the_page_and_a_phones_look_for_the_world_is_none(
    served: tuple[Path, int],
) -> None:
    folder, port = served
    assert ask(port, "GET", {"Host": "captive.apple.com"})[0] == 302
    assert last_used_ns(folder) is None
    assert ask(port, "GET")[0] == 200
    first = last_used_ns(folder)
    assert first is not None
    limit_s = time.monotonic() + 20
    while last_used_ns(folder) == first:  # the clock of files has a grain of some ms
        assert ask(port, "POST", {"Content-Length": "0", "Content-Type": FORM})[0] != 302
        assert time.monotonic() < limit_s


def test_another_method_is_refused(served: tuple[Path, int]) -> None:
    assert ask(served[1], "DELETE")[0] == 501

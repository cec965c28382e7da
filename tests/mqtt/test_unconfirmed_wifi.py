"""In a Wi-Fi that a passer-by gave to the box, his machine has the broker's name."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from appliance.mqtt.backoff import LONGEST_S
from appliance.runtime.network_status import NetworkStatus, write_status
from tests.mqtt.desk import Clock, desk_at

pytestmark = pytest.mark.process

PASSWORD = b"hunter2-of-the-house"


@pytest.fixture
def strangers_broker() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setblocking(False)
        yield server


def received(server: socket.socket) -> bytes | None:
    """The first bytes of a box that has connected; None if none has."""
    with suppress(BlockingIOError):
        box, _ = server.accept()
        with box:
            box.settimeout(5.0)
            return box.recv(4096)
    return None


def test_the_password_is_sent_to_no_machine_in_an_unconfirmed_wifi_and_after_it_is_confirmed(
    strangers_broker: socket.socket, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    secret = tmp_path / "password"
    secret.touch(0o600)
    secret.write_bytes(PASSWORD)
    desk = desk_at(
        tmp_path / "box", strangers_broker.getsockname()[1],
        user="interlude", password_file=str(secret),
    )  # fmt: skip
    write_status(NetworkStatus(name="kitchen.local", unconfirmed="Street"), tmp_path)
    clock = Clock(desk, tmp_path)
    came: list[bytes] = []

    def look() -> bool:
        clock.ahead_s += LONGEST_S["refused"]
        if (data := received(strangers_broker)) is not None:
            came.append(data)
        return bool(came) or clock.ahead_s > 50 * LONGEST_S["refused"]

    assert clock.until(look)
    assert came == []
    assert caplog.text.count("Street, which its owner has not confirmed") == 1
    write_status(NetworkStatus(name="kitchen.local"), tmp_path)
    clock.ahead_s = 0.0
    assert clock.until(lambda: look() and came)
    assert PASSWORD in came[0]
    clock.link.disconnect()
    desk.close()

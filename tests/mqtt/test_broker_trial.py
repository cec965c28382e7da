"""A broker is tried as it was typed, with the password that is kept where none was."""

from __future__ import annotations

import socket
import subprocess
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from appliance.mqtt.broker_trial import try_broker
from appliance.runtime.handed_request import RequestOutcome
from appliance.settings import load
from appliance.settings.network_change import BrokerTrial
from lab.bench.mosquitto import Mosquitto
from tests.mqtt.conftest import Make

pytestmark = pytest.mark.process

ID = "0123456789abcdef"


@pytest.fixture
def guarded(mosquitto_with: Make, tmp_path: Path) -> Mosquitto:
    """One that knows the user `box` with the password `right`."""
    passwords = tmp_path / "passwords"
    subprocess.run(
        ["mosquitto_passwd", "-b", "-c", passwords, "box", "right"], check=True, capture_output=True
    )
    passwords.chmod(0o644)
    return mosquitto_with("allow_anonymous false", f"password_file {passwords}")


def tried(
    folder: Path, asked: dict[str, Any], kept: str = "", **named: dict[str, Any]
) -> RequestOutcome:
    """`kept`: the password that systemd would hand over. `named`: sections of the settings."""
    (folder / "mqtt-password").write_text(f"{kept}\n")
    link = {"id": "x", **named.pop("link", {})}
    settings = load(None, {"state_dir": str(folder), "link": link, **named})
    trial = BrokerTrial(ID, **{"port": 0, "user": "", "tls": False, **asked})
    return try_broker(trial, settings, {"CREDENTIALS_DIRECTORY": str(folder)})


def test_a_broker_that_lets_us_in_is_told(broker: Mosquitto, tmp_path: Path) -> None:
    told = tried(tmp_path, {"broker": "127.0.0.1", "port": broker.port})
    assert told.problem == ""
    assert told.names == (f"The broker at 127.0.0.1:{broker.port} lets us in: MQTT 5.",)


def test_one_that_is_not_there_is_told_with_a_remedy(broker: Mosquitto, tmp_path: Path) -> None:
    broker.stop()
    told = tried(tmp_path, {"broker": "127.0.0.1", "port": broker.port})
    assert "No broker listens" in told.problem
    assert told.remedy


def test_no_broker_is_no_trial(tmp_path: Path) -> None:
    assert tried(tmp_path, {"broker": ""}).problem == "No broker is named."


def test_one_that_speaks_no_tls_is_told(broker: Mosquitto, tmp_path: Path) -> None:
    told = tried(tmp_path, {"broker": "127.0.0.1", "port": broker.port, "tls": True})
    assert told.problem
    assert told.names == ()


@pytest.mark.parametrize(
    ("typed", "kept", "well"),
    [("right", "", True), ("", "right", True), ("right", "wrong", True), ("wrong", "right", False),
     ("", "", False)],
)  # fmt: skip
def test_the_password_that_was_typed_counts_and_else_the_one_that_is_kept(
    guarded: Mosquitto, tmp_path: Path, typed: str, kept: str, well: bool
) -> None:
    link = {"broker": "127.0.0.1", "port": guarded.port, "user": "box"}
    told = tried(tmp_path, {**link, "password": typed}, kept, link=link)
    assert (told.problem == "") == well
    assert "right" not in told.problem + told.remedy


@pytest.fixture
def stranger() -> Iterator[tuple[int, list[bytes]]]:
    """Somebody who listens at a port, keeps what a client begins with, and hangs up."""
    heard: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as server:

        def listen() -> None:
            with suppress(OSError):  # closed
                while True:
                    client, _ = server.accept()
                    with client:
                        heard.append(client.recv(4096))

        thread = threading.Thread(target=listen)
        thread.start()
        yield server.getsockname()[1], heard
        server.shutdown(socket.SHUT_RDWR)
        thread.join(10.0)


@pytest.mark.parametrize(
    "named",
    [{}, {"broker": "ha.local"}, {"port": 1}, {"user": "bob"}, {"tls": True}],
    ids=lambda named: next(iter(named), "the same"),
)
def test_the_password_that_is_kept_goes_to_the_broker_of_the_settings_alone(
    stranger: tuple[int, list[bytes]], tmp_path: Path, named: dict[str, Any]
) -> None:
    port, heard = stranger
    asked = {"broker": "127.0.0.1", "port": port, "user": "box"}
    told = tried(tmp_path, asked, "canary", link={**asked, **named})
    assert told.problem
    said = b"".join(heard)
    assert b"MQTT" in said
    assert b"box" in said
    assert (b"canary" in said) == (not named)


def test_where_the_page_may_not_end_a_mute_no_other_broker_is_tried(
    stranger: tuple[int, list[bytes]], tmp_path: Path
) -> None:
    port, heard = stranger
    asked = {"broker": "127.0.0.1", "port": port, "user": "box", "password": "typed"}
    told = tried(tmp_path, asked, page={"unmute": False}, link={"unmute": True})
    assert told.key == "page-wrong-broker-mute"
    assert heard == []
    same = {"broker": "127.0.0.1", "port": port, "user": "box"}
    told = tried(tmp_path, same, page={"unmute": False}, link={"unmute": True, **same})
    assert told.key != "page-wrong-broker-mute"
    assert len(heard) > 0

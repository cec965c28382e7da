"""A trial of the broker that was typed, with the saved password if none was typed."""

from __future__ import annotations

import hashlib
import socket
import ssl
import subprocess
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from appliance.mqtt.broker_trial import try_broker
from appliance.runtime.broker_certificate import in_pairs
from appliance.runtime.handed_request import RequestOutcome
from appliance.settings import load
from appliance.settings.network_change import BrokerTrial
from lab.bench.mosquitto import Mosquitto
from tests.certificates import Authority
from tests.mqtt.conftest import Make

pytestmark = pytest.mark.process

ID = "0123456789abcdef"


@pytest.fixture
def guarded(mosquitto_with: Make, tmp_path: Path) -> Mosquitto:
    """A broker with the user `box` and the password `right`."""
    passwords = tmp_path / "passwords"
    subprocess.run(
        ["mosquitto_passwd", "-b", "-c", passwords, "box", "right"], check=True, capture_output=True
    )
    passwords.chmod(0o644)
    return mosquitto_with("allow_anonymous false", f"password_file {passwords}")


def tried(
    folder: Path, typed_link: dict[str, Any], saved: str = "", **sections: dict[str, Any]
) -> RequestOutcome:
    """`saved`: the password in the systemd credential. `sections`: sections of the settings."""
    (folder / "mqtt-password").write_text(f"{saved}\n")
    link = {"id": "x", **sections.pop("link", {})}
    settings = load(None, {"state_dir": str(folder), "link": link, **sections})
    trial = BrokerTrial(ID, **{"port": 0, "user": "", "tls": False, **typed_link})
    return try_broker(trial, settings, {"CREDENTIALS_DIRECTORY": str(folder)})


def test_a_broker_that_accepts_us_is_reported(broker: Mosquitto, tmp_path: Path) -> None:
    outcome = tried(tmp_path, {"broker": "127.0.0.1", "port": broker.port})
    assert outcome.problem == ""
    assert outcome.names == (f"The broker at 127.0.0.1:{broker.port} lets us in: MQTT 5.",)


def test_an_unreachable_broker_is_reported_with_a_remedy(broker: Mosquitto, tmp_path: Path) -> None:
    broker.stop()
    outcome = tried(tmp_path, {"broker": "127.0.0.1", "port": broker.port})
    assert "No broker listens" in outcome.problem
    assert outcome.remedy


def test_a_trial_without_a_broker_name_is_refused(tmp_path: Path) -> None:
    assert tried(tmp_path, {"broker": ""}).problem == "No broker is named."


def test_a_broker_without_tls_is_reported(broker: Mosquitto, tmp_path: Path) -> None:
    outcome = tried(tmp_path, {"broker": "127.0.0.1", "port": broker.port, "tls": True})
    assert outcome.problem
    assert outcome.names == ()


@pytest.mark.parametrize(
    ("typed", "saved", "accepted"),
    [("right", "", True), ("", "right", True), ("right", "wrong", True), ("wrong", "right", False),
     ("", "", False)],
)  # fmt: skip
def test_the_typed_password_is_used_and_otherwise_the_saved_one(
    guarded: Mosquitto, tmp_path: Path, typed: str, saved: str, accepted: bool
) -> None:
    link = {"broker": "127.0.0.1", "port": guarded.port, "user": "box"}
    outcome = tried(tmp_path, {**link, "password": typed}, saved, link=link)
    assert (outcome.problem == "") == accepted
    assert "right" not in outcome.problem + outcome.remedy


@pytest.fixture
def recording_server() -> Iterator[tuple[int, list[bytes]]]:
    """A server that records the first bytes of each client and then closes the connection."""
    received: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as server:

        def listen() -> None:
            with suppress(OSError):  # closed
                while True:
                    client, _ = server.accept()
                    with client:
                        received.append(client.recv(4096))

        thread = threading.Thread(target=listen)
        thread.start()
        yield server.getsockname()[1], received
        server.shutdown(socket.SHUT_RDWR)
        thread.join(10.0)


@pytest.mark.parametrize(
    "sections",
    [{}, {"broker": "ha.local"}, {"port": 1}, {"user": "bob"}, {"tls": True}],
    ids=lambda sections: next(iter(sections), "the same"),
)
def test_the_saved_password_is_sent_only_to_the_broker_of_the_settings(
    recording_server: tuple[int, list[bytes]], tmp_path: Path, sections: dict[str, Any]
) -> None:
    port, received = recording_server
    typed_link = {"broker": "127.0.0.1", "port": port, "user": "box"}
    outcome = tried(tmp_path, typed_link, "canary", link={**typed_link, **sections})
    assert outcome.problem
    bytes_sent = b"".join(received)
    assert b"MQTT" in bytes_sent
    assert b"box" in bytes_sent
    assert (b"canary" in bytes_sent) == (not sections)


def test_if_the_page_may_not_end_a_mute_no_other_broker_is_tried(
    recording_server: tuple[int, list[bytes]], tmp_path: Path
) -> None:
    port, received = recording_server
    typed_link = {"broker": "127.0.0.1", "port": port, "user": "box", "password": "typed"}
    outcome = tried(tmp_path, typed_link, page={"unmute": False}, link={"unmute": True})
    assert outcome.key == "page-wrong-broker-mute"
    assert received == []
    same = {"broker": "127.0.0.1", "port": port, "user": "box"}
    outcome = tried(tmp_path, same, page={"unmute": False}, link={"unmute": True, **same})
    assert outcome.key != "page-wrong-broker-mute"
    assert len(received) > 0


@pytest.fixture
def own_certificate(mosquitto_with: Make, tmp_path: Path) -> tuple[Mosquitto, str]:
    """A broker with a certificate of its own, and its SHA-256."""
    certificate, key = Authority(tmp_path).self_signed("localhost")
    key.chmod(0o644)
    options = ("allow_anonymous true", f"certfile {certificate}", f"keyfile {key}")
    der = ssl.PEM_cert_to_DER_cert(certificate.read_text())
    return mosquitto_with(*options), hashlib.sha256(der).hexdigest()


def test_a_trial_accepts_an_own_certificate_only_if_the_box_remembers_it(
    own_certificate: tuple[Mosquitto, str], tmp_path: Path
) -> None:
    broker, sha256 = own_certificate
    link = {"broker": "localhost", "port": broker.port, "tls": True, "password": "typed"}
    new = tried(tmp_path, link)
    assert new.key == "page-wrong-broker-first"
    assert in_pairs(sha256) in new.problem
    pinned_at = f"localhost:{broker.port}"
    known = tried(tmp_path, {**link, "pinned_at": pinned_at, "pinned": sha256})
    assert known.problem == ""
    assert "encrypted" in known.names[0]
    other = tried(tmp_path, {**link, "pinned_at": pinned_at, "pinned": "0" * 64})
    assert other.key == "page-wrong-broker-changed"
    elsewhere = tried(tmp_path, {**link, "pinned_at": "ha.local:8883", "pinned": sha256})
    assert elsewhere.key == "page-wrong-broker-first"

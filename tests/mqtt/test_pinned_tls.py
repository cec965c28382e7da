"""A broker whose certificate no authority vouches for is trusted at its first connection, and after
that only with the same certificate."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from appliance.mqtt import broker as reach
from appliance.mqtt.connection import BrokerConnected, BrokerDisconnected
from appliance.mqtt.failures import BrokerFailure
from appliance.runtime.broker_certificate import CertificatePin, CertificatePins, in_pairs
from appliance.settings import load_defaults
from lab.bench.mosquitto import Mosquitto
from lab.free_port import free_port
from tests.certificates import Authority
from tests.mqtt.caller import Call

pytestmark = pytest.mark.process

PASSWORD = "hunter2-of-the-house"  # noqa: S105  # an invented one


class House:
    """A broker with TLS on one port, whose certificate can be exchanged, and what the box
    remembers of it."""

    def __init__(self, folder: Path, call: Call) -> None:
        self.folder, self.call, self.port = folder, call, free_port()
        self.authority = Authority(folder)
        self.pins = CertificatePins(folder / "broker-certificate.json")
        self.running: Mosquitto | None = None
        secret = folder / "password"
        secret.touch(0o600)
        secret.write_text(PASSWORD)
        self.link = msgspec.structs.replace(
            load_defaults().link, broker="localhost", port=self.port, tls=True, user="interlude",
            password_file=str(secret),
        )  # fmt: skip

    def serve(self, files: tuple[Path, Path]) -> None:
        self.stop()
        home = self.folder / "mosquitto"
        home.mkdir(exist_ok=True)
        home.chmod(0o777)
        for file in files:
            shutil.copy(file, home / file.suffix[1:])
            (home / file.suffix[1:]).chmod(0o644)
        options = ("allow_anonymous true", f"certfile {home}/pem", f"keyfile {home}/key")
        self.running = Mosquitto(home, self.port, options)
        self.running.start()

    def stop(self) -> None:
        if self.running is not None:
            self.running.stop()

    def self_signed(self) -> tuple[Path, Path]:
        return self.authority.self_signed("localhost")

    def connects(self) -> BrokerFailure | None:
        """Connect as the link does. None if the broker has accepted the box."""
        at = reach.broker(self.link, {}, network=self.folder / "none", pins=self.pins)
        caller = self.call(at)
        assert caller.until(lambda: caller.of(BrokerConnected) or caller.of(BrokerDisconnected))
        ends = caller.of(BrokerDisconnected)
        caller.session.close()
        return ends[0].failure if ends else None

    @property
    def place(self) -> str:
        return f"localhost:{self.port}"


@pytest.fixture
def home(tmp_path: Path, call: Call) -> Iterator[House]:
    made = House(tmp_path, call)
    yield made
    made.stop()


def test_a_certificate_of_the_owners_own_is_remembered_at_the_first_connection(home: House) -> None:
    home.serve(home.self_signed())
    assert home.connects() is None
    pin = home.pins.load(home.place)
    assert pin is not None
    assert len(pin.sha256) == 64
    assert home.connects() is None
    assert home.pins.load(home.place) == pin


def test_another_certificate_is_refused_before_the_password_is_sent_until_it_is_accepted(
    home: House,
) -> None:
    home.serve(home.self_signed())
    assert home.connects() is None
    first = home.pins.load(home.place)
    home.serve(home.self_signed())  # with a new key
    failure = home.connects()
    assert failure is not None
    assert failure.cause == "refused"
    assert "another certificate than before" in failure.problem
    assert "accept it on the box's page" in failure.remedy
    pin = home.pins.load(home.place)
    assert first is not None
    assert pin is not None
    assert pin.sha256 == first.sha256
    assert in_pairs(pin.refused) in failure.problem
    assert home.connects() is not None  # again and again
    home.pins.save(CertificatePin(pin.place, pin.refused))
    assert home.connects() is None


def test_a_password_does_not_reach_a_machine_with_another_certificate(
    home: House, tmp_path: Path
) -> None:
    home.serve(home.self_signed())
    assert home.connects() is None
    home.stop()
    files = home.self_signed()
    log = tmp_path / "heard"
    home.serve(files)
    assert home.running is not None
    home.running.stop()
    home.running.options = (*home.running.options, f"log_dest file {log}", "log_type all")
    log.touch()
    log.chmod(0o666)
    home.running.start()
    assert home.connects() is not None
    assert "interlude" not in log.read_text()  # the client id, the first thing of a CONNECT
    pin = home.pins.stored()
    assert pin is not None
    home.pins.save(CertificatePin(pin.place, pin.refused))
    assert home.connects() is None
    assert "interlude-x" in log.read_text()


def test_a_certificate_that_an_authority_vouches_for_may_be_renewed_but_not_replaced_by_an_own_one(
    home: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(home.authority.certificate))
    home.serve(home.authority.issue("localhost"))
    assert home.connects() is None
    assert home.pins.load(home.place) == CertificatePin(home.place)
    home.serve(home.authority.issue("localhost"))
    assert home.connects() is None
    home.serve(home.self_signed())
    failure = home.connects()
    assert failure is not None
    assert "another certificate" in failure.problem
    home.serve(home.authority.issue("localhost"))
    assert home.connects() is None
    assert home.pins.load(home.place) == CertificatePin(home.place)


def test_an_own_certificate_may_be_replaced_by_one_of_an_authority(
    home: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(home.authority.certificate))
    home.serve(home.self_signed())
    assert home.connects() is None
    home.serve(home.authority.issue("localhost"))
    assert home.connects() is not None  # seen once, and remembered as refused
    assert home.connects() is None
    assert home.pins.load(home.place) == CertificatePin(home.place)


def test_a_clock_that_is_not_set_makes_no_certificate_an_own_one(
    home: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(home.authority.certificate))
    home.serve(home.authority.issue("localhost", begins="20990101000000Z"))
    failure = home.connects()
    assert failure is not None
    assert "not yet valid" in failure.problem
    assert home.pins.load(home.place) is None


def test_a_record_that_cannot_be_read_or_written_accepts_no_certificate(home: House) -> None:
    home.serve(home.self_signed())
    home.pins.file.write_text("{")
    failure = home.connects()
    assert failure is not None
    assert "damaged" in failure.problem
    home.pins.file.unlink()
    (home.folder / "none").symlink_to(home.folder / "gone")  # no folder can be made there
    home.pins = CertificatePins(home.folder / "none" / "file")
    failure = home.connects()
    assert failure is not None
    assert "cannot be remembered" in failure.problem


def test_a_named_authority_is_still_required(home: House) -> None:
    home.serve(home.self_signed())
    home.link = msgspec.structs.replace(home.link, ca_file=str(home.authority.certificate))
    failure = home.connects()
    assert failure is not None
    assert "not trusted" in failure.problem
    assert not home.pins.file.exists()
    home.serve(home.authority.issue("localhost"))
    assert home.connects() is None
    assert not home.pins.file.exists()

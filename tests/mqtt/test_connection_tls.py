"""A broker behind TLS: which certificates are trusted, and how a refused one is reported."""

from __future__ import annotations

from pathlib import Path

import pytest

from appliance.mqtt.connection import (
    BrokerConnected,
    BrokerDisconnected,
    PublishReceipt,
)
from lab.bench.mosquitto import Mosquitto
from tests.certificates import Authority
from tests.mqtt.caller import Call, at, with_tls
from tests.mqtt.conftest import Make

pytestmark = pytest.mark.process


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority(tmp_path)


@pytest.fixture
def tls_broker(mosquitto_with: Make, authority: Authority) -> Mosquitto:
    certificate, key = authority.issue("localhost")
    key.chmod(0o644)
    return mosquitto_with(
        "allow_anonymous true", f"certfile {certificate}", f"keyfile {key}",
        f"cafile {authority.certificate}", "require_certificate false",
    )  # fmt: skip


def test_a_broker_certified_by_the_configured_authority_is_trusted(
    tls_broker: Mosquitto, authority: Authority, call: Call
) -> None:
    caller = call(with_tls(tls_broker, ca_file=authority.certificate))
    caller.get(BrokerConnected)
    caller.session.publish("interlude/x/state", b"idle", qos=1, retain=True)
    assert caller.get(PublishReceipt).denied == ""


@pytest.mark.parametrize(
    ("host", "right_authority", "problem"),
    [("localhost", False, "not trusted"), ("127.0.0.1", True, "IP address mismatch")],
)
def test_a_certificate_of_another_authority_or_another_name_is_refused(
    tls_broker: Mosquitto, authority: Authority, call: Call, tmp_path: Path,
    host: str, right_authority: bool, problem: str,
) -> None:  # fmt: skip
    trusted = authority if right_authority else Authority(tmp_path, "a stranger")
    failure = (
        call(with_tls(tls_broker, host, ca_file=trusted.certificate))
        .get(BrokerDisconnected)
        .failure
    )
    assert failure.cause == "refused"
    assert problem in failure.problem
    assert "link.ca_file" in failure.remedy


def test_tls_on_a_plain_port_and_plain_on_a_tls_port_are_explained(
    broker: Mosquitto, tls_broker: Mosquitto, authority: Authority, call: Call
) -> None:
    wrong = call(with_tls(broker, ca_file=authority.certificate)).get(BrokerDisconnected).failure
    assert "link.port" in wrong.remedy
    assert "set `link.tls`" in call(at(tls_broker)).get(BrokerDisconnected).failure.remedy


def test_a_broker_that_requires_a_client_certificate_gets_ours(
    mosquitto_with: Make, authority: Authority, call: Call
) -> None:
    certificate, key = authority.issue("localhost")
    key.chmod(0o644)
    strict = mosquitto_with(
        f"certfile {certificate}", f"keyfile {key}", f"cafile {authority.certificate}",
        "require_certificate true", "allow_anonymous true",
    )  # fmt: skip
    client_certificate, client_key = authority.issue("box")
    trusted = {"ca_file": authority.certificate}
    assert "link.certificate_file" in str(
        call(with_tls(strict, "localhost", **trusted)).get(BrokerDisconnected).failure
    )
    call(
        with_tls(
            strict, "localhost", **trusted, certificate_file=client_certificate, key_file=client_key
        )
    ).get(BrokerConnected)

"""Failures of the connection: one sentence, a remedy, and the cause that sets the back-off."""

from __future__ import annotations

import dataclasses
import os
import socket
import ssl

import pytest

from appliance.errors import LinkError
from appliance.mqtt import failures
from appliance.mqtt.broker import Broker

AT = Broker("hall.example", 1883)


@pytest.mark.parametrize(
    ("error", "cause", "problem"),
    [
        (ConnectionRefusedError(), "away", "No broker listens at hall.example:1883."),
        (TimeoutError(), "away", "There is no answer from"),
        (socket.gaierror(-2, "unknown"), "away", "The name hall.example is not known"),
        (OSError(101, "Network is unreachable"), "away", "Network is unreachable"),
        (LinkError("Others may read it.", "chmod"), "refused", "Others may read it."),
        (RuntimeError("odd"), "away", "odd"),
    ],
)
def test_a_connection_error_becomes_one_sentence_and_a_cause(
    error: BaseException, cause: str, problem: str
) -> None:
    failure = failures.not_reached(error, AT)
    assert failure.cause == cause
    assert problem in failure.problem


@pytest.mark.parametrize(
    ("code", "user", "cause", "problem"),
    [
        (0x86, "box", "refused", "refuses the login of box"),
        (0x87, "", "refused", "requires a login"),
        (0x84, "", "away", "another version"),
        (0x8E, "", "taken", "Another box took our place"),
        (0x88, "", "away", "turned us away: Server unavailable"),
    ],
)
def test_a_refusal_by_the_broker_is_reported_with_its_reason(
    code: int, user: str, cause: str, problem: str
) -> None:
    at = Broker("hall.example", 1883, user, os.urandom(4).hex())
    failure = failures.refused(code, "Server unavailable", at)
    assert failure.cause == cause
    assert problem in failure.problem
    assert at.password not in str(failure)


def plain_answer() -> ssl.SSLError:
    """The error of a TLS handshake with a peer that does not speak TLS."""
    incoming = ssl.MemoryBIO()
    incoming.write(b"\x20\x02\x00\x01 a CONNACK, and no TLS")
    wire = ssl.create_default_context().wrap_bio(incoming, ssl.MemoryBIO(), server_hostname="x")
    with pytest.raises(ssl.SSLError) as failed:
        wire.do_handshake()
    return failed.value


@pytest.mark.parametrize(
    ("error", "cause", "problem"),
    [
        (plain_answer(), "refused", "does not speak TLS as we do"),
        (ConnectionResetError(), "away", "hung up instead of speaking TLS"),
    ],
)
def test_a_port_without_tls_is_reported_with_the_two_settings(
    error: OSError, cause: str, problem: str
) -> None:
    with_tls = dataclasses.replace(AT, tls=ssl.create_default_context())
    failure = failures.not_reached(error, with_tls)
    assert (failure.cause, problem in failure.problem) == (cause, True)
    assert "`link.port`" in failure.remedy
    assert "`link.tls`" in failure.remedy
    plain = failures.not_reached(ConnectionResetError(104, "reset"), AT)
    assert "TLS" not in str(plain)


def test_only_failures_of_a_possibly_older_broker_lead_to_another_protocol() -> None:
    older = [failures.closed(AT), failures.refused(0x84, "", AT)]
    others = [
        failures.silent(AT), failures.lost(AT), failures.flapping(AT), failures.nonsense(AT),
        failures.too_large(AT, 1 << 20, 1 << 16), failures.refused(0x87, "", AT),
        failures.not_reached(TimeoutError(), AT),
    ]  # fmt: skip
    assert all(failure.other_protocol for failure in older)
    assert not any(failure.other_protocol for failure in others)
    assert all("hall.example:1883" in str(failure) for failure in (*older, *others))

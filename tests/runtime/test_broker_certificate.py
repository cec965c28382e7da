"""The record of the broker's certificate: of one broker, and never taken for none by a fault."""

from __future__ import annotations

from pathlib import Path

import pytest

from appliance.errors import LinkError
from appliance.runtime.broker_certificate import CertificatePin, CertificatePins, in_pairs

PIN = CertificatePin("ha.local:8883", "ab" * 32)


@pytest.fixture
def pins(tmp_path: Path) -> CertificatePins:
    return CertificatePins(tmp_path / "pin.json")


def test_a_certificate_is_remembered_for_its_broker_only(pins: CertificatePins) -> None:
    assert pins.load(PIN.place) is None
    pins.save(PIN)
    assert pins.load(PIN.place) == pins.stored() == PIN
    assert pins.load("ha.local:8884") is None
    assert pins.file.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("data", [b"", b"{}", b"[" * 10_000, b"\xff"])
def test_a_damaged_record_is_a_fault_and_not_an_absent_one(
    pins: CertificatePins, data: bytes
) -> None:
    pins.file.write_bytes(data)
    with pytest.raises(LinkError, match="damaged"):
        pins.load(PIN.place)
    assert pins.stored() is None


def test_a_record_that_cannot_be_written_is_reported(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(LinkError, match="cannot be remembered"):
        CertificatePins(tmp_path / "file/pin.json").save(PIN)


def test_a_fingerprint_is_shown_as_openssl_shows_it() -> None:
    assert in_pairs("00ff1a") == "00:FF:1A"

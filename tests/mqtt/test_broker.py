"""How to reach the broker: port, password file and permissions, certificates."""

from __future__ import annotations

import ssl
from pathlib import Path

import msgspec
import pytest

from appliance.errors import LinkError
from appliance.mqtt.broker import OwnersBroker, broker
from appliance.runtime.network_status import NetworkStatus, write_status
from appliance.settings import LinkSettings, load_defaults
from tests.certificates import Authority

NO_ENVIRONMENT: dict[str, str] = {}


def link(**changes: object) -> LinkSettings:
    return msgspec.structs.replace(load_defaults().link, broker="hall.example", **changes)


def secret(path: Path, text: str = "hunter2\n", mode: int = 0o600) -> str:
    path.write_text(text)
    path.chmod(mode)
    return str(path)


# ── port ─────────────────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize(
    ("changes", "port"), [({}, 1883), ({"tls": True}, 8883), ({"tls": True, "port": 1999}, 1999)]
)
def test_the_port_is_the_standard_one_unless_the_owner_sets_another(
    changes: dict[str, object], port: int
) -> None:
    assert broker(link(**changes), NO_ENVIRONMENT).port == port


# ── the password ─────────────────────────────────────────────────────────────────────────────
def test_the_password_is_the_content_of_its_file_without_the_newline(tmp_path: Path) -> None:
    named = link(user="box", password_file=secret(tmp_path / "p", " hunter2 \n"))
    assert broker(named, NO_ENVIRONMENT).password == " hunter2 "  # noqa: S105


def test_a_password_that_others_may_read_is_refused_with_the_remedy(tmp_path: Path) -> None:
    path = secret(tmp_path / "p", mode=0o640)
    with pytest.raises(LinkError, match="Others may read the password") as wrong:
        broker(link(password_file=path), NO_ENVIRONMENT)
    assert wrong.value.remedy == f"chmod 600 {path}"
    assert "hunter2" not in str(wrong.value)


@pytest.mark.parametrize(
    ("text", "problem"), [(None, "cannot be found"), (b"\xff\xfe", "not UTF-8")]
)
def test_an_unusable_password_file_is_reported(
    tmp_path: Path, text: bytes | None, problem: str
) -> None:
    path = tmp_path / "p"
    if text is not None:
        path.touch(0o600)
        path.write_bytes(text)
    with pytest.raises(LinkError, match=problem):
        broker(link(password_file=str(path)), NO_ENVIRONMENT)


def test_without_a_password_file_the_systemd_credential_is_used(tmp_path: Path) -> None:
    secret(tmp_path / "mqtt-password", "from systemd", 0o440)
    environment = {"CREDENTIALS_DIRECTORY": str(tmp_path)}
    assert broker(link(), environment).password == "from systemd"  # noqa: S105
    mine = link(password_file=secret(tmp_path / "p", "mine"))
    assert broker(mine, environment).password == "mine"  # noqa: S105


def test_without_file_and_credential_the_password_is_empty(tmp_path: Path) -> None:
    assert broker(link(), NO_ENVIRONMENT).password == ""
    assert broker(link(), {"CREDENTIALS_DIRECTORY": str(tmp_path)}).password == ""


def test_root_at_a_shell_reads_the_file_behind_the_systemd_credential(tmp_path: Path) -> None:
    credential = Path(secret(tmp_path / "mqtt-password", "from disk"))
    assert broker(link(), NO_ENVIRONMENT, credential).password == "from disk"  # noqa: S105
    credential.chmod(0o644)
    with pytest.raises(LinkError, match="Others may read"):
        broker(link(), NO_ENVIRONMENT, credential)
    assert broker(link(), NO_ENVIRONMENT, tmp_path / "none").password == ""


def test_the_repr_of_a_broker_hides_the_password(tmp_path: Path) -> None:
    at = broker(link(password_file=secret(tmp_path / "p")), NO_ENVIRONMENT)
    assert "hunter2" not in repr(at)


# ── the network ──────────────────────────────────────────────────────────────────────────────
def test_in_an_unconfirmed_wifi_there_is_no_broker_and_its_password_is_not_read(
    tmp_path: Path,
) -> None:
    write_status(NetworkStatus(name="kitchen.local", unconfirmed="Street"), tmp_path)
    named = link(password_file=str(tmp_path / "none"))
    with pytest.raises(LinkError, match="the Wi-Fi Street, which its owner has not") as held:
        broker(named, NO_ENVIRONMENT, network=tmp_path)
    assert "Confirm it on the box's page" in held.value.remedy
    write_status(NetworkStatus(name="kitchen.local"), tmp_path)
    with pytest.raises(LinkError, match="cannot be found"):
        broker(named, NO_ENVIRONMENT, network=tmp_path)


def test_a_broker_that_was_read_before_is_not_used_in_an_unconfirmed_wifi(tmp_path: Path) -> None:
    owners = OwnersBroker(link(), tmp_path)
    first = owners.read(0.0)
    assert owners.read(1.0) is first
    write_status(NetworkStatus(unconfirmed="Street"), tmp_path)
    with pytest.raises(LinkError):
        owners.read(2.0)
    write_status(NetworkStatus(), tmp_path)
    assert owners.read(3.0) is first


# ── certificates ─────────────────────────────────────────────────────────────────────────────
@pytest.mark.process
def test_a_broker_with_tls_is_checked_by_name_and_authority(tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    at = broker(link(tls=True, ca_file=str(authority.certificate)), NO_ENVIRONMENT)
    assert at.tls is not None
    assert at.tls.check_hostname
    assert at.tls.verify_mode == ssl.CERT_REQUIRED


@pytest.mark.process
def test_a_client_certificate_needs_a_key_that_others_cannot_read(tmp_path: Path) -> None:
    certificate, key = Authority(tmp_path).issue("box")
    both: dict[str, object] = {"certificate_file": str(certificate), "key_file": str(key)}
    assert broker(link(tls=True, **both), NO_ENVIRONMENT).tls
    key.chmod(0o644)
    with pytest.raises(LinkError, match="Others may read the key"):
        broker(link(tls=True, **both), NO_ENVIRONMENT)


@pytest.mark.parametrize("setting", ["ca_file", "certificate_file"])
@pytest.mark.parametrize("text", [None, "", "-----BEGIN CERTIFICATE-----\nx\n"])
def test_an_unusable_certificate_file_is_reported(
    tmp_path: Path, setting: str, text: str | None
) -> None:
    path = tmp_path / "c.pem"
    if text is not None:
        path.write_text(text)
    with pytest.raises(LinkError) as wrong:
        broker(link(tls=True, **{setting: str(path)}), NO_ENVIRONMENT)
    assert str(path) in wrong.value.problem
    assert wrong.value.remedy

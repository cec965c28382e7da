"""How to reach the broker: secrets that are nobody else's, certificates that are what they say."""

from __future__ import annotations

import ssl
from pathlib import Path

import msgspec
import pytest

from appliance.errors import LinkError
from appliance.mqtt.broker import broker
from appliance.settings import LinkSettings, load_defaults
from tests.certificates import Authority

NOBODY: dict[str, str] = {}


def link(**changes: object) -> LinkSettings:
    return msgspec.structs.replace(load_defaults().link, broker="hall.example", **changes)


def secret(path: Path, text: str = "hunter2\n", mode: int = 0o600) -> str:
    path.write_text(text)
    path.chmod(mode)
    return str(path)


# ── where ────────────────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize(
    ("changes", "port"), [({}, 1883), ({"tls": True}, 8883), ({"tls": True, "port": 1999}, 1999)]
)
def test_the_port_is_the_usual_one_unless_the_owner_says_otherwise(
    changes: dict[str, object], port: int
) -> None:
    assert broker(link(**changes), NOBODY).port == port


# ── the password ─────────────────────────────────────────────────────────────────────────────
def test_the_password_is_the_files_without_its_line_end(tmp_path: Path) -> None:
    named = link(user="box", password_file=secret(tmp_path / "p", " hunter2 \n"))
    assert broker(named, NOBODY).password == " hunter2 "  # noqa: S105


def test_a_password_that_others_may_read_is_refused_with_the_remedy(tmp_path: Path) -> None:
    path = secret(tmp_path / "p", mode=0o640)
    with pytest.raises(LinkError, match="Others may read the password") as wrong:
        broker(link(password_file=path), NOBODY)
    assert wrong.value.remedy == f"chmod 600 {path}"
    assert "hunter2" not in str(wrong.value)


@pytest.mark.parametrize(("text", "said"), [(None, "cannot be found"), (b"\xff\xfe", "not UTF-8")])
def test_a_password_file_that_is_no_use_is_said_so(
    tmp_path: Path, text: bytes | None, said: str
) -> None:
    path = tmp_path / "p"
    if text is not None:
        path.touch(0o600)
        path.write_bytes(text)
    with pytest.raises(LinkError, match=said):
        broker(link(password_file=str(path)), NOBODY)


def test_without_a_file_systemds_credential_is_the_password(tmp_path: Path) -> None:
    secret(tmp_path / "mqtt-password", "from systemd", 0o440)
    given = {"CREDENTIALS_DIRECTORY": str(tmp_path)}
    assert broker(link(), given).password == "from systemd"  # noqa: S105
    mine = link(password_file=secret(tmp_path / "p", "mine"))
    assert broker(mine, given).password == "mine"  # noqa: S105


def test_with_neither_there_is_no_password(tmp_path: Path) -> None:
    assert broker(link(), NOBODY).password == ""
    assert broker(link(), {"CREDENTIALS_DIRECTORY": str(tmp_path)}).password == ""


def test_root_at_a_shell_reads_the_secret_that_the_unit_is_given(tmp_path: Path) -> None:
    theirs = Path(secret(tmp_path / "mqtt-password", "from disk"))
    assert broker(link(), NOBODY, theirs).password == "from disk"  # noqa: S105
    theirs.chmod(0o644)
    with pytest.raises(LinkError, match="Others may read"):
        broker(link(), NOBODY, theirs)
    assert broker(link(), NOBODY, tmp_path / "none").password == ""


def test_the_password_is_in_no_description_of_the_broker(tmp_path: Path) -> None:
    at = broker(link(password_file=secret(tmp_path / "p")), NOBODY)
    assert "hunter2" not in repr(at)


# ── certificates ─────────────────────────────────────────────────────────────────────────────
@pytest.mark.process
def test_a_broker_with_tls_is_checked_by_name_and_authority(tmp_path: Path) -> None:
    ours = Authority(tmp_path)
    at = broker(link(tls=True, ca_file=str(ours.certificate)), NOBODY)
    assert at.tls is not None
    assert at.tls.check_hostname
    assert at.tls.verify_mode == ssl.CERT_REQUIRED


@pytest.mark.process
def test_a_box_with_a_certificate_of_its_own_needs_a_key_that_is_its_alone(tmp_path: Path) -> None:
    certificate, key = Authority(tmp_path).issue("box")
    both: dict[str, object] = {"certificate_file": str(certificate), "key_file": str(key)}
    assert broker(link(tls=True, **both), NOBODY).tls
    key.chmod(0o644)
    with pytest.raises(LinkError, match="Others may read the key"):
        broker(link(tls=True, **both), NOBODY)


@pytest.mark.parametrize("setting", ["ca_file", "certificate_file"])
@pytest.mark.parametrize("text", [None, "", "-----BEGIN CERTIFICATE-----\nx\n"])
def test_a_certificate_that_is_none_is_said_so(
    tmp_path: Path, setting: str, text: str | None
) -> None:
    path = tmp_path / "c.pem"
    if text is not None:
        path.write_text(text)
    with pytest.raises(LinkError) as wrong:
        broker(link(tls=True, **{setting: str(path)}), NOBODY)
    assert str(path) in wrong.value.problem
    assert wrong.value.remedy

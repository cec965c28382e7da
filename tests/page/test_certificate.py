"""The owner's certificate: which are accepted, and the error for each that is not."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from appliance.errors import PageError
from appliance.page.certificate import CREDENTIAL, load_certificate, stamp
from appliance.settings import PageSettings, load
from tests.certificates import Authority

pytestmark = pytest.mark.process  # openssl(1) makes the certificates

NOBODY: dict[str, str] = {}  # an environment without credentials


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("authority"))


def page(certificate: Path | str, key: Path | str = "") -> PageSettings:
    config = {"certificate": str(certificate), "key": str(key)}
    return load(None, {"page": config}).page


def test_without_the_setting_there_is_no_certificate() -> None:
    assert load_certificate(page(""), NOBODY) is None
    assert stamp(page(""), NOBODY) == ()


def test_a_certificate_of_an_authority_is_accepted_with_its_names(authority: Authority) -> None:
    found = load_certificate(page(*authority.issue("kitchen.local")), NOBODY)
    assert found is not None
    assert (found.names, found.self_signed) == (("kitchen.local",), False)
    assert 0 < found.until_s - time.time() < 3 * 86_400


def test_a_self_signed_certificate_is_recognised(authority: Authority) -> None:
    found = load_certificate(page(*authority.self_signed("kitchen.local")), NOBODY)
    assert found is not None
    assert found.self_signed


def test_the_key_can_be_a_credential_of_the_unit(authority: Authority, tmp_path: Path) -> None:
    certificate, key = authority.issue("kitchen.local")
    (tmp_path / CREDENTIAL).write_bytes(key.read_bytes())
    handed_over = {"CREDENTIALS_DIRECTORY": str(tmp_path)}
    assert load_certificate(page(certificate), handed_over) is not None
    (tmp_path / CREDENTIAL).write_text("\n")  # SetCredential= of the unit
    with pytest.raises(PageError, match="has no key"):
        load_certificate(page(certificate), handed_over)


Spoiled = Callable[[Authority, Path], PageSettings]


def expired(authority: Authority, folder: Path) -> PageSettings:
    return page(*authority.issue("old.local", days=-1))


def not_yet(authority: Authority, folder: Path) -> PageSettings:
    return page(*authority.issue("young.local", begins="20991231235959Z"))


def of_clients(authority: Authority, folder: Path) -> PageSettings:
    return page(*authority.issue("client.local", usage="clientAuth"))


def of_another(authority: Authority, folder: Path) -> PageSettings:
    return page(authority.issue("kitchen.local")[0], authority.issue("other.local")[1])


def no_pem(authority: Authority, folder: Path) -> PageSettings:
    (folder / "page.pem").write_bytes(b"\x30\x82nothing")
    return page(folder / "page.pem", authority.issue("kitchen.local")[1])


def for_others(authority: Authority, folder: Path) -> PageSettings:
    certificate, key = authority.issue("open.local")
    key.chmod(0o640)
    return page(certificate, key)


def without_key(authority: Authority, folder: Path) -> PageSettings:
    return page(authority.issue("kitchen.local")[0])


def key_gone(authority: Authority, folder: Path) -> PageSettings:
    return page(authority.issue("kitchen.local")[0], folder / "nowhere.key")


def gone(authority: Authority, folder: Path) -> PageSettings:
    return page(folder / "nowhere.pem")


@pytest.mark.parametrize(
    ("spoiled", "problem"),
    [
        (expired, "has expired"), (not_yet, "is not valid yet"), (of_clients, "not one for serv"),
        (of_another, "do not belong together"), (no_pem, "do not belong together"),
        (for_others, r"Others may read the key .*0640"), (without_key, "has no key"),
        (key_gone, "nowhere.key cannot be read"), (gone, "nowhere.pem cannot be read"),
    ],
)  # fmt: skip
def test_an_unusable_certificate_is_an_error_with_a_remedy(
    authority: Authority, tmp_path: Path, spoiled: Spoiled, problem: str
) -> None:
    with pytest.raises(PageError, match=problem) as raised:
        load_certificate(spoiled(authority, tmp_path), NOBODY)
    assert raised.value.remedy


def test_a_new_certificate_changes_its_stamp(authority: Authority) -> None:
    config = page(*authority.issue("kitchen.local"))
    before = stamp(config, NOBODY)
    assert before == stamp(config, NOBODY)
    authority.issue("kitchen.local")
    assert stamp(config, NOBODY) != before
    Path(config.key).unlink()
    assert stamp(config, NOBODY)[1] == (0, 0)

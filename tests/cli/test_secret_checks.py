"""The findings of `interlude check` about the page's certificate."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from appliance.cli.secret_checks import page_finding, secret_findings
from appliance.page.certificate import RENEW_S
from appliance.settings import Settings, load
from tests.certificates import Authority

pytestmark = pytest.mark.process  # openssl(1) makes the certificates


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("authority"))


def settings(certificate: Path | str, key: Path | str, *, enabled: bool = True) -> Settings:
    page = {"enabled": enabled, "certificate": str(certificate), "key": str(key)}
    return load(None, {"page": page})


def test_a_valid_certificate_is_reported_with_its_names_and_expiry_date(
    authority: Authority,
) -> None:
    page = settings(*authority.issue("kitchen.local", days=60)).page
    found = page_finding(page, time.time(), {})
    assert found.verdict == "ok"
    assert "for kitchen.local, until 20" in found.sentence


def test_a_certificate_that_expires_soon_is_a_warning(authority: Authority) -> None:
    page = settings(*authority.issue("kitchen.local", days=60)).page
    found = page_finding(page, time.time() + 60 * 86_400 - RENEW_S + 60, {})
    assert found.verdict == "warning"
    assert "new one" in found.remedy


def test_an_expired_certificate_is_a_problem_with_a_remedy(authority: Authority) -> None:
    found = page_finding(settings(*authority.issue("kitchen.local", days=-1)).page, 0.0, {})
    assert found.verdict == "problem"
    assert "keeps the previous certificate" in found.sentence
    assert "has expired" in found.sentence
    assert found.remedy


def test_without_a_certificate_or_a_page_there_is_no_finding(authority: Authority) -> None:
    assert list(secret_findings(settings("", ""))) == []
    assert list(secret_findings(settings("/nowhere.pem", "", enabled=False))) == []
    assert [finding.looked_at for finding in secret_findings(settings("/nowhere.pem", ""))] == [
        "page"
    ]

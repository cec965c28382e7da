"""The certificate while the page runs: renewed, damaged, near its expiry. Times are arguments."""

from __future__ import annotations

import shutil
import time
from pathlib import Path

import pytest

from appliance.page.certificate import RENEW_S
from appliance.page.certificate_watch import AGAIN_S, CertificateWatch, watch
from appliance.page.texts import Texts
from appliance.settings import load
from tests.certificates import Authority
from tests.page.desk import Desk

pytestmark = pytest.mark.process  # openssl(1) makes the certificates

DAY_S = 86_400
ENGLISH = Texts("en")
NOBODY: dict[str, str] = {}


class Files:
    """Certificate and key at the configured paths, watched since time 0."""

    def __init__(self, folder: Path) -> None:
        self.authority = Authority(folder)
        self.certificate, self.key = folder / "page.pem", folder / "page.key"
        self.write(days=60)
        config = {"certificate": str(self.certificate), "key": str(self.key)}
        found = watch(load(None, {"page": config}).page, 0.0, NOBODY)
        assert found is not None
        self.watch: CertificateWatch = found

    def write(self, days: int) -> None:
        made = self.authority.issue("kitchen.local", days=days)
        for source, place in zip(made, (self.certificate, self.key), strict=True):
            shutil.copy2(source, place)

    def look(self, now_s: float) -> bool:
        return self.watch.look(now_s, time.time(), NOBODY) is not None

    def notices(self, wall_s: float | None = None) -> list[str]:
        return self.watch.notices(ENGLISH, time.time() if wall_s is None else wall_s)


@pytest.fixture
def files(tmp_path: Path) -> Files:
    return Files(tmp_path)


def test_without_a_certificate_nothing_is_watched() -> None:
    assert watch(load(None, {}).page, 0.0, NOBODY) is None


def test_a_new_certificate_is_loaded_once(files: Files) -> None:
    before = files.watch.served
    assert not files.look(2.0)
    files.write(days=90)
    assert files.look(4.0)
    assert files.watch.served.until_s - before.until_s > 29 * DAY_S
    assert not files.look(6.0)
    assert files.notices() == []


@pytest.mark.parametrize("spoiled", ["expired", "cut off", "gone", "key of another"])
def test_an_unusable_certificate_keeps_the_previous_one_and_is_reported(
    files: Files, spoiled: str, caplog: pytest.LogCaptureFixture
) -> None:
    before = files.watch.served
    match spoiled:
        case "expired":
            files.write(days=-1)
        case "cut off":
            files.certificate.write_bytes(files.certificate.read_bytes()[:100])
        case "gone":
            files.certificate.unlink()
        case _:
            shutil.copy2(files.authority.issue("other.local")[1], files.key)
    assert not files.look(2.0)
    assert not files.look(4.0)
    assert files.watch.served is before
    assert ["the previous one stays in use" in one for one in files.notices()] == [True]
    assert len(caplog.records) == 1, "logged once, not at each check"
    files.write(days=60)
    assert files.look(6.0)
    assert files.notices() == []


def test_a_refused_certificate_is_retried_later_without_a_change_of_its_file(
    files: Files,
) -> None:
    files.key.chmod(0o644)  # the file and its stamp stay the same
    files.write(days=60)
    files.key.chmod(0o644)
    assert not files.look(2.0)
    files.key.chmod(0o600)
    assert not files.look(1.0 + AGAIN_S)
    assert files.look(2.0 + AGAIN_S)


def test_the_expiry_is_shown_from_two_weeks_before_and_logged_once_before_and_after(
    files: Files, caplog: pytest.LogCaptureFixture
) -> None:
    end_s = files.watch.served.until_s
    assert files.notices(end_s - RENEW_S - 60) == []
    assert "expires on 20" in files.notices(end_s - RENEW_S + 60)[0]
    assert "expired on 20" in files.notices(end_s + 60)[0]
    for late_s in (-RENEW_S + 60, -RENEW_S + 120, 60, 120):
        files.watch.look(1.0, end_s + late_s, NOBODY)
    assert len(caplog.records) == 2


def test_certificate_notices_are_shown_to_paired_browsers_only(desk: Desk, files: Files) -> None:
    files.write(days=-1)
    files.look(2.0)
    desk.box.certificate = files.watch
    assert "the previous one stays in use" not in desk.text("/own")
    desk.pair()
    for path in ("/own", "/access"):
        assert "the previous one stays in use" in desk.text(path)
    assert "the previous one stays in use" not in desk.text("/")

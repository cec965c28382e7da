"""The page's process with a certificate: a bad one stops the page and not the box, and a new one is
loaded without a restart."""

from __future__ import annotations

import http.client
import shutil
import socket
import ssl
from collections.abc import Iterator
from pathlib import Path

import pytest

from appliance.settings import load
from lab.free_port import free_port
from tests.certificates import Authority
from tests.supervised import SupervisedPart

pytestmark = pytest.mark.process


class OwnersFiles:
    """Certificate and key at the configured paths."""

    def __init__(self, folder: Path) -> None:
        self.authority = Authority(folder)
        self.certificate, self.key = folder / "page.pem", folder / "page.key"
        self.port = free_port()

    def write(self, days: int = 2) -> None:
        """Replace the certificate by a new one for this machine."""
        for made, place in zip(
            self.authority.issue("localhost", days=days), (self.certificate, self.key), strict=True
        ):
            shutil.copy2(made, place)

    def serial(self) -> str:
        """The serial number of the served certificate; "" while no page is served."""
        context = ssl.create_default_context(cafile=str(self.authority.certificate))
        try:
            with (
                socket.create_connection(("127.0.0.1", self.port), timeout=20) as plain,
                context.wrap_socket(plain, server_hostname="localhost") as secure,
            ):
                shown = secure.getpeercert()
                return str(shown["serialNumber"]) if shown else ""
        except OSError:
            return ""


@pytest.fixture
def files(tmp_path: Path) -> OwnersFiles:
    return OwnersFiles(tmp_path)


@pytest.fixture
def page(files: OwnersFiles, tmp_path: Path) -> Iterator[SupervisedPart]:
    config = {
        "enabled": True, "port": files.port, "listen": "127.0.0.1",
        "certificate": str(files.certificate), "key": str(files.key),
    }  # fmt: skip
    with SupervisedPart("page", load(None, {"state_dir": str(tmp_path), "page": config})) as part:
        yield part


def test_an_expired_certificate_stops_the_page_until_a_new_one_is_written(
    files: OwnersFiles, page: SupervisedPart
) -> None:
    files.write(days=-1)
    page.until(lambda: page.supervisor.is_ready)
    first = page.supervisor.parts["page"].starts
    for _ in range(50):
        page.poll()
        assert files.serial() == ""
    assert page.supervisor.is_ready
    assert page.supervisor.parts["page"].starts == first, "the process waits and does not exit"
    files.write()
    page.until(files.serial)


def test_a_renewed_certificate_is_loaded_without_a_restart_and_a_bad_one_is_not(
    files: OwnersFiles, page: SupervisedPart
) -> None:
    files.write()
    page.until(files.serial)
    before, starts = files.serial(), page.supervisor.parts["page"].starts
    files.certificate.write_text("spoiled")
    for _ in range(150):  # at least 3 s: the page checks every 2 s
        page.poll()
        assert files.serial() == before
    files.write()
    page.until(lambda: files.serial() not in ("", before))
    assert page.supervisor.parts["page"].starts == starts
    connection = http.client.HTTPSConnection(
        "localhost", files.port, timeout=20,
        context=ssl.create_default_context(cafile=str(files.authority.certificate)),
    )  # fmt: skip
    connection.request("GET", "/")
    assert connection.getresponse().status == 200
    connection.close()

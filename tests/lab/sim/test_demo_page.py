"""The page of a box that plays a scene: the printed address opens it, and nothing is spoken."""

from __future__ import annotations

import http.client
import re
from pathlib import Path
from urllib.parse import urlencode

import pytest

from appliance.messages.commands import Say
from appliance.page.pairing import printed_digits
from appliance.page.requests import FORM
from appliance.runtime.listening_socket import try_listen
from appliance.settings import load
from lab.sim import rehearsal_cli, scene
from lab.sim.demo_page import HOST, DemoPage
from lab.sim.rehearsal import Rehearsal
from tests.english import ESPEAK


def test_an_occupied_port_is_replaced_by_a_free_one(tmp_path: Path) -> None:
    with try_listen((HOST, 0)) as listener:
        port = listener.getsockname()[1]
        wanted = load(None, {"page": {"port": port}})
        assert DemoPage(wanted, tmp_path, print).settings.page.port != port
    assert DemoPage(wanted, tmp_path, print).settings.page.port == port


def test_the_page_listens_locally_and_changes_no_file_of_the_owner(tmp_path: Path) -> None:
    unsafe = load(None, {"page": {"listen": "0.0.0.0", "enabled": False}})  # noqa: S104  # refused
    page = DemoPage(unsafe, tmp_path, print)
    assert page.settings.page.wanted
    assert page.settings.page.addresses == ((HOST, page.settings.page.port),)
    assert str(tmp_path / "settings.yaml") in page.environment.values()
    assert printed_digits(page.environment) == page.digits


class Visitor:
    """Opens the page as soon as its address is printed."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.html = ""

    def visit(self) -> None:
        found = re.search(r"open http://([\d.]+):(\d+) .* digits are ([\d ]+)\.", self.lines[0])
        assert found
        host, port, digits = found.groups()
        connection = http.client.HTTPConnection(host, int(port), timeout=60)
        form = {"Content-Type": FORM, "Origin": f"http://{host}:{port}"}
        connection.request("POST", "/pair", urlencode({"code": digits}), form)
        reply = connection.getresponse()
        reply.read()
        assert reply.status == 303, reply.status
        cookie = (reply.getheader("Set-Cookie") or "").partition(";")[0]
        connection.request("GET", "/", headers={"Cookie": cookie})
        self.html = connection.getresponse().read().decode()
        connection.close()


@pytest.mark.process
@pytest.mark.usefixtures("simcard_library")
def test_the_printed_address_and_digits_open_the_page_and_nothing_is_spoken(tmp_path: Path) -> None:
    visitor = Visitor()
    page = DemoPage(ESPEAK, tmp_path, visitor.lines.append)

    def during(rehearsal: Rehearsal) -> None:
        page.print_address(rehearsal)
        if visitor.lines and not visitor.html:
            visitor.visit()

    cough = {"at_s": 0.2, "noise": "cough", "kind": "noise"}
    parsed = scene.parse({"owner": [cough]}, name="test", folder=Path())
    reader = rehearsal_cli.perform(
        parsed, page.settings, during=during, environment=page.environment
    )
    page.print_past_address()
    assert 'id="picture"' in visitor.html
    assert not list(reader.recording.messages_of(Say))
    assert [page.address in line for line in visitor.lines] == [True, True]

"""The set-up page in a real browser: a submitted form arrives."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from appliance.provision.network_manager import WifiInReach
from appliance.provision.setup_access import OPEN, SetupAccess
from appliance.provision.setup_server import serve
from appliance.provision.submitted_form import FILE
from appliance.runtime.listening_socket import try_listen
from tests.page.chromium import Chromium
from tests.waiting import until

pytestmark = pytest.mark.process

HEARD = (WifiInReach("Home", -50, True), WifiInReach("Next door", -80, True))


@pytest.fixture
def port(tmp_path: Path) -> Iterator[int]:
    with try_listen(("127.0.0.1", 0)) as free:
        found = int(free.getsockname()[1])
    access = tmp_path / OPEN
    access.write_bytes(msgspec.json.encode(SetupAccess("127.0.0.1", found, HEARD)))
    thread = threading.Thread(target=serve, args=(tmp_path, tmp_path))
    thread.start()
    yield found
    access.unlink()
    thread.join()


def test_a_form_submitted_by_a_browser_is_accepted(tmp_path: Path, port: int) -> None:
    with Chromium(360) as browser:
        browser.open(f"http://127.0.0.1:{port}/")
        browser.run("document.querySelector('input[name=wifi]').focus()")
        browser.type("Home")
        browser.run("document.querySelector('input[name=password]').focus()")
        browser.type("correct horse")
        browser.press("Enter")
        browser.until("document.querySelector('form') === null && document.body?.innerText")
        assert "Thank you" in browser.run("document.body.innerText")
    until((tmp_path / FILE).exists)
    assert msgspec.json.decode((tmp_path / FILE).read_bytes())["wifi"] == "Home"


@pytest.mark.parametrize("width", [360, 1280])
def test_nothing_is_wider_than_the_screen_and_the_details_open_with_the_keyboard(
    port: int, width: int
) -> None:
    with Chromium(width) as browser:
        browser.open(f"http://127.0.0.1:{port}/")
        assert browser.run("document.querySelector('details').open") is False
        browser.run("document.querySelector('summary').focus()")
        browser.press("Enter")
        browser.until("document.querySelector('details').open")
        wide = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        assert browser.run(wide) == 0
        small = "[...document.querySelectorAll('input:not([type=hidden]), select, button')]"
        assert browser.run(f"{small}.every(each => each.getBoundingClientRect().height >= 40)")

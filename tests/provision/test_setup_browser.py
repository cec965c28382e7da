"""The set-up page in a real browser: what is typed arrives."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import msgspec
import pytest

from appliance.provision.setup_server import OPEN, SetupAccess, server
from appliance.provision.submitted_form import FILE
from tests.page.chromium import Chromium

pytestmark = pytest.mark.process


def test_a_form_that_a_browser_sends_is_taken(tmp_path: Path) -> None:
    said = SetupAccess("127.0.0.1", 0)
    (tmp_path / OPEN).write_bytes(msgspec.json.encode(said))
    made = server(tmp_path, said, tmp_path)
    thread = threading.Thread(target=made.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        with Chromium(tmp_path / "profile", 360) as browser:
            browser.open(f"http://127.0.0.1:{made.server_address[1]}/")
            browser.run("document.querySelector('input[name=wifi]').focus()")
            browser.type("Home")
            browser.run("document.querySelector('input[name=password]').focus()")
            browser.type("correct horse")
            browser.press("Enter")
            browser.until("document.querySelector('form') === null && document.body.innerText")
            assert "Thank you" in browser.run("document.body.innerText")
        end_s = time.monotonic() + 20
        while not (tmp_path / FILE).exists():
            assert time.monotonic() < end_s
        assert msgspec.json.decode((tmp_path / FILE).read_bytes())["wifi"] == "Home"
    finally:
        made.shutdown()
        thread.join()
        made.server_close()

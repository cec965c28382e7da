"""A waiting page in a real browser: it refreshes by itself and loses no typed text."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from appliance.page.visit import COOKIE
from appliance.runtime.handed_request import RequestOutcome, tell
from appliance.settings.network_change import NETWORK
from tests.page.chromium import Chromium
from tests.page.desk import Desk
from tests.page.pairing_states import hears, presses
from tests.page.served import Served, served_desk
from tests.page.views import ASKS_BUTTON, enters_wifi

pytestmark = [pytest.mark.process, pytest.mark.timeout(240)]


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    for name in ("wanted", "changed"):
        (tmp_path / name).mkdir()
    (tmp_path / "localtime").symlink_to("/usr/share/zoneinfo/Europe/Berlin")
    return Desk(tmp_path, handed=True)


@pytest.fixture
def serve(desk: Desk) -> Iterator[Callable[[], Served]]:
    made: list[Served] = []

    def begin() -> Served:
        made.append(served_desk(desk))
        return made[-1]

    yield begin
    for one in made:
        one.close()


@pytest.fixture
def browser() -> Iterator[Chromium]:
    with Chromium(360) as made:
        made.tell("Network.enable")
        yield made


def test_a_browser_that_waits_for_the_button_is_admitted_without_a_reload(
    desk: Desk, serve: Callable[[], Served], browser: Chromium
) -> None:
    served = serve()
    browser.open(f"http://127.0.0.1:{served.port}/")
    browser.run(ASKS_BUTTON)
    browser.until("document.querySelector('.pulse')?.innerText.includes('Listen to the end')")
    served.do(lambda: hears(desk))
    browser.until("document.querySelector('.pulse').innerText.includes('press its button now')")
    assert browser.run("document.querySelector('p.code').innerText") == "4 8"
    served.do(lambda: presses(desk))
    browser.until("document.querySelector('#picture') !== null")
    assert browser.errors == []


def test_typed_text_is_kept_and_the_outcome_is_shown(
    desk: Desk, serve: Callable[[], Served], browser: Chromium, tmp_path: Path
) -> None:
    desk.pair()
    enters_wifi(desk)
    place = f"http://127.0.0.1:{serve().port}"
    browser.tell("Network.setCookie", name=COOKIE, value=desk.cookies[COOKIE], url=place)
    browser.open(f"{place}/set/network")
    browser.run("document.querySelector('[name=wifi]').focus()")
    browser.type("Attic")
    (tmp_path / "wanted" / NETWORK).unlink()
    outcome = RequestOutcome(desk.box.machine.network.last, "The password of Home does not fit.")
    tell(NETWORK, outcome, tmp_path / "changed")
    browser.until("document.querySelector('[role=alert]')?.innerText.includes('does not fit')")
    assert browser.run("document.querySelector('[name=wifi]').value") == "Attic"
    assert browser.run("document.activeElement.name") == "wifi"
    assert "does not fit" in browser.run("document.querySelector('body > [role=status]').innerText")
    assert browser.errors == []

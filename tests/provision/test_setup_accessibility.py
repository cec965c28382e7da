"""The set-up page on a phone (dark, German) and on a desktop (light, English): axe-core finds no
serious violation, and nothing is wider than the screen."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from appliance.provision.seed import Seed
from appliance.provision.setup_site import SetupSite
from tests.page.accessibility import findings
from tests.page.chromium import Chromium
from tests.page.served import Served
from tests.page.test_accessibility import OVER, Screen, tab_through
from tests.page.views import submit

pytestmark = [pytest.mark.process, pytest.mark.timeout(240)]


@pytest.fixture(params=["phone", "desk"])
def screen(request: pytest.FixtureRequest) -> Iterator[Screen]:
    phone = request.param == "phone"
    with Chromium(360 if phone else 1280, dark=phone) as browser:
        made = Screen(browser, phone)
        browser.tell("Network.enable")
        browser.tell("Network.setExtraHTTPHeaders", headers={"Accept-Language": made.language})
        yield made


def test_the_set_up_is_accessible_from_the_form_to_the_result(screen: Screen) -> None:
    typed: list[Seed] = []
    problems = ["", "The password of Home does not fit."]

    def site(port: int) -> SetupSite:
        names = ("Home", "A network with as many letters as fit")
        return SetupSite(
            f"127.0.0.1:{port}", typed.append, lambda: 0.0, names, problem=lambda: problems[0]
        )

    served, browser = Served(site), screen.browser
    try:
        place = f"http://127.0.0.1:{served.port}/"
        browser.open(place)
        look(screen)
        browser.run("document.querySelector('details').open = true")
        look(screen)
        problems.reverse()
        browser.open(place)
        assert "does not fit" in browser.run("document.body.innerText")
        look(screen)
        browser.run("document.body.dataset.old = '1'")
        browser.run(submit("form", wifi="Home", password="short"))
        browser.until("document.readyState === 'complete' && !document.body?.dataset.old")
        assert browser.run("document.querySelector('[role=alert]') !== null")
        look(screen)
        browser.run(submit("form", wifi="Home", password="correct horse"))
        browser.until("document.readyState === 'complete' && !document.querySelector('form')")
        look(screen)
        assert [seed.wifi.name for seed in typed if seed.wifi] == [b"Home"]
    finally:
        served.close()


def look(screen: Screen) -> None:
    browser = screen.browser
    assert browser.run("document.documentElement.lang") == screen.language
    assert [finding for finding in findings(browser) if finding.grave] == []
    assert browser.run(OVER) <= 0, "wider than the screen"
    if screen.phone:
        tab_through(browser)

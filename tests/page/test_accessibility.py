"""Every view of the page: axe-core finds nothing serious, nothing is wider than the screen, and the
keyboard reaches everything; at phone size, dark and in German, and at desktop size, light and in
English."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from appliance.page.site import PAGES
from appliance.page.visit import COOKIE
from tests.page.accessibility import findings
from tests.page.chromium import Chromium
from tests.page.desk import Desk
from tests.page.served import Served, served_desk
from tests.page.views import VIEWS, View

pytestmark = [pytest.mark.process, pytest.mark.timeout(240)]

OVER = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
# The elements that Tab has to reach. A group of radio buttons would be one stop; there is none.
STOPS = """[...document.querySelectorAll(
  "a[href], button, input, select, textarea, summary, [tabindex]")].filter(
  one => !one.disabled && one.type !== "hidden"
          && one.checkVisibility({visibilityProperty: true})).length"""
# A number of the focused element that no other gets, even if the page renews a part of itself
# meanwhile; whether the focus is visible.
WHERE = """(() => { const one = document.activeElement;
  if (!one || one === document.body) return ["", true];
  one.dataset.stop ??= String(window.lastStop = (window.lastStop ?? 0) + 1);
  const drawn = getComputedStyle(one);
  return [one.dataset.stop, drawn.outlineStyle !== "none" && parseFloat(drawn.outlineWidth) >= 2];
})()"""


@dataclass
class Screen:
    browser: Chromium
    phone: bool

    @property
    def language(self) -> str:
        return "de" if self.phone else "en"


@pytest.fixture(scope="module", params=["phone", "desk"])
def screen(request: pytest.FixtureRequest) -> Iterator[Screen]:
    phone = request.param == "phone"
    with Chromium(360 if phone else 1280, dark=phone) as browser:
        browser.tell("Network.enable")
        made = Screen(browser, phone)
        browser.tell("Network.setExtraHTTPHeaders", headers={"Accept-Language": made.language})
        yield made


@pytest.fixture
def served() -> Iterator[list[Served]]:
    made: list[Served] = []
    yield made
    for one in made:
        one.close()


def show(view: View, screen: Screen, folder: Path, served: list[Served]) -> None:
    """Open the view in the browser."""
    for name in ("wanted", "changed"):
        (folder / name).mkdir()
    (folder / "localtime").symlink_to("/usr/share/zoneinfo/Europe/Berlin")
    desk = Desk(folder, handed=view.handed, panel={"gpio": "keyboard" if view.handed else "none"})
    if not view.stranger:
        desk.pair()
    view.prepare(desk)
    served.append(served_desk(desk))
    browser, place = screen.browser, f"http://127.0.0.1:{served[-1].port}"
    browser.tell("Network.clearBrowserCookies")
    browser.errors.clear()
    if not view.stranger:
        browser.tell("Network.setCookie", name=COOKIE, value=desk.cookies[COOKIE], url=place)
    browser.open(place + view.path)
    if view.act:
        browser.run("document.body.dataset.old = '1'")
        browser.run(view.act)
        browser.until("document.readyState === 'complete' && !document.body?.dataset.old")
    if view.then is not None:
        then = view.then
        served[-1].do(lambda: then(desk))
        browser.open(place + view.path)


@pytest.mark.parametrize("view", VIEWS, ids=lambda view: view.name)
def test_every_view_is_accessible_fits_the_screen_and_works_by_keyboard(
    view: View, screen: Screen, tmp_path: Path, served: list[Served]
) -> None:
    show(view, screen, tmp_path, served)
    browser = screen.browser
    if screen.language == "en":
        assert view.shows in browser.run("document.body.innerText")
    assert browser.run("document.documentElement.lang") == screen.language
    assert [one for one in findings(browser) if one.grave] == []
    assert browser.run(OVER) <= 0, "wider than the screen"
    if screen.phone:  # the tab order is the same at both sizes
        tab_through(browser)
    own = [error for error in browser.errors if f":{served[-1].port}/" in error]
    assert [error for error in own if "status of 4" not in error] == []


def tab_through(browser: Chromium) -> None:
    """Check that Tab reaches every element and that each shows the focus."""
    wanted = browser.run(STOPS)
    seen = dict[str, bool]()
    for _ in range(wanted + 2):
        browser.press("Tab")
        stop, drawn = browser.run(WHERE)
        if stop:
            seen[stop] = drawn
    assert len(seen) == wanted, "the keyboard does not reach everything"
    assert all(seen.values()), "the focus is not visible"


def test_every_page_is_shown_by_a_view() -> None:
    shown = {view.path for view in VIEWS}
    files = {"/own/backup/file"}  # a download, not a view
    assert {path for path, route in PAGES.items() if route.get is not None} - files <= shown

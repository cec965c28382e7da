"""The live view in a real browser: changes and failures are reported; a narrow picture can show the
whole minute; the line of timers follows the box."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from appliance.messages.commands import SetMode, SetVoice, SetVolume, StateChanged, StopSpeaking
from appliance.messages.tools import ShownTimer, TimersList
from appliance.page.visit import COOKIE
from tests.page.chromium import Chromium
from tests.page.desk import Desk
from tests.page.served import Served, served_desk
from tests.page.test_left_open import show
from tests.waiting import until

pytestmark = [pytest.mark.process, pytest.mark.timeout(240)]

TOLD = "document.querySelector('#told').textContent"
WIDE, NARROW = 1280, 360


@pytest.fixture
def served(desk: Desk) -> Iterator[Served]:
    one = served_desk(desk)
    yield one
    one.close()


@pytest.fixture(params=["en"])
def browser(desk: Desk, served: Served, request: pytest.FixtureRequest) -> Iterator[Chromium]:
    with Chromium(NARROW) as one:
        one.tell("Network.enable")
        one.tell("Network.setExtraHTTPHeaders", headers={"Accept-Language": request.param})
        opened(one, served, desk)
        yield one


GERMAN = pytest.mark.parametrize("browser", ["de"], indirect=True)


def opened(browser: Chromium, served: Served, desk: Desk) -> None:
    """Open the live view in a paired browser."""
    address = f"http://127.0.0.1:{served.port}/"
    cookie = desk.box.access.let_in("test")
    browser.tell("Network.setCookie", name=COOKIE, value=cookie, url=address, httpOnly=True)
    browser.open(address)
    browser.until("document.querySelector('#hint').hidden")


def choose(browser: Chromium, field: str, value: str) -> None:
    """Choose a value as a user does: focus the field and change it."""
    browser.run(
        f"(() => {{ const field = document.querySelector('#{field}'); field.focus();"
        f" field.value = '{value}'; field.dispatchEvent(new Event('change')) }})()"
    )


def test_a_change_is_confirmed_in_a_live_region(browser: Chromium, desk: Desk) -> None:
    assert browser.run("document.querySelector('#told').role") == "status"
    assert browser.run(TOLD) == ""
    browser.run("document.querySelector('#volume').focus()")
    browser.press("ArrowLeft")
    browser.until(f"{TOLD} === 'Volume set to 75 %.'")
    choose(browser, "mode", "wake_word")
    browser.until(f"{TOLD} === 'It now listens after the wake word.'")
    choose(browser, "voice", "amy")
    browser.until(f"{TOLD} === 'Voice set to amy.'")
    assert desk.sent == [SetVolume(0.75), SetMode("wake_word"), SetVoice("amy")]
    assert browser.errors == []


@GERMAN
def test_a_change_is_confirmed_in_german(browser: Chromium) -> None:
    choose(browser, "volume", "60")
    browser.until(f"{TOLD} === 'Lautstärke 60 %: eingestellt.'")


@pytest.mark.parametrize(
    ("browser", "says"),
    [("en", "That did not work. It is starting,"), ("de", "Das ging nicht. Es startet gerade")],
    indirect=["browser"],
)
def test_a_refusal_is_shown_with_its_reason_and_the_field_returns_to_the_real_value(
    browser: Chromium, desk: Desk, says: str
) -> None:
    desk.accepts_messages = False
    choose(browser, "volume", "20")
    browser.until(f"{TOLD}.startsWith('{says}')")
    assert browser.run("document.querySelector('#told').className.includes('bad')")
    assert browser.run("document.querySelector('#volume').value") == "80"
    desk.accepts_messages = True
    choose(browser, "volume", "20")
    browser.until(f"{TOLD}.includes('20 %')")
    assert not browser.run("document.querySelector('#told').className.includes('bad')")
    assert browser.run("document.querySelector('#volume').value") == "20"


def test_a_mode_that_needs_a_button_is_refused_with_its_reason(browser: Chromium) -> None:
    # The page dates from when there was a button.
    browser.run("document.querySelector('#mode [value=push_to_talk]').disabled = false")
    choose(browser, "mode", "push_to_talk")
    browser.until(f"{TOLD} === 'That did not work. This box has no button to hold.'")
    assert browser.run("document.querySelector('#mode').value") == "open"


def test_a_removed_browser_is_told_so(browser: Chromium, served: Served, desk: Desk) -> None:
    served.do(lambda: desk.box.access.revoke(desk.box.access.browsers[0].id))
    choose(browser, "voice", "amy")
    browser.until(f"{TOLD}.includes('it was removed. Reload the page')")
    assert desk.sent == []


@pytest.mark.parametrize(
    ("browser", "says"),
    [("en", "There is no connection to the box."), ("de", "Es gibt keine Verbindung zum Gerät.")],
    indirect=["browser"],
)
def test_a_lost_connection_is_shown(browser: Chromium, says: str) -> None:
    browser.tell(
        "Network.emulateNetworkConditions",
        offline=True, latency=0, downloadThroughput=-1, uploadThroughput=-1,
    )  # fmt: skip
    choose(browser, "mode", "wake_word")
    browser.until(f"{TOLD}.endsWith('{says}')")
    assert browser.run("document.querySelector('#mode').value") == "open"


def test_a_stop_that_does_not_arrive_is_reported_beside_its_button(
    browser: Chromium, desk: Desk
) -> None:
    told = "document.querySelector('.quick [role=status]').textContent"
    desk.accepts_messages = False
    browser.run("document.querySelector('#stop').click()")
    browser.until(f"{told}.startsWith('That did not work.')")
    desk.accepts_messages = True
    browser.run("document.querySelector('#stop').click()")
    browser.until(f"{told} === ''")
    until(lambda: desk.sent == [StopSpeaking()] * 2, within_s=20)


# ── the span of a narrow picture
# Whether the ribbon along the top contains the colour of this state.
SHOWS = """(name) => {
  const c = document.querySelector("#picture"), ink = c.getContext("2d");
  const probe = new OffscreenCanvas(1, 1).getContext("2d");
  probe.fillStyle = getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
  probe.fillRect(0, 0, 1, 1);
  const wanted = probe.getImageData(0, 0, 1, 1).data.join();
  const row = ink.getImageData(0, 2, c.width, 1).data;
  for (let n = 0; n < row.length; n += 4) if (row.slice(n, n + 4).join() === wanted) return true;
  return false;
}"""
PRESSED = "[...document.querySelectorAll('#spans [aria-pressed=true]')].map((one) => one.innerText)"


def wait_for_picture(browser: Chromium, *, failed: bool) -> None:
    """Wait until the picture is drawn with or without the failure of 40 s ago."""
    browser.until(f"({SHOWS})('thinking') && ({SHOWS})('failed') === {str(failed).lower()}")


@pytest.fixture
def past_failure(desk: Desk) -> None:
    """A failure from 45 s to 35 s ago."""
    for ago_s, state in ((45, "failed"), (35, "thinking")):
        at_ns = round((desk.now_s - ago_s) * 1e9)
        desk.box.model.handle(StateChanged(state, 1, at_ns), desk.now_s)  # type: ignore[arg-type]


@pytest.mark.usefixtures("past_failure")
def test_a_narrow_picture_can_show_the_whole_minute_by_keyboard_for_the_visit(
    browser: Chromium, served: Served
) -> None:
    wait_for_picture(browser, failed=False)
    assert browser.run(PRESSED) == ["Last 24 s"]
    browser.run("document.querySelector('#spans button').focus()")
    browser.press("Tab")
    assert browser.run("document.activeElement.innerText") == "Whole minute"
    browser.press(" ")
    wait_for_picture(browser, failed=True)
    assert browser.run(PRESSED) == ["Whole minute"]
    browser.open(f"http://127.0.0.1:{served.port}/access")
    browser.open(f"http://127.0.0.1:{served.port}/")
    browser.until("document.querySelector('#hint').hidden")
    wait_for_picture(browser, failed=True)
    assert browser.run(PRESSED) == ["Whole minute"]
    browser.run("document.querySelector('#spans button').click()")
    wait_for_picture(browser, failed=False)
    assert browser.errors == []


@GERMAN
def test_the_span_buttons_are_labelled_in_german(browser: Chromium) -> None:
    names = "[...document.querySelectorAll('#spans button')].map((one) => one.innerText)"
    assert browser.run(names) == ["Letzte 24 s", "Ganze Minute"]


@pytest.mark.usefixtures("past_failure")
def test_a_wide_picture_always_shows_the_minute_and_offers_no_choice(
    served: Served, desk: Desk
) -> None:
    with Chromium(WIDE) as browser:
        opened(browser, served, desk)
        wait_for_picture(browser, failed=True)
        hidden = "getComputedStyle(document.querySelector('#spans')).display === 'none'"
        assert browser.run(hidden)
        size = {"height": 800, "deviceScaleFactor": 1, "mobile": False}
        browser.tell("Emulation.setDeviceMetricsOverride", width=NARROW, **size)
        browser.until(f"!({hidden})")
        wait_for_picture(browser, failed=False)
        browser.tell("Emulation.setDeviceMetricsOverride", width=WIDE, **size)
        browser.until(hidden)
        wait_for_picture(browser, failed=True)


# ── the line of timers
def test_the_line_of_timers_follows_the_box_and_keeps_the_focus(
    browser: Chromium, served: Served, desk: Desk
) -> None:
    line = "document.querySelector('#timers')"
    assert browser.run(f"{line}.hidden")
    tea = ShownTimer(1, False, "tea", 1.8e9, 60.0)
    show(served, desk, TimersList((tea,)))
    browser.until(f"{line}.innerText.startsWith('A timer or an alarm is set, due at 2027-01-15')")
    browser.run(f"{line}.querySelector('a').focus()")
    show(served, desk, TimersList((tea, ShownTimer(2, True, "", 1.8e9 + 5))))
    browser.until(f"{line}.innerText.startsWith('2 timers and alarms')")
    assert browser.run("document.activeElement.getAttribute('href')") == "/own/timers"
    assert "tea" not in browser.run("document.documentElement.outerHTML")
    show(served, desk, TimersList())
    browser.until(f"{line}.hidden")
    assert browser.errors == []

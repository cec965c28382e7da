"""The page in a real browser, by keyboard alone; wide, and as narrow as a phone."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from appliance.messages.commands import BoxStatus, Mute, Say, SetVolume, StateChanged
from appliance.messages.hearing import Onset, Opinion, Verdict
from appliance.messages.playback import PlaybackPaused, PlaybackStarted, PlaybackStopped
from appliance.messages.registry import Message
from appliance.messages.speech import Spoken
from appliance.messages.thinking import AnswerHeard, Sentence
from appliance.messages.viewing import LiveView, SoundLevels
from appliance.settings import load
from lab.free_port import free_port
from tests.page.chromium import Chromium
from tests.supervised import SupervisedPart

pytestmark = [pytest.mark.process, pytest.mark.timeout(240)]

# The number of colours in the picture: a canvas that exists need not be drawn.
COLOURS = """(() => {
  const c = document.querySelector("#picture"), seen = new Set();
  const d = new Uint32Array(c.getContext("2d").getImageData(0, 0, c.width, c.height).data.buffer);
  for (const pixel of d) if (pixel >>> 24) seen.add(pixel);
  return seen.size;
})()"""


@pytest.fixture
def page(tmp_path: Path) -> Iterator[SupervisedPart]:
    config = {"enabled": True, "port": free_port(), "listen": "127.0.0.1"}
    settings = load(None, {"state_dir": str(tmp_path / "state"), "page": config})
    with SupervisedPart("page", settings) as part:
        part.until(lambda: part.supervisor.is_ready)
        part.mail.send(BoxStatus("open", False, 0.8, "espeak", "pocket"))
        yield part


def place(page: SupervisedPart) -> str:
    return f"http://127.0.0.1:{page.supervisor._settings.page.port}/"


def let_in(page: SupervisedPart, browser: Chromium) -> None:
    """Pair by the digits, by keyboard alone: the field has the focus when the page opens."""
    browser.open(place(page))
    browser.run("document.querySelector('form[action=\"/pair/code\"] button').focus()")
    browser.press("Enter")
    page.until(lambda: page.told(Say), within_s=60)
    browser.until("document.activeElement?.name === 'code'")
    browser.type(re.sub(r"\D", "", page.told(Say)[-1].text))
    browser.press("Enter")
    browser.until("document.querySelector('#picture') !== null")
    page.until(lambda: page.told(LiveView), within_s=60)


def talk(page: SupervisedPart) -> None:
    """An answer that the owner interrupts."""
    now = round(time.monotonic() * 16_000)
    loud, quiet = (-12,) * 5, (-70,) * 5
    messages: tuple[Message, ...] = (
        StateChanged("speaking", 3, time.monotonic_ns()),
        PlaybackStarted(3, now - 32_000),
        Spoken(3, 0, 0, 96_000, 5.0),
        *(SoundLevels(now - 32_000 + n * 3200, quiet, loud) for n in range(8)),
        Onset(7, now - 6400, speaking=True),
        PlaybackPaused(3, 7, 25_600, now - 5920),
        Opinion(7, 300, 0.05, 0.91, 0.04),
        Verdict(7, "interruption", 300),
        PlaybackStopped(3, 25_600, now - 1000),
        SoundLevels(now - 6400, loud, quiet),
    )
    for message in messages:
        assert page.mail.send(message)


@pytest.mark.parametrize(("width", "dark"), [(1280, False), (360, True)])
def test_a_browser_pairs_and_shows_who_has_the_floor(
    page: SupervisedPart, width: int, dark: bool
) -> None:
    with Chromium(width, dark=dark) as browser:
        let_in(page, browser)
        talk(page)
        browser.until("document.querySelector('#floor').textContent === 'The box is speaking'")
        browser.until("document.querySelector('#stops .p50').textContent === '30'")
        line = browser.until(
            "[...document.querySelectorAll('#events li')].map(e => e.innerText)"
            ".find(text => text.includes('not said'))"
        )
        for words in (
            "You spoke over",
            "silent after 30 ms",
            "91 % sure after 300 ms",
            "4.4 s not",
        ):
            assert words in line
        browser.until(f"{COLOURS} > 20")
        assert browser.run("document.documentElement.scrollWidth - innerWidth") <= 0
        assert browser.errors == []


def test_volume_and_microphone_can_be_set_by_keyboard(page: SupervisedPart) -> None:
    with Chromium() as browser:
        let_in(page, browser)
        for _ in range(12):
            browser.press("Tab")
            if browser.run("document.activeElement.id") == "volume":
                break
        browser.press("ArrowLeft")
        page.until(lambda: page.told(SetVolume), within_s=60)
        assert page.told(SetVolume)[0] == SetVolume(0.75)
        browser.run("document.querySelector('#mute').focus()")
        browser.press("Enter")
        page.until(lambda: page.told(Mute), within_s=60)
        page.mail.send(BoxStatus("open", True, 0.75, "espeak", "pocket"))
        browser.until("document.querySelector('#mute')?.textContent === 'Turn the microphone on'")
        assert browser.errors == []


NOW = """(ask => { ask.open("GET", "/", false); ask.send();
return ask.responseText.includes("Turn the microphone on") })(new XMLHttpRequest())"""


def test_changes_during_a_lost_connection_are_shown(page: SupervisedPart) -> None:
    with Chromium() as browser:
        let_in(page, browser)
        browser.run("dispatchEvent(new Event('pagehide'))")  # ends the event stream
        page.until(lambda: page.told(LiveView)[-1] == LiveView(on=False), within_s=60)
        page.mail.send(BoxStatus("open", True, 0.75, "espeak", "pocket"))
        browser.until(NOW)
        assert (
            browser.run("document.querySelector('#mute').textContent") == "Turn the microphone off"
        )
        browser.run("dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))")
        browser.until("document.querySelector('#mute')?.textContent === 'Turn the microphone on'")
        assert browser.errors == []


def test_words_are_shown_on_request_and_disappear_with_the_page(page: SupervisedPart) -> None:
    with Chromium() as browser:
        let_in(page, browser)
        assert LiveView(on=True, words=True) not in page.messages
        browser.run("document.querySelector('#words').click()")
        page.until(lambda: LiveView(on=True, words=True) in page.messages, within_s=60)
        browser.until("document.querySelector('#hint').hidden")
        page.mail.send(Sentence(4, 0, "Paris is the capital of France."))
        page.mail.send(AnswerHeard(4, "Paris is the", complete=False))
        browser.until("document.querySelector('#events s')?.textContent === 'capital of France.'")
        browser.open(place(page) + "access")
        page.until(lambda: page.told(LiveView)[-1] == LiveView(on=False), within_s=60)
        browser.open(place(page))
        assert "Paris" not in browser.run("document.body.innerText")

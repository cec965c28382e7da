"""Trials and enrolment in a real browser: meters and cards change on an open page."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from appliance.messages.commands import BoxStatus, StateChanged
from appliance.messages.enrolling import AskTake, BeginEnrolment, EnrolmentLearnt, TakeJudged
from appliance.messages.hearing import WakeNearMiss, WakeScore, WakeWordHeard
from appliance.messages.registry import Message
from appliance.messages.trying import EndTrial, SoundRecording
from appliance.messages.viewing import SoundLevels
from appliance.pcm import RATE_HZ
from appliance.settings import load
from lab.free_port import free_port
from tests.page.chromium import PATIENCE_S, Chromium
from tests.page.test_browser import let_in, place
from tests.supervised import SupervisedPart

pytestmark = [pytest.mark.process, pytest.mark.timeout(240)]
SIZES = [(1280, False), (360, True)]


@pytest.fixture
def page(tmp_path: Path) -> Iterator[SupervisedPart]:
    config = {"enabled": True, "port": free_port(), "listen": "127.0.0.1"}
    settings = load(
        None, {"state_dir": str(tmp_path / "state"), "page": config, "mode": "wake_word"}
    )
    with SupervisedPart("page", settings) as part:
        part.until(lambda: part.supervisor.is_ready)
        part.mail.send(BoxStatus("wake_word", False, 0.8, "espeak", "pocket"))
        part.mail.send(StateChanged("idle", 0, 0))
        yield part


def wait_for_text(browser: Chromium, text: str) -> None:
    browser.until(f"document.body?.innerText.includes({text!r})")


def send_until(page: SupervisedPart, browser: Chromium, message: Message, script: str) -> None:
    """Send a meter's message until it shows: messages before the stream is open are lost."""
    end_s = time.monotonic() + PATIENCE_S
    while not browser.run(script):
        assert time.monotonic() < end_s, script
        page.mail.send(message)
        time.sleep(0.2)


@pytest.mark.parametrize(("width", "dark"), SIZES)
def test_an_enrolment_is_followed_on_the_open_page(
    page: SupervisedPart, tmp_path: Path, width: int, dark: bool
) -> None:
    with Chromium(width, dark=dark) as browser:
        let_in(page, browser)
        browser.open(place(page) + "own/voice")
        wait_for_text(browser, "Nobody is enrolled")
        browser.run("window.stays = true")
        browser.run("document.querySelector('button[value=begin]').click()")
        page.until(lambda: bool(page.told(AskTake)))
        begun = page.told(BeginEnrolment)[-1]
        assert isinstance(begun, BeginEnrolment)
        number = begun.number
        wait_for_text(browser, "The box asks for")
        page.mail.send(SoundRecording(number, on=True))
        wait_for_text(browser, "now.")
        levels = SoundLevels(RATE_HZ, (-30, -25, -20, -22, -28), (-96,) * 5)
        send_until(page, browser, levels, "document.getElementById('level').value === -20")
        page.mail.send(SoundRecording(number, on=False))
        page.mail.send(TakeJudged(number, 1, "short"))
        wait_for_text(browser, "now: too short")
        page.mail.send(SoundRecording(number, on=True))
        page.mail.send(TakeJudged(number, 2, None))
        wait_for_text(browser, "1 of 18 words are accepted")
        assert browser.run("document.documentElement.scrollWidth - innerWidth") <= 0
        assert browser.run("window.stays"), "the page was not reloaded"
        browser.picture(tmp_path / f"enrol-{width}-{'dark' if dark else 'light'}.png")
        browser.run("document.querySelector('button[value=cancel]').click()")
        wait_for_text(browser, "It was stopped.")
        page.until(lambda: bool(page.told(EndTrial)))
        assert browser.errors == []


def test_without_a_script_an_enrolment_is_followed_by_page_refreshes(page: SupervisedPart) -> None:
    with Chromium(360) as browser:
        let_in(page, browser)
        browser.tell("Emulation.setScriptExecutionDisabled", value=True)
        browser.open(place(page) + "own/voice")
        browser.run("document.querySelector('button[value=begin]').click()")
        page.until(lambda: bool(page.told(AskTake)))
        begun = page.told(BeginEnrolment)[-1]
        assert isinstance(begun, BeginEnrolment)
        wait_for_text(browser, "The box asks for")
        page.mail.send(EnrolmentLearnt(begun.number, "too-few"))
        wait_for_text(browser, "Too few words could be used")


@pytest.mark.parametrize(("width", "dark"), SIZES)
def test_near_misses_appear_on_the_open_page_with_the_sensitivity_they_needed(
    page: SupervisedPart, tmp_path: Path, width: int, dark: bool
) -> None:
    with Chromium(width, dark=dark) as browser:
        let_in(page, browser)
        browser.open(place(page) + "try")
        wait_for_text(browser, "okay nabu")
        near = WakeScore(0.42, 0.9)
        send_until(page, browser, near, "document.getElementById('score').value === 0.42")
        for miss in range(11):
            page.mail.send(WakeNearMiss((miss + 1) * RATE_HZ, 0.6 + miss / 100, 0.9, 1.5))
        page.mail.send(WakeNearMiss(20 * RATE_HZ, 0.2, 0.9, 3.5))
        page.mail.send(WakeWordHeard(30 * RATE_HZ, "okay nabu", 0.97))
        browser.until("document.querySelectorAll('#wake tbody tr').length === 10")
        browser.until("document.querySelector('#wake tbody').innerText.includes('0.97')")
        rows = browser.run("document.querySelector('#wake tbody').innerText")
        assert "0.7" in rows, "the sensitivity that would have heard it"
        assert browser.run("document.documentElement.scrollWidth - innerWidth") <= 0

        browser.picture(tmp_path / f"wake-{width}-{'dark' if dark else 'light'}.png")
        assert browser.errors == []

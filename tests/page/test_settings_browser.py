"""The settings in a real browser: at phone width, by keyboard, into the owner's file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from appliance.messages.commands import BoxStatus, Restart, SetVolume
from appliance.settings import load
from lab.free_port import free_port
from tests.page.chromium import Chromium
from tests.page.test_browser import let_in, place
from tests.supervised import SupervisedPart

pytestmark = [pytest.mark.process, pytest.mark.timeout(240)]

TEXT = "# mine\nlink:\n  broker: ha.local  # upstairs\n"
# Fields and buttons too small for a finger or outside the window; the minimum height is 40 px.
SMALL = """[...document.querySelectorAll("main button, main select, main input:not([type=hidden])")]
  .filter(one => { const at = one.getBoundingClientRect(); return at.width &&
    ((at.height < 40 && one.type !== "checkbox") || at.left < 0 || at.right > innerWidth); })
  .map(one => one.outerHTML)"""


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The owner's settings file."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    made = tmp_path / "config/interlude/settings.yaml"
    made.parent.mkdir(parents=True)
    made.write_text(TEXT)
    return made


@pytest.fixture
def page(tmp_path: Path, file: Path) -> Iterator[SupervisedPart]:
    config = {"enabled": True, "port": free_port(), "listen": "127.0.0.1"}
    settings = load(file, {"state_dir": str(tmp_path / "state"), "page": config})
    with SupervisedPart("page", settings) as part:
        part.until(lambda: part.supervisor.is_ready)
        part.mail.send(BoxStatus("open", False, 0.8, "espeak", "pocket", voices=("espeak", "amy")))
        yield part


def submit(browser: Chromium, button: str, says: str) -> None:
    """Press a button by keyboard and wait for a page with this text."""
    browser.until(f"document.querySelector({button!r}) !== null")
    browser.run(f"document.querySelector({button!r}).focus()")
    browser.press("Enter")
    browser.until(f"document.querySelector('main')?.innerText.includes({says!r})")


@pytest.mark.parametrize(("width", "dark"), [(360, True), (1280, False)])
def test_a_setting_is_changed_refused_and_undone_from_a_phone(
    page: SupervisedPart, file: Path, tmp_path: Path, width: int, dark: bool
) -> None:
    with Chromium(width, dark=dark) as browser:
        let_in(page, browser)
        browser.open(place(page) + "set")
        assert browser.run("document.documentElement.scrollWidth - innerWidth") <= 0
        assert browser.run(SMALL) == []
        browser.run("document.querySelector('[name=\"link.user\"]').focus()")
        browser.type("bob")
        browser.run("document.querySelector('[name=secret]').focus()")
        browser.type("correct horse")
        house = 'form:has([name="link.user"]) button.main'
        submit(browser, house, "Saved.")
        assert load(file).link.user == "bob"
        assert "# upstairs" in file.read_text()
        assert (file.parent / "mqtt-password").read_text() == "correct horse\n"
        assert "horse" not in browser.run("document.documentElement.outerHTML")
        assert "after a restart" in browser.run("document.body.innerText")
        browser.picture(tmp_path / f"set-{width}.png")
        # A bad value is reported, and the typed text is kept.
        browser.run("document.querySelector('[name=\"panel.night\"]').value = '25:00-07:00'")
        submit(browser, 'form:has([name="panel.night"]) button.main', "Night: what was typed")
        night = "document.querySelector('[name=\"panel.night\"]').value"
        assert browser.run(night) == "25:00-07:00"
        assert load(file).link.user == "bob"
        submit(browser, 'form[action="/set/undo"] button', "undone")
        assert file.read_text() == TEXT
        assert not (file.parent / "mqtt-password").exists()
        assert [one for one in browser.errors if "400" not in one] == []


def test_immediate_settings_and_a_restart_are_sent_to_the_box(
    page: SupervisedPart, file: Path
) -> None:
    file.write_text(f"{TEXT}language: de\n")
    with Chromium(360) as browser:
        let_in(page, browser)
        browser.open(place(page) + "set")
        browser.run("document.querySelector('#volume').focus()")
        browser.press("ArrowLeft")
        submit(browser, "form:has(#volume) button", "Settings")
        page.until(lambda: page.told(SetVolume), within_s=60)
        assert page.told(SetVolume) == [SetVolume(0.75)]
        submit(browser, "form:has([value=restart]) button", "Settings")
        page.until(lambda: page.told(Restart), within_s=60)
        assert browser.errors == []

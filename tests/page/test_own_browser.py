"""The pages of This box in a real browser, narrow and wide, and a backup and its restore."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from appliance.messages.commands import BoxStatus, Restart
from appliance.page.backup_file import Backup, BackupTurn, pack, unpack
from appliance.runtime import restore_files
from appliance.runtime.restore_files import WANTED
from appliance.settings import load
from lab.free_port import free_port
from tests.page.chromium import Chromium
from tests.page.test_browser import let_in, place
from tests.supervised import SupervisedPart

pytestmark = [pytest.mark.process, pytest.mark.timeout(240)]

PAGES = ("", "/timers", "/memory", "/models", "/software", "/backup", "/report")
BACKUP = Backup(1.8e9, "0.1.0", "Attic", (BackupTurn("2026", 1, "", 1.0, "Yes.", True),), ())


@pytest.fixture
def page(tmp_path: Path) -> Iterator[SupervisedPart]:
    config = {"enabled": True, "port": free_port(), "listen": "127.0.0.1"}
    settings = load(None, {"state_dir": str(tmp_path / "state"), "page": config})
    with SupervisedPart("page", settings) as part:
        part.until(lambda: part.supervisor.is_ready)
        part.mail.send(BoxStatus("open", False, 0.8, "espeak", "pocket"))
        yield part


@pytest.mark.parametrize(("width", "dark"), [(1280, False), (360, True)])
def test_every_page_of_this_box_fits_the_screen_and_obeys_the_policy(
    page: SupervisedPart, width: int, dark: bool
) -> None:
    with Chromium(width, dark=dark) as browser:
        let_in(page, browser)
        for name in PAGES:
            browser.open(f"{place(page)}own{name}")
            assert browser.run("document.documentElement.scrollWidth - innerWidth") <= 0, name
        assert browser.errors == []


def test_a_backup_is_uploaded_reviewed_and_restored(page: SupervisedPart, tmp_path: Path) -> None:
    file = tmp_path / "interlude.zip"
    file.write_bytes(pack(BACKUP))
    with Chromium(360) as browser:
        let_in(page, browser)
        browser.open(place(page) + "own/backup")
        root = browser.tell("DOM.getDocument")["root"]["nodeId"]
        field = browser.tell("DOM.querySelector", nodeId=root, selector="input[type=file]")
        browser.tell("DOM.setFileInputFiles", files=[str(file)], nodeId=field["nodeId"])
        browser.run("document.querySelector('form[enctype] button').click()")
        browser.until("document.body?.innerText.includes('0 turns become 1')")
        assert not page.told(Restart)
        browser.run("document.querySelector('form[action$=\"/restore\"] button').click()")
        page.until(lambda: page.told(Restart), within_s=60)
    wanted = restore_files.archive(page.supervisor._settings.state_path(), WANTED)
    assert unpack(wanted.read_bytes()) == BACKUP


def test_a_backup_is_saved_and_the_page_still_lists_its_contents(
    page: SupervisedPart, tmp_path: Path
) -> None:
    saved = tmp_path / "saved"
    saved.mkdir()
    with Chromium(360) as browser:
        let_in(page, browser)
        browser.tell("Page.setDownloadBehavior", behavior="allow", downloadPath=str(saved))
        browser.open(place(page) + "own/backup")
        browser.run("document.querySelector('form[action=\"/own/backup\"] button').click()")
        browser.until("document.body?.innerText.includes('Not in it: passwords')")
        browser.run("document.querySelector('form[action$=\"/file\"] button').click()")
        end_s = time.monotonic() + 40.0
        while not (files := sorted(saved.glob("*.zip"))) and time.monotonic() < end_s:
            time.sleep(0.1)
        assert [file.name[:10] for file in files] == ["interlude-"]
        assert unpack(files[0].read_bytes()).turns == ()
        assert browser.run("document.body.innerText.includes('Not in it: passwords')"), (
            "the text stays"
        )

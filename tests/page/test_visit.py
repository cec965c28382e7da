"""What a view can use of its request."""

from __future__ import annotations

from pathlib import Path

from appliance.language.catalogue import catalogue
from appliance.messages.commands import BoxStatus
from appliance.page.visit import set_cookie
from appliance.runtime.process_table import PROCESSES
from tests.page.desk import Desk


def test_the_title_is_the_configured_name(tmp_path: Path) -> None:
    assert "<title>Kitchen &lt;3</title>" in Desk(tmp_path, link={"name": "Kitchen <3"}).text("/")


def test_a_deleted_cookie_expires_at_once() -> None:
    name, value = set_cookie("a", "", 0)
    assert name == "Set-Cookie"
    assert "Max-Age=0" in value


def test_an_unpaired_browser_gets_no_token(desk: Desk) -> None:
    assert 'name="token"' not in desk.text("/")


def test_a_notice_shows_the_boxs_value_to_paired_browsers_only(desk: Desk) -> None:
    asked = "/?said=page-notice-set-volume"
    assert "Volume" not in desk.text(asked)
    desk.pair()
    assert "Volume set to 80 %." in desk.text(asked)
    desk.box.model.status = None
    assert ">Volume set to" not in desk.text(asked)


def test_broken_parts_are_named_in_the_browsers_language(desk: Desk) -> None:
    desk.pair()
    for name, german in (("the microphone", "Mikrofon"), ("thinker", "Sprachmodell"), ("x", "x")):
        status = BoxStatus("open", True, 0.8, "espeak", "pocket", broken=(name,))
        desk.box.model.handle(status, desk.now_s)
        for path in ("/", "/own"):
            assert german in desk.get(path, accept_language="de").body.decode()
    whole = {row.name for row in PROCESSES} | {"the microphone", "the loudspeaker"}
    keys = {f"page-part-{name.replace(' ', '-')}" for name in whole}
    assert keys <= catalogue("de").messages.keys()

"""What an answer may use of its request."""

from __future__ import annotations

from pathlib import Path

from appliance.page.visit import set_cookie
from tests.page.desk import Desk


def test_the_boxes_name_is_its_owners(tmp_path: Path) -> None:
    assert "<title>Kitchen &lt;3</title>" in Desk(tmp_path, link={"name": "Kitchen <3"}).text("/")


def test_a_cookie_that_is_taken_back_ends_at_once() -> None:
    name, value = set_cookie("a", "", 0)
    assert name == "Set-Cookie"
    assert "Max-Age=0" in value


def test_a_stranger_has_no_token(desk: Desk) -> None:
    assert 'name="token"' not in desk.text("/")

"""Pairing as a browser sees it."""

from __future__ import annotations

from pathlib import Path

import pytest

from appliance.messages.commands import Say
from appliance.page.on_pairing import browser_name
from appliance.page.pairing import Pairing
from appliance.page.visit import COOKIE, WAITING
from tests.page.desk import CODE, Desk


def test_the_box_speaks_the_digits_one_by_one_and_no_page_shows_them(desk: Desk) -> None:
    assert desk.post("/pair/code").headers[0] == ("Location", "/pair")
    assert desk.sent == [
        Say("Somebody wants to open my page. The digits are: 4, 8, 2. 9, 1, 3.", chime=True)
    ]
    assert CODE not in desk.text("/pair")


def test_a_paired_browser_is_announced_and_listed(desk: Desk) -> None:
    desk.post("/pair/code")
    agent = "Mozilla/5.0 (Android 15; Mobile) Gecko/140.0 Firefox/140.0"
    assert desk.post("/pair", {"code": CODE}, user_agent=agent).status == 303
    assert desk.sent[-1] == Say("A new browser may use my page now: Firefox, Android.")
    page = desk.text("/access")
    assert "Firefox, Android" in page
    assert "this one" in page


def test_wrong_digits_are_refused_with_a_message(desk: Desk) -> None:
    desk.post("/pair/code")
    reply = desk.post("/pair", {"code": "111111"})
    assert reply.status == 403
    assert b"That is not right" in reply.body
    assert COOKIE not in desk.cookies


def test_the_button_admits_the_waiting_browser(desk: Desk) -> None:
    assert desk.post("/pair/button").status == 303
    assert desk.cookies.keys() == {WAITING}
    assert 'http-equiv="refresh"' in desk.text("/")
    desk.box.pairing.press(desk.now_s)
    assert desk.get("/").status == 303
    assert desk.cookies.keys() == {COOKIE}
    assert "canvas" in desk.text("/")


def test_a_press_without_a_waiting_browser_admits_none(desk: Desk) -> None:
    desk.box.pairing.press(desk.now_s)
    assert desk.post("/pair/button").status == 303
    assert desk.get("/").status == 200
    assert COOKIE not in desk.cookies


def test_requests_for_spoken_digits_are_rate_limited(desk: Desk) -> None:
    codes = [desk.post("/pair/code").status for _ in range(6)]
    assert codes == [303] * 3 + [429] * 3
    assert len(desk.sent) == 3


@pytest.mark.parametrize("way", ["/pair", "/pair/button"])
def test_with_a_passphrase_digits_or_button_alone_are_not_enough(desk: Desk, way: str) -> None:
    desk.pair()
    form = {"passphrase": "blue kettle", "token": desk.token}
    assert desk.post("/access/passphrase", form).status == 303
    desk.cookies.clear()
    desk.now_s += 200
    desk.post("/pair/code")
    assert 'name="passphrase"' in desk.text("/pair")
    assert desk.post(way, {"code": CODE, "passphrase": "red kettle"}).status == 403
    assert desk.post(way, {"code": CODE, "passphrase": "blue kettle"}).status == 303


def test_revoking_another_access_keeps_ones_own(desk: Desk, tmp_path: Path) -> None:
    desk.pair()
    first = dict(desk.cookies)
    desk.cookies.clear()
    desk.now_s += 200
    desk.pair()
    (other, _) = desk.box.access.browsers
    desk.post("/access/revoke", {"id": other.id, "token": desk.token})
    assert "canvas" in desk.text("/")
    desk.cookies = first
    assert "canvas" not in desk.text("/")


@pytest.mark.parametrize(
    ("language", "own", "others", "gone"),
    [
        ("en", "Log out (remove this browser)", "Remove this browser", "is logged out"),
        ("de", "Abmelden (diesen Browser entfernen)", "Diesen Browser entfernen", "ist abgemeldet"),
    ],
)
def test_the_own_row_logs_out_and_other_rows_remove(
    desk: Desk, language: str, own: str, others: str, gone: str
) -> None:
    desk.box.access.let_in("Safari, iPhone")
    desk.pair()
    page = desk.get("/access", accept_language=language).body.decode()
    rows = page.split("<li>")[1:]
    assert ['class="tag"' in row for row in rows] == [False, True]
    assert [f">{own}</button>" in row for row in rows] == [False, True]
    assert [f">{others}</button>" in row for row in rows] == [True, False]
    mine = desk.box.access.browsers[1].id
    reply = desk.post("/access/revoke", {"id": mine, "token": desk.token})
    page = desk.get(dict(reply.headers)["Location"], accept_language=language).body.decode()
    assert gone in page
    assert "canvas" not in page


@pytest.mark.parametrize(
    ("agent", "name"),
    [
        ("Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) Version/18.1 Safari/604.1",
         "Safari, iPhone"),
        ("Mozilla/5.0 (X11; Linux x86_64) Chrome/142.0 Safari/537.36 Edg/142.0", "Edge, Linux"),
        ("Mozilla/5.0 (Linux; Android 14) SamsungBrowser/26.0 Chrome/122.0",
         "Samsung Internet, Android"),
        ("<script>alert(1)</script>", "Browser"), ("", "Browser"),
    ],
)  # fmt: skip
def test_a_browser_is_listed_by_the_known_names_of_its_user_agent(agent: str, name: str) -> None:
    assert browser_name(agent) == name


def test_printed_digits_are_asked_for_at_once_and_not_spoken(
    desk: Desk, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    desk.box.pairing = Pairing(printed=CODE)
    assert "printed where the box was started" in desk.text("/")
    assert desk.post("/pair", {"code": "111111"}).status == 403
    assert desk.post("/pair", {"code": CODE}).status == 303
    assert "canvas" in desk.text("/")
    assert desk.sent == []
    assert "was let in by the digits that were printed" in caplog.text


def test_spoken_digits_are_announced_even_when_others_were_printed(desk: Desk) -> None:
    desk.box.pairing = Pairing(draw=lambda: "111111", printed=CODE)
    desk.post("/pair/code")
    assert desk.post("/pair", {"code": CODE}).status == 403
    assert desk.post("/pair", {"code": "111111"}).status == 303
    assert len(desk.sent) == 2

"""Pairing as a browser sees it."""

from __future__ import annotations

import time
from pathlib import Path

import msgspec
import pytest

from appliance.messages.commands import BoxStatus, Say
from appliance.page.on_pairing import browser_name
from appliance.page.pairing import PRESS_S, TRIES, Pairing
from appliance.page.visit import COOKIE, WAITING
from tests.page.desk import CODE, Desk
from tests.page.pairing_states import hears, is_night, presses


def said(desk: Desk) -> list[str]:
    return [message.text for message in desk.sent if isinstance(message, Say)]


def set_passphrase(desk: Desk) -> None:
    """Require one; the browser is a stranger afterwards."""
    desk.pair()
    form = {"passphrase": "blue kettle", "token": desk.token}
    assert desk.post("/access/passphrase", form).status == 303
    desk.cookies.clear()


def test_the_box_speaks_the_digits_one_by_one_and_no_page_shows_them(desk: Desk) -> None:
    assert desk.post("/pair/code").headers[0] == ("Location", "/pair")
    assert said(desk) == ["Somebody wants to open my page. The digits are: 4, 8, 2. 9, 1, 3."]
    assert all(message.chime for message in desk.sent if isinstance(message, Say))
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


@pytest.mark.parametrize(
    ("language", "spoken", "shown"),
    [("en", "Press my button only if you see these digits there: 4, 8.",
      "If the box has said these two digits, press its button now."),
     ("de", "Drücke meinen Knopf nur, wenn du dort diese Ziffern siehst: 4, 8.",
      "Hat das Gerät diese zwei Ziffern gesagt, drücke jetzt seinen Knopf.")],
)  # fmt: skip
def test_the_box_says_and_the_browser_shows_the_same_two_digits(
    tmp_path: Path, language: str, spoken: str, shown: str
) -> None:
    desk = Desk(tmp_path, language=language)
    assert desk.post("/pair/button").status == 303
    assert said(desk)[-1].endswith(spoken)
    listens = desk.get("/pair", accept_language=language).body.decode()
    assert ('<p class="code">4 8</p>' in listens, shown in listens) == (True, False)
    hears(desk)
    assert shown in desk.get("/pair", accept_language=language).body.decode()


def test_a_press_after_the_announcement_admits_the_browser(desk: Desk) -> None:
    desk.post("/pair/button")
    assert desk.cookies.keys() == {WAITING}
    assert 'http-equiv="refresh"' in desk.text("/")
    hears(desk)
    presses(desk)
    assert desk.get("/").status == 303
    assert desk.cookies.keys() == {COOKIE}
    assert "canvas" in desk.text("/")


def test_another_browser_is_not_admitted_by_that_press(desk: Desk) -> None:
    desk.post("/pair/button")
    hears(desk)
    desk.cookies.clear()
    assert desk.post("/pair/button").status == 429
    assert "Another browser waits" in desk.post("/pair/button").body.decode()
    presses(desk)
    assert desk.get("/").status == 200
    assert COOKIE not in desk.cookies


@pytest.mark.parametrize(("heard", "wait_s"), [(None, 0), (False, 0), (True, PRESS_S)])
def test_a_press_before_or_long_after_the_announcement_admits_no_browser(
    desk: Desk, heard: bool | None, wait_s: float
) -> None:
    """It may silence the very sentence, or be for something else."""
    desk.post("/pair/button")
    if heard is not None:
        hears(desk, heard=heard)
    desk.now_s += wait_s
    presses(desk)
    assert desk.get("/").status == 200
    assert COOKIE not in desk.cookies


def test_a_press_that_ends_an_enrolment_admits_no_browser(desk: Desk) -> None:
    desk.box.trying.begin_enrolment(desk.now_s)
    desk.post("/pair/button")
    hears(desk)
    presses(desk)
    assert desk.get("/").status == 200
    assert COOKIE not in desk.cookies


def test_a_browser_whose_announcement_was_cut_is_told_and_does_not_wait(desk: Desk) -> None:
    desk.post("/pair/button")
    hears(desk, heard=False)
    page = desk.text("/pair")
    assert "did not come to its end" in page
    assert 'http-equiv="refresh"' not in page
    assert 'action="/pair/button"' in page


def test_a_press_without_a_waiting_browser_admits_none(desk: Desk) -> None:
    presses(desk)
    assert desk.post("/pair/button").status == 303
    hears(desk)
    assert desk.get("/").status == 200
    assert COOKIE not in desk.cookies


@pytest.mark.parametrize("way", ["/pair/code", "/pair/button"])
def test_a_browser_is_refused_if_the_box_cannot_say_its_digits(desk: Desk, way: str) -> None:
    is_night(desk)
    reply = desk.post(way)
    assert reply.status == 429
    assert "At night (22:00 – 07:00) the box says no digits" in reply.body.decode()
    desk.night = False
    status = BoxStatus("open", False, 0.8)
    for changes in ({"volume": 0.0}, {"broken": ("the loudspeaker",)}, {"broken": ("speaker",)}):
        desk.box.model.handle(msgspec.structs.replace(status, **changes), desk.now_s)
        reply = desk.post(way)
        assert reply.status == 503
        assert "The box cannot be heard now" in reply.body.decode()
    desk.box.model.handle(status, desk.now_s)
    assert desk.sent == []
    assert desk.cookies == {}
    assert desk.post(way).status == 303


def test_a_browser_does_not_wait_if_the_conductor_is_too_busy_for_the_announcement(
    desk: Desk,
) -> None:
    desk.accepts_messages = False
    desk.post("/pair/button")
    assert "did not come to its end" in desk.text("/pair")


def test_announcements_for_digits_and_button_are_limited_together(desk: Desk) -> None:
    replies = [desk.post(way) for way in ("/pair/code", "/pair/code", "/pair/button") * 2]
    assert [reply.status for reply in replies] == [303] * 2 + [429] * 4
    assert "Try again in 20 min" in replies[-1].body.decode()
    assert len(said(desk)) == 2
    desk.address = "192.168.1.10"
    assert desk.post("/pair/button").status == 303


# ── the passphrase
def test_with_a_passphrase_the_digits_alone_are_not_enough(desk: Desk) -> None:
    set_passphrase(desk)
    desk.post("/pair/code")
    assert 'name="passphrase"' in desk.text("/pair")
    assert desk.post("/pair", {"code": CODE, "passphrase": "red kettle"}).status == 403
    assert desk.post("/pair", {"code": "111111", "passphrase": "blue kettle"}).status == 403
    assert desk.post("/pair", {"code": CODE, "passphrase": "blue kettle"}).status == 303
    assert COOKIE in desk.cookies


def test_with_a_passphrase_the_button_alone_is_not_enough(desk: Desk) -> None:
    set_passphrase(desk)
    desk.post("/pair/button")
    hears(desk)
    presses(desk)
    page = desk.text("/pair")
    assert "The button was pressed. Now type the passphrase." in page
    assert COOKIE not in desk.cookies
    assert desk.post("/pair", {"passphrase": "red kettle"}).status == 403
    assert desk.post("/pair", {"passphrase": "blue kettle"}).status == 303
    assert COOKIE in desk.cookies


def test_guessing_the_passphrase_in_silence_is_impossible(desk: Desk) -> None:
    """Without a code that the box was asked for, the right one is refused as any other, and no
    reply takes the time of a look at it (scrypt)."""
    set_passphrase(desk)
    desk.sent.clear()
    began_s = time.thread_time()
    for guess in range(400):
        desk.now_s += 1.0
        passphrase = "blue kettle" if guess % 2 else "red kettle"
        assert desk.post("/pair", {"code": CODE, "passphrase": passphrase}).status == 403
    assert COOKIE not in desk.cookies
    assert desk.sent == []
    assert time.thread_time() - began_s < 4.0


def test_the_button_does_not_tell_whether_a_passphrase_is_right(desk: Desk) -> None:
    set_passphrase(desk)
    replies = []
    for passphrase in ("blue kettle", "red kettle"):
        desk.cookies.clear()
        desk.now_s += 1000
        replies.append(desk.post("/pair/button", {"passphrase": passphrase}))
    assert [reply.status for reply in replies] == [303, 303]
    assert COOKIE not in desk.cookies


@pytest.mark.parametrize("night", [False, True])
def test_the_box_says_aloud_that_somebody_guesses_but_not_at_night(
    desk: Desk, night: bool, caplog: pytest.LogCaptureFixture
) -> None:
    set_passphrase(desk)
    desk.sent.clear()
    desk.night = night
    desk.post("/pair/code")
    for _ in range(TRIES):
        assert desk.post("/pair", {"code": CODE, "passphrase": "red kettle"}).status == 403
    assert desk.post("/pair", {"code": CODE, "passphrase": "blue kettle"}).status == 403, "too late"
    guessed = "Somebody has typed a wrong passphrase or wrong digits for my page five times."
    assert said(desk)[1:] == ([] if night else [guessed])
    assert "192.168.1.9 guesses" in caplog.text


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
    desk.box.pairing = Pairing(draw=lambda count: "1" * count, printed=CODE)
    desk.post("/pair/code")
    assert desk.post("/pair", {"code": CODE}).status == 403
    assert desk.post("/pair", {"code": "111111"}).status == 303
    assert len(desk.sent) == 2
